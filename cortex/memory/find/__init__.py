"""The search of notes: indexes of words, vectors and edges that follow the store by its log of
changes, the ranking, and which of two notes is true now.
"""
