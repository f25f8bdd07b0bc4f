"""The words that all rooms share: kinds, languages, tokens, ids, paths."""
