"""Tools of memory: store, search and connect notes."""
