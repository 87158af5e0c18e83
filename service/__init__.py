"""The edge: the client, the command line and settings."""
