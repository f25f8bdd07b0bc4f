"""One question → one answer.

Each module answers one tool: it chooses the workers, divides the deadline among the lanes, ranks
the candidates and cuts the answer to its budget. A lane that fails is left out and named.

`explore` reads the files that a search found, links their functions through the graph worker,
chooses the chain of calls (`flow`) and the lines (`excerpt`), and cuts the result (`picture`);
`changes` looks up the paths of a diff in the index and opens none. `freshness` compares the served
generation with the state of the indexer.

`meeting/` joins code and memory: places of notes, notes beside code, commits. Memory is asked only
while its set runs, for 30 ms (300 ms from a command). `together/` asks several projects with one
deadline, each for a generation of its own, and adds up word counts before any project scores.
"""
