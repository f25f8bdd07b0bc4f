"""Definitions and files of a graph by the names that people write."""
