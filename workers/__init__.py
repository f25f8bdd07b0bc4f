"""The worker processes: one module for each, and one line of the Procfile.

Each module has `run(config)`: it serves an object with `handlers`, `reload()` and `status()` until
its lifeline ends. `cortex/processes/names.py` lists the processes of each set.
"""
