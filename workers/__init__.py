"""The processes: one file is one line of the Procfile."""
