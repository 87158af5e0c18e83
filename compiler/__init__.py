"""The ten stages from candidates to a compiled envelope."""
