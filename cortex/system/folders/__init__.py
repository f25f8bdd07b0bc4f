"""Folders: names, identities, faults and changes."""
