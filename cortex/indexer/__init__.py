"""SOURCE → CHUNK FILES and graph files: walks the tree, reads changed files, writes the results,
follows further changes.

`syntax/` parses one file, `chunkers/` cut it, `store/` writes the results to disk. The other
modules drive these: `scan` walks the tree by the ignore rules, `priority` puts important files
first, `run` is one pass with its processes in `pool`, `watch` a pass for every change.
"""
