"""Sessions with agents: their files read, stored, and searched."""
