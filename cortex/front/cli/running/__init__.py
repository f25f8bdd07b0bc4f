"""Commands that index, start and serve."""
