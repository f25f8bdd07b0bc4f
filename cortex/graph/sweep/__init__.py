"""One sweep over a file's captures in text order: syntax tree → Facts. `facts/` reads the nodes."""
