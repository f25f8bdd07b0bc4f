"""Matches of a keyword query or an expression: documents, lines, marks."""
