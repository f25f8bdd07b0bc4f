"""One sweep over the captures of a file, in the order of its text: syntax tree → Facts. What single
nodes mean is in `facts/`.
"""
