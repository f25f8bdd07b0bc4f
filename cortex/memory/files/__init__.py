"""Notes as files: imports and exports, in our own formats and those of other programs."""
