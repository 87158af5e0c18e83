"""The memory as tools of the Model Context Protocol, on standard input or beside HTTP."""
