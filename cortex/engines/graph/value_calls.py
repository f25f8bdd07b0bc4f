"""Calls of values held in fields, `self.stack(job)`: syntax does not know what they run, so the
graph has no edge for them. Found in a function's lines as they are now: calls of what its file
assigns to a field.
"""

import re

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.lookup.members import last_name
from cortex.engines.graph.sources import SourceReader
from cortex.terms.kinds import CALLABLE_KINDS

#: lines of a function that are read, and calls that the sentence names
LINES_MAX, NAMED_MAX = 400, 3
_CALL = re.compile(
    r"(?<![\w.])(?P<receiver>(?:self|this|\$this)(?:\.|->))(?P<word>\w+)\s*\("
    r"|\((?P<held>\$this->)(?P<field>\w+)\)\s*\("
)


def describe_value_calls(graph: Graph, sources: SourceReader, number: int) -> str:
    """The sentence about a function's calls of fields that no edge stands for; "" without any."""
    if graph.kind(number) not in CALLABLE_KINDS:
        return ""
    _, _, _, first, last, _ = graph.nodes[graph.node_of[number]].tolist()
    middle, around = (first + last) // 2, min(LINES_MAX, last - first) // 2 + 1
    lines = sources.lines(graph.file_of(number), middle, around)
    matches = [
        (row["line"], match["receiver"] or match["held"], match["word"] or match["field"])
        for row in lines
        if first < row["line"] <= last or first == last
        for match in _CALL.finditer(row["text"])
    ]
    if not matches:
        return ""
    edges = graph.edges[graph.outgoing.of(np.array([number]))]
    resolved = {
        (line, last_name(graph.names[end])) for end, line in zip(*edges[:, [1, 5]].T.tolist(), strict=True)
    }
    text = sources.text(graph.file_of(number))
    calls = [
        f"{receiver}{word}(…) on line {line}"
        for line, receiver, word in matches
        if (line, word) not in resolved and _is_assigned(word, text)
    ]
    if not calls:
        return ""
    more = f" and {len(calls) - NAMED_MAX} more" if len(calls) > NAMED_MAX else ""
    verb = "is" if len(calls) == 1 else "are"
    noun = "a call of a value" if len(calls) == 1 else "calls of values"
    return f"{', '.join(calls[:NAMED_MAX])}{more} {verb} {noun} that syntax cannot follow."


def _is_assigned(word: str, text: str) -> bool:
    """Whether a file assigns to the field: a method of a base outside of the project is none."""
    assignment = rf"(?:self|this|\$this)(?:\.|->){re.escape(word)}\s*(?::[^=\n]+)?=(?!=)"
    return re.search(assignment, text) is not None
