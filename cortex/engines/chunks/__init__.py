"""Chunks by their key and by their place, out of the rows of a generation: what engines share."""
