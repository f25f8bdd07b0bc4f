"""The query language, independent of any engine: text → tree → trigrams of every match.

`parse` lists the steps from a text to its tree (`tree`, `leaf`), `needs` and `expressions` compute
the trigrams that every matching text holds, `code` recognises queries that are pasted code.
docs/SEARCH.md.
"""
