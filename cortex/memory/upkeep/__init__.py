"""Upkeep of memory: relations, contradictions, patterns, fading. Pure functions over notes, and
jobs that store their results in slices with a cursor. Search is elsewhere.
"""
