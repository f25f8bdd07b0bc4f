"""Notes and candidates that sessions yield: commits, changed files, hand-overs, sentences."""
