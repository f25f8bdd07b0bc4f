"""Who runs: one set of processes for a project, how a front gets it, and how it ends.

`names` is the list of processes and sets. `attach` finds or starts the set of a folder,
`supervisor` and `child` start, replace and stop its processes, `forkserver` forks those that share
imports. `sandbox` starts a set in namespaces of its own. Nothing here asks a worker a question
about code.
"""
