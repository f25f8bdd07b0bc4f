"""The files of an index, and the record of the current generation.

`segment` is the file format. `write`, `read` and `merge` handle rows, `graph` and `references` the
segments of the graph, `words` and `trigrams` the search tables. `current` publishes by replacing
CURRENT, and prunes. `snapshots` holds a worker's open generations. `contract` describes the folders
of chunk files and graph files, `damage` marks broken files for the writer, `formats` handles
indexes of other versions. docs/SEGMENT.md.
"""
