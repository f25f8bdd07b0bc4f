"""What one file says: definitions, references, imports, read from its syntax tree."""
