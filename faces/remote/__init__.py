"""The client over HTTP: the same classes, whose calls another process answers."""
