"""Facts of one file, read from its syntax tree: definitions, references, bindings, imports."""
