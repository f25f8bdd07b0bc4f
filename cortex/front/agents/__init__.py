"""Coding agents and their connection to Cortex: the table of agents, and edits of their files."""
