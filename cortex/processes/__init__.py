"""The set of processes of a project or of memory: its start, its supervision and its end.

`names` is the list of processes and sets. `attach` finds or starts the set of a folder,
`supervisor` and `child` start, replace and stop its processes, `forkserver` forks the processes
that share imports. `sandbox` starts a set in separate namespaces. This package sends no query to a
worker.
"""
