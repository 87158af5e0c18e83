"""How an object becomes words: the ladder, its section, an untrusted tool."""
