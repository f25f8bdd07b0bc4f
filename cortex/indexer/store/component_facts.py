"""Facts of a component: those of its script and of its template, each parsed with the grammar of a
script, and the definition of the component itself.
"""

from __future__ import annotations

import bisect
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator

import msgspec
from tree_sitter import Node

from cortex.graph.facts.facts import OBJECT, Binding, Definition, Facts, Fragment, Import, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.clients.read_requests import read_requests
from cortex.graph.frameworks.reading.constants import read_constants
from cortex.graph.languages.scripts.components import Component
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.sweep.extract import extract
from cortex.indexer.syntax.parse import syntax_tree
from cortex.indexer.syntax.source import Source
from cortex.terms import languages
from cortex.terms.code.components import component_name, is_component

log = logging.getLogger(__name__)

_ROWS = {language.name: language for language in languages.LANGUAGES}
#: language of templates
_TEMPLATE = "tsx"


def component_facts(source: Source, component: Component, sha256: str) -> Facts:
    facts = Facts(source.path, component.language, sha256)
    if component.script:
        facts = _extract(source, component.script, component.language, sha256)
    return msgspec.structs.replace(
        facts,
        lines=len(source.lines),
        imports=(*facts.imports, *_loaded_modules(source, component)),
        **_with_template(source, component, facts),
        **_with_itself(source, facts),
    )


def _extract(source: Source, text: bytes, language: str, sha256: str) -> Facts:
    lines = text.decode("utf-8", "surrogatepass").removesuffix("\n").split("\n")
    view = dataclasses.replace(source, lines=tuple(lines))
    tree, grammar = syntax_tree(view, _ROWS[language])[1], LANGUAGES[language]
    return add_fragments(extract(tree, source.path, grammar, sha256), tree.root_node, grammar, read_requests)


def add_fragments(
    facts: Facts, root: Node, grammar: Grammar, *readers: Callable[[Node, Facts, Grammar], Iterable[Fragment]]
) -> Facts:
    """Return the facts with the file's routes, requests and constants, if they can be read."""
    try:
        fragments = tuple(fragment for read in readers for fragment in read(root, facts, grammar))
        texts = read_constants(root, facts, grammar)
    except Exception:
        log.exception("%s has no routes in the graph", facts.path)
        return facts
    return msgspec.structs.replace(facts, fragments=fragments, texts=texts) if fragments or texts else facts


def _loaded_modules(source: Source, component: Component) -> Iterator[Import]:
    """Yield the imports of `<script src="…">`; a component has the exports of such a module."""
    places = _Places(source)
    member = "*" if is_component(source.path) else ""
    for module, at in component.sources:
        yield Import("", module, member, -1, places.at(at)[0], at, exported=bool(member))


def _with_template(
    source: Source, component: Component, facts: Facts
) -> dict[str, tuple[Reference, ...] | tuple[Binding, ...]]:
    """Return the references and bindings of a script and of its template.

    The template sees all names of the script, wherever it is in the file: its bytes count from the
    file's end.
    """
    places = _Places(source)
    references: list[Reference] = []
    bindings: list[Binding] = []
    if component.template:
        inner = _extract(source, component.template, _TEMPLATE, facts.sha256)
        references += (
            msgspec.structs.replace(reference, scope=-1, at=reference.at + places.size)
            for reference in inner.references
        )
        bindings += (
            msgspec.structs.replace(binding, at=binding.at + places.size, until=binding.until + places.size)
            for binding in inner.bindings
            if binding.scope < 0 and binding.until
        )
    for kind, chain, at in component.uses:
        line, column = places.at(at)
        references.append(Reference(kind, chain, -1, line, column, at + places.size))
    references.sort(key=lambda reference: reference.at)
    return {"references": (*facts.references, *references), "bindings": (*facts.bindings, *bindings)}


def _with_itself(source: Source, facts: Facts) -> dict[str, tuple[Definition, ...] | dict[str, str]]:
    """Return the definitions and exports of a file with the component as its default export.

    A name that the script uses for something else stays with it.
    """
    default = facts.exports.get("default", OBJECT)
    if not is_component(source.path) or default != OBJECT:
        return {}
    name = component_name(source.path)
    taken = {entry.name for group in (facts.definitions, facts.imports, facts.bindings) for entry in group}
    if not name or name in taken:
        return {"exports": {**facts.exports, "default": OBJECT}}
    lines = max(1, len(source.lines))
    itself = Definition(name, "function", "", -1, 1, lines, 1, 0, 0, 0)
    return {"definitions": (*facts.definitions, itself), "exports": {**facts.exports, "default": name}}


class _Places:
    """Lines and columns of bytes in a file."""

    def __init__(self, source: Source) -> None:
        self._starts = [0]
        for line in source.lines:
            self._starts.append(self._starts[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
        self.size = self._starts[-1]

    def at(self, byte: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, byte)
        return line, byte - self._starts[line - 1]
