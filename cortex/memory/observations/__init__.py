"""Notes as observations: what the forty tools ask of the one store and the one ranking."""
