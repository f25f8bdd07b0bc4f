"""Expressions of the syntax tree: chains of names, arguments, values."""
