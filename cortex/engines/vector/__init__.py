"""Nearest neighbours with usearch, and the exact scan."""
