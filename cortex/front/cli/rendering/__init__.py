"""Output of commands for people and programs."""
