"""The worker processes: one module for each, and one line of the Procfile.

Each module has `make(config)`, which returns an object with `handlers`, `reload()` and `status()`.
It is served until its lifeline ends. `cortex/processes/names.py` lists the processes of each set.
"""
