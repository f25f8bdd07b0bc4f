"""Text: encodings, spelling, secrets."""
