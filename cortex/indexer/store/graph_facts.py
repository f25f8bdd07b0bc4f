"""Extraction of the graph's facts of one source file, from the syntax tree of its chunks. Of a
component: those of its script and of its template, each parsed with the grammar of a script, and
the definition of the component itself.
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from tree_sitter import Node

from cortex.graph.facts.captures import query_of
from cortex.graph.facts.expressions.function_values import value_query
from cortex.graph.facts.facts import OBJECT, Binding, Definition, Facts, Fragment, Import, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.modules import PACKAGE_FILES
from cortex.graph.facts.repairs.conditionals import drop_inner_conditionals
from cortex.graph.facts.repairs.macros import uncover_macros
from cortex.graph.facts.repairs.misread_lines import end_signatures, join_broken_lines
from cortex.graph.facts.tables import Packed, pack
from cortex.graph.frameworks.reading.clients.procedures import read_procedures
from cortex.graph.frameworks.reading.clients.read_requests import read_requests
from cortex.graph.frameworks.reading.constants import read_constants
from cortex.graph.frameworks.reading.read import read_fragments
from cortex.graph.frameworks.reading.read_services import read_services
from cortex.graph.languages.scripts.components import Component, read_component
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.sweep.extract import extract
from cortex.indexer.syntax.parse import NoGrammar, compile_query, parse, repaired, syntax_tree, without_marks
from cortex.indexer.syntax.repair import REPAIRED
from cortex.indexer.syntax.source import Source
from cortex.terms import languages
from cortex.terms.code.components import component_name, is_component, may_hold_scripts
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import Language, language_of, sniff
from cortex.terms.records import Symbol

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


def facts_of(source: Source, sha256: str) -> Packed | None:
    """Return the facts of a file. None for a language without a graph, an empty file that makes no
    package, one that is nested too deeply, or one on which the extraction fails.
    """
    try:
        read = _facts_of_component if may_hold_scripts(source.path) else _facts_of_code
        return read(source, sha256)
    except NoGrammar:  # the remark of its chunks reports it
        return None
    except Exception:  # the file's chunks are indexed anyway
        log.exception("%s has no graph", source.path)
        return None


def _facts_of_code(source: Source, sha256: str) -> Packed | None:
    language = sniff(source.path, source.lines)
    grammar = LANGUAGES.get(language.name)
    if grammar is None or language.grammar is None:
        return None
    if not source.lines:  # an empty package file makes its folder a package
        package = source.path.rpartition("/")[2] in PACKAGE_FILES
        return pack(Facts(source.path, language.name, sha256), grammar.rules) if package else None
    if not grammar.syntax.queries:
        return pack(_outline_facts(source, language, sha256), grammar.rules)
    if language.name == "rust":
        source = _remove_macros(source, language)
    elif language.name in ("c", "cpp"):
        source = without_marks(source, language)
    elif language.name == "kotlin":
        source = _with_lines(source, join_broken_lines(source.lines))
    elif language.name == "csharp" and syntax_tree(source, language)[1].root_node.has_error:
        source = _with_lines(source, drop_inner_conditionals(source.lines, csharp=True))
    elif language.name == "typescript" and syntax_tree(source, language)[1].root_node.has_error:
        source = _with_lines(source, end_signatures(source.lines))
    lost: Sequence[Symbol] = ()
    if language.name in REPAIRED:  # cached from its chunks, if nothing above has changed it
        mended = repaired(source, language)
        tree, lost = mended.tree, mended.symbols
    else:
        tree = syntax_tree(source, language)[1]
    facts = extract(tree, source.path, grammar, sha256)
    readers = read_fragments, read_requests, read_services, read_procedures
    facts = add_fragments(facts, tree.root_node, grammar, *readers)
    return pack(_add_symbols(facts, lost) if lost else facts, grammar.rules)


def _with_lines(source: Source, lines: Iterable[str]) -> Source:
    """Return the source with these lines; itself if equal, to reuse its chunks' tree."""
    lines = tuple(lines)
    return source if lines == source.lines else dataclasses.replace(source, lines=lines)


def compile_queries(paths: Iterable[str]) -> None:
    """Compile the queries that files of these names need."""
    for language in {language_of(path) for path in paths}:
        syntax = LANGUAGES[language.name].syntax if language.name in LANGUAGES else None
        with contextlib.suppress(NoGrammar):
            grammar = compile_query(language)
            if grammar is not None and syntax is not None and syntax.queries:
                query_of(grammar, syntax.package, syntax.queries)
                value_query(grammar, syntax)


def may_have_facts(path: str) -> bool:
    """Return True if a file of this name may be in the graph."""
    return language_of(path).name in LANGUAGES or may_hold_scripts(path)


def _facts_of_component(source: Source, sha256: str) -> Packed | None:
    """Return the facts of a component or HTML page; None for a page without scripts."""
    raw = ("\n".join(source.lines) + "\n").encode("utf-8", "surrogatepass")
    component = read_component(source.path, raw)
    if component is None:
        return None
    facts = component_facts(source, component, sha256)
    return pack(facts, LANGUAGES[facts.language].rules)


def _remove_macros(source: Source, language: Language) -> Source:
    """Return the source without macros around items; itself when there are none."""

    def parses(lines: Sequence[str]) -> bool:
        _, tree = syntax_tree(dataclasses.replace(source, lines=tuple(lines)), language)
        return not tree.root_node.has_error

    return _with_lines(source, uncover_macros(source.lines, parses))


def _outline_facts(source: Source, language: Language, sha256: str) -> Facts:
    """Return the definitions of a file, from its outline, in a language without name resolution."""
    outline = parse(source, language)
    facts = Facts(source.path, language.name, sha256, outline.package, len(source.lines))
    return _add_symbols(facts, outline.symbols)


def _add_symbols(facts: Facts, symbols: Iterable[Symbol]) -> Facts:
    """Return the facts with definitions of which only the outline is known."""
    definitions = list(facts.definitions)
    places = {definition.qualified: at for at, definition in enumerate(definitions)}
    for symbol in symbols:
        kind = "function" if symbol.kind == "macro" else symbol.kind
        if kind not in (*CALLABLE_KINDS, *TYPE_KINDS, "constant", "module"):
            continue
        definition = Definition(
            name=symbol.name,
            kind=kind,
            scope=symbol.scope,
            parent=places.get(symbol.scope, -1) if symbol.scope else -1,
            start_line=symbol.start_line,
            end_line=symbol.end_line,
            line=symbol.start_line,
            column=0,
            begin=0,
            end=0,
        )
        places.setdefault(definition.qualified, len(definitions))
        definitions.append(definition)
    return msgspec.structs.replace(facts, definitions=tuple(definitions))
