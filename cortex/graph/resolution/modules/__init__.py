"""Names that files, packages and modules give each other."""
