"""Types: their supertypes, their arguments, and the overloads that fit them."""
