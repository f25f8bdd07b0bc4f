"""The reading of one source file: its text, its outline, its syntax tree."""
