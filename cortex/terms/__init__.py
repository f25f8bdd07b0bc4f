"""Vocabulary of all packages, pure: languages, kinds, chunk records, ids, tokens.

`languages` has one row for each language, `paths` classifies files by their path alone, `tokens`
cuts words and stems for indexes, queries and highlights, `secrets` finds keys in a text,
`suggestions` corrects mistyped words, `observations` is the table of the forty observation tools.
"""
