"""What is on disk and current: segments, rows, and which generation is published."""
