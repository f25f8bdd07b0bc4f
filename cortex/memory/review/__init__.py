"""A person's review: candidates, notes of strangers, closed notes, and the history of notes."""
