"""The ways in: the command line, HTTP with its pages, MCP, the remote client, adapters."""
