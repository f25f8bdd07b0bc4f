"""What the names of a project mean: facts of all files → nodes and edges."""
