"""Places that use a definition, and code that a change may break."""
