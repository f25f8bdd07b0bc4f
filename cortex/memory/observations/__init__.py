"""The forty observation tools: notes as observations, over the same store and ranking as all
tools.
"""
