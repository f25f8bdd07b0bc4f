"""One question to several projects, ranked once."""
