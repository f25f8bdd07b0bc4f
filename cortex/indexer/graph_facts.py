"""The graph's facts of one source file, from the tree that its chunks were cut along."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence

from cortex.graph.extract import extract
from cortex.graph.grammars import SYNTAX
from cortex.graph.macros import uncover
from cortex.graph.tables import Packed, pack
from cortex.indexer.languages import Language, sniff
from cortex.indexer.parse import syntax_tree
from cortex.indexer.source import Source

log = logging.getLogger(__name__)


def facts_of(source: Source, sha256: str) -> Packed | None:
    """None for a language without a graph, an empty file, or one that is nested too deeply (or that we fail at)."""
    language = sniff(source.path, source.lines)
    if language.name not in SYNTAX or language.grammar is None or not source.lines:
        return None
    try:
        if language.name == "rust":
            source = _uncovered(source, language)
        return pack(extract(syntax_tree(source, language)[1], source.path, language.name, sha256))
    except Exception:  # a file that the graph stumbles over must not keep its chunks from the index
        log.exception("%s has no graph", source.path)
        return None


def _uncovered(source: Source, language: Language) -> Source:
    """The source without macros around items; itself when there are none."""

    def reads(lines: Sequence[str]) -> bool:
        return not syntax_tree(dataclasses.replace(source, lines=tuple(lines)), language)[
            1
        ].root_node.has_error

    lines = tuple(uncover(source.lines, reads))
    return source if lines == source.lines else dataclasses.replace(source, lines=lines)
