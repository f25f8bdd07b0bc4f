"""Chunk files → a new generation."""
