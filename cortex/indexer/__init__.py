"""SOURCE → CHUNK FILES and graph files: walks the tree, reads changed files, writes the results,
follows further changes.

`syntax/` reads one file, `chunkers/` cut it, `store/` keeps the results on disk. The modules beside
them drive these: `scan` walks the tree by the ignore rules, `order` puts important files first,
`run` is one pass with its processes in `pool`, `watch` a pass for every change.
"""
