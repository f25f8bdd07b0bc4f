"""Links from notes to places in a project's code. Opens no files of the project."""
