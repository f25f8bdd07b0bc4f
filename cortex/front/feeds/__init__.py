"""Sources of memory that are read while agents work: sessions and commits."""
