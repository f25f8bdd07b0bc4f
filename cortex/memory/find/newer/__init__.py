"""Newer notes that older ones give way to."""
