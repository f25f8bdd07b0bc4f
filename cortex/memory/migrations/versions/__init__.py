"""The migration steps, in their order."""
