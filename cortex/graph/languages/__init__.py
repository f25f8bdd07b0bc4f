"""The languages of the graph: each has its own module or folder with its syntax, its rules and its
steps. table.py lists them.
"""
