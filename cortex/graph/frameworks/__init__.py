"""Web frameworks: the routes that a file declares, and the routers that it mounts.

`table.py` has one frozen description for each framework (framework.py). `read.py` finds a file's
fragments in its syntax tree, `nodes.py` makes nodes and edges of them, and `join.py` makes full
paths of the whole graph's fragments. A file is read only if it imports a framework.
"""
