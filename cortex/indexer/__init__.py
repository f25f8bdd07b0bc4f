"""SOURCE → CHUNK FILES and graph files: walks the tree, reads what changed, writes it, and follows
further changes.

`syntax/` reads one file, `chunkers/` cut it, `store/` is what is on disk. The modules beside them
drive these: one run (`run.py`, its processes in `pool.py`), or a run for every change (`watch.py`).
"""
