"""Full-text search with tantivy."""
