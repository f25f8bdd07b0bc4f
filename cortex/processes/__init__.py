"""Who runs: one set of workers for a project, how a front gets it, and how it ends."""
