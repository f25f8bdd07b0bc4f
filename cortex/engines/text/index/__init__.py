"""The tantivy index: its fields, its writer, its files."""
