"""Targets of calls."""
