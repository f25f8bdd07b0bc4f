"""The code graph: facts from syntax trees, and names resolved over a whole project.

Everything here is pure: no files, no sockets.

`facts/` reads single nodes of one file: definitions, references, bindings, imports, types. `sweep/`
collects them in one pass over the captures of a query. `resolution/` takes the facts of all files:
scopes and imports give the meaning of a name, evaluation follows chains of members and calls,
overloads narrow the targets, and the result is nodes and edges. It also finds the files that a
change affects. `languages/` has the rules of each language. `cortex/engines/graph/`
answers questions about the finished graph. docs/GRAPH.md.
"""
