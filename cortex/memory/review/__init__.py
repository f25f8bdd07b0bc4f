"""A person's review: candidates, notes of strangers, and the history of notes."""
