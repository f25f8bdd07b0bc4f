"""The files of an index, and which generation is current.

`segment` is the file format, `write`, `read` and `merge` handle rows, `graph` and `references` the
segments of the graph, `words` and `trigrams` the tables for searching. `current` publishes by
replacing CURRENT, and prunes; `snapshots` keeps the open ones of a worker. `contract` knows the
folders of chunk files and graph files, `damage` marks broken files for the writer, `formats`
handles indexes of other versions. docs/SEGMENT.md.
"""
