"""Texts to vectors: the protocol, three encoders, chunking, the worker."""
