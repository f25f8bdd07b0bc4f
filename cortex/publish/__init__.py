"""Chunk files and graph files → a new generation: the watcher's work.

`chunk_files` compares the folders with the served generation. `builder` writes segments, has each
engine build, and publishes. `merging` joins small segments, `integrity` finds damaged files.
"""
