"""Selection of files by globs and ignore rules."""
