"""Other frameworks: ADK."""
