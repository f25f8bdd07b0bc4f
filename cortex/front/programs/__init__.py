"""Cortex for Python programs: code and memory."""
