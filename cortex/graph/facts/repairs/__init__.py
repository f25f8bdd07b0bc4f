"""Code that a grammar misreads, made readable before it is parsed."""
