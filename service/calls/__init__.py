"""One table of calls, which HTTP, MCP, the description and the client share."""
