"""Answers of the code tools: one question in, one answer out.

Each module answers one tool: it chooses the workers, divides the deadline among their lanes, ranks
the candidates and cuts the answer to its budget. A lane that fails is left out of the answer and
named in it.

`explore` reads the files that a search returns, links their functions through the graph worker,
chooses the chain of calls (`flow`) and the lines (`excerpt`), and cuts the result
(`explore_answer`); `changes` looks up the paths of a diff in the index and opens no file.
`freshness` compares the served generation with the state of the indexer.

`code_notes/` joins code and memory: places of notes, notes beside code, commits. It asks memory
only while the memory set runs, for 30 ms (300 ms from a command). `multi_project/` asks the
projects of a search with one deadline, one project as a list of one, each in its current
generation; it adds up word counts before any of several projects scores.
"""
