"""Chunks by key and by place, from the rows of a generation: shared by all engines."""
