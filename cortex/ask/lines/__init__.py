"""Lines of code that an answer shows."""
