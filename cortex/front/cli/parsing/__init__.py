"""The commands, their options and their help."""
