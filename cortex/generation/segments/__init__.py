"""Segments: the file format and its packed tables."""
