"""Which coding agents there are, what connects each of them to Cortex, and how that gets into their
files.
"""
