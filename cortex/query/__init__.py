"""The query language, of no engine."""
