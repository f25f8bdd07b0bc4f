"""Chunk files and graph files → a new generation. The watcher's work, and only its."""
