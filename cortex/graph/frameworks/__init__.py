"""Web frameworks: the routes that a file declares, and the routers that it mounts.

`tables/` has one frozen description for each framework and client. `reading/` finds a file's
fragments in its syntax tree, `nodes.py` makes nodes and edges of them, and `join.py` makes full
paths of the whole graph's fragments. A file is read only if it imports a framework.
"""
