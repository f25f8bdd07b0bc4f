"""What was said and done in sessions with agents: their files read, kept and found again."""
