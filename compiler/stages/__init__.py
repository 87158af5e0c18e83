"""Ten files, ten stages, one public function each; no stage imports another."""
