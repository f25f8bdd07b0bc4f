"""Tools for code and documents, one a module."""
