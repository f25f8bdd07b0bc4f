"""One source file read: its text, its outline, its syntax tree."""
