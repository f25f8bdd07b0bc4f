"""Questions to several projects, with one ranking."""
