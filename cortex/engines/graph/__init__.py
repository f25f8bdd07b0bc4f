"""Queries about structure, answered from mapped graph segments."""
