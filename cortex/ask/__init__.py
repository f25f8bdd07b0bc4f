"""One question → one answer."""
