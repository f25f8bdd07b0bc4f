"""Texts that a session begins with: the briefing, its file for hooks, and the hand-over."""
