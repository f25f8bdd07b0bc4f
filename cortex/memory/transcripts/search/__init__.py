"""The index of exchanges, search in it, and sessions in answers."""
