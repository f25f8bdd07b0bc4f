"""Declarations: types, modifiers and build constraints, in code and in comments."""
