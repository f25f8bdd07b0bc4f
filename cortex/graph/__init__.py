"""The code graph: facts from syntax trees, names resolved over a whole project, bounded walks. Pure: no files, no sockets."""
