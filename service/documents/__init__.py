"""Governed documents: files become cited passages with a version's own date and its recording."""
