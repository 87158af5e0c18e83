"""What the stages hand on: context, snapshot, candidate, piece, verdict, and every output."""
