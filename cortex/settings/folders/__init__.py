"""Folders of projects: their roots, identities, branches and dependencies."""
