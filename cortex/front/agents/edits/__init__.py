"""Insertion of text into files of settings, and its removal, without any other change.

Every change inserts a piece of text and never prints the file anew: comments, order and spelling
stay, and removal of the piece restores the same bytes. A syntax tree gives the position (JSON with
comments, YAML); TOML gets a table at its end.
"""
