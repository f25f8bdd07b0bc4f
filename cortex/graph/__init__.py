"""The code graph: facts from syntax trees, and names resolved over a whole project. Pure: no files,
no sockets.

Questions about the finished graph are answered by `cortex/engines/graph/`.
"""
