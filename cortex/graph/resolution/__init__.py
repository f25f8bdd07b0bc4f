"""Resolution of a project's names: facts of all files → nodes and edges."""
