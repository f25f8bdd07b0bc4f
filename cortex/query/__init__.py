"""The query language, independent of any engine: text → tree → trigrams of every match.

`lex`, `grammar` and `parse` build the tree (`tree`, `leaf`), `needs` and `expressions` compute the
trigrams that every matching text holds, `code` recognises queries that are pasted code.
docs/SEARCH.md.
"""
