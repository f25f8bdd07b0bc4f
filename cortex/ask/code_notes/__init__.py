"""The link between code and memory: notes about places in the project."""
