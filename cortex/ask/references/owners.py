"""The types that members belong to: of a member in the graph, and of one that a symbol names behind
its type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import orjson

from cortex.ask.exploring.functions import Function, ask_graph, look_up
from cortex.ask.lines.code_words import find_constant, find_declaration, only_code
from cortex.ask.lines.current_lines import read_texts
from cortex.ask.lines.declared_types import find_aliases, find_fields
from cortex.ask.lines.indented_blocks import declaration_at
from cortex.ask.lines.receivers import Owner
from cortex.ask.query_context import Turn
from cortex.ask.reading.data_definitions import find_parts
from cortex.ask.reading.meanings import MEANINGS_MAX, Meaning, find_meanings, read_definitions
from cortex.ask.references.use_sites import Site
from cortex.ask.references.word_lines import find_lines
from cortex.terms.ids import enclosing_id, strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.text.spelling import read_symbol
from ipc.messages import GraphSearch

#: steps from a type to the types that extend it, and types of one step that are followed
STEPS_MAX, TYPES_MAX = 6, 100
#: members of a name that are compared with the types that a type extends
CANDIDATES_MAX = 10
#: files in which a constant is looked for, headers first
FILES_MAX = 20


@dataclass(frozen=True, slots=True)
class NamedOwner:
    """A type of the project that a symbol names before a member which the graph lacks. `line`: the
    one that declares the member, 0 for none; `inherited`: what the member means in the types that
    it extends.
    """

    owner: Owner
    line: int = 0
    inherited: Sequence[Meaning] = ()

    def describe(self, word: str, meanings: Sequence[Meaning]) -> str:
        """Return a sentence for a member that the type has not; "" for one that it declares."""
        if self.line:
            return ""
        place = f"{self.owner.file}:{self.owner.start}"
        near = ", ".join(f"{meaning.name} ({meaning.place})" for meaning in meanings[:MEANINGS_MAX])
        return (
            f"{self.owner.name} ({place}) has no member {word!r} of its own in the graph; it may inherit or"
            f" generate one, or declare it elsewhere{f'; like it: {near}' * bool(near)}."
        )


async def find_named_owner(turn: Turn, name: str) -> NamedOwner | None:
    """Return the type before the last part of `name`; None if the project has no such type."""
    outer, _, word = name.rpartition(".")
    types, _ = await find_meanings(turn, outer)
    types = [meaning for meaning in types if not meaning.is_guess and _may_have_members(meaning)]
    owners: list[Owner] = []
    for meaning in types:
        owner = await make_owner(turn, meaning)
        parts = await find_parts(turn, meaning) if meaning.file.endswith(".cs") else []
        for part in (meaning, *parts):
            text = (await read_texts(turn, [part.file])).get(part.file, "")
            there = replace(owner, file=part.file, start=part.start, end=part.end)
            if line := find_declaration(part.file, text, word, there):
                return NamedOwner(await _add_c_names(turn, there, meaning.id, text), line)
        owners += [owner] if meaning.kind in TYPE_KINDS else []
    if not owners:
        return None
    members, _ = await find_meanings(turn, name, CANDIDATES_MAX)
    names = {meaning.id for meaning in types}
    return NamedOwner(
        replace(owners[0], by_name=True),
        inherited=[member for member in members if await _extends(turn, names, member)],
    )


async def find_member(turn: Turn, symbol: str) -> list[Function]:
    """Return the lines of a member or constant that a symbol names and the graph lacks: a field, a
    constant of an enumeration; in C also one without its type. Raises NotReady.
    """
    name = next(iter(read_symbol(symbol)), "")
    word = name.rpartition(".")[2]
    if not word.isidentifier():
        return []
    if word != name:
        named = await find_named_owner(turn, name)
        if named is None or not named.line:
            return []
        file = named.owner.file
        text = (await read_texts(turn, [file])).get(file, "")
        first, last = declaration_at(dict(enumerate(text.split("\n"), 1)), named.line)
        return [Function(f"{file}:{named.owner.name}.{word}", file, first, last, "constant")]
    lines = await find_lines(turn, word, ("code",))
    files = {path for path, _ in lines.lines if language_of(path).headers} if lines else set()
    texts = await read_texts(turn, sorted(files, key=_is_header, reverse=True)[:FILES_MAX]) if files else {}
    places = ((path, find_constant(path, text, word)) for path, text in texts.items())
    return [Function(f"{path}:{word}", path, line, line, "constant") for path, line in places if line]


def _is_header(path: str) -> bool:
    return path.rpartition(".")[2].startswith("h")


async def _add_c_names(turn: Turn, owner: Owner, identity: str, text: str) -> Owner:
    """Return an owner of C or C++ with its other names, those of its heirs, and the types of the
    fields in its file; others as they are.
    """
    if not language_of(owner.file).headers:
        return owner
    code = only_code(owner.file, text)
    heirs = {
        strip_overload(heir).rpartition(":")[2].rpartition(".")[2]
        for heir in await _find_heirs(turn, identity)
    }
    return replace(owner, aliases=find_aliases(code, owner.name) | heirs, fields=find_fields(code))


async def _find_heirs(turn: Turn, identity: str) -> set[str]:
    """Return the ids of the types that extend a type, in a few steps."""
    heirs, frontier = set[str](), {identity}
    for _ in range(STEPS_MAX):
        searches = [GraphSearch("implementations", name) for name in sorted(frontier)[:TYPES_MAX]]
        answers = await ask_graph(turn, searches) if searches else []
        replies = (answer.results for answer in answers if answer is not None)
        frontier = {orjson.loads(raw)["node"]["id"] for results in replies for raw in results} - heirs
        heirs |= frontier
    return heirs


def _may_have_members(meaning: Meaning) -> bool:
    """Whether a definition is a type, or a function that makes objects: `function Store() {}`."""
    is_maker = meaning.kind in CALLABLE_KINDS and meaning.name.rpartition(".")[2][:1].isupper()
    return is_maker or meaning.kind in TYPE_KINDS


async def _extends(turn: Turn, types: set[str], member: Meaning) -> bool:
    """Whether one of `types` extends the type of a member, in a few steps."""
    if "." not in member.name:
        return False
    return not types.isdisjoint(await _find_heirs(turn, enclosing_id(strip_overload(member.id))))


async def find_owner(turn: Turn, meaning: Meaning) -> Owner | None:
    """Return the type of a member; None for a definition that is no member."""
    if "." not in meaning.name:
        return None
    name = enclosing_id(strip_overload(meaning.id))
    for outer_type in await read_definitions(turn, [name]):
        if outer_type.id == name and outer_type.kind in TYPE_KINDS:
            return await make_owner(turn, outer_type)
    return None


async def make_owner(turn: Turn, meaning: Meaning) -> Owner:
    """Return a type with the names that tell it from others. Raises NotReady."""
    outer, _, name = meaning.name.rpartition(".")
    others = {strip_overload(other).partition(":")[2] for other in await _find_named_alike(turn, meaning)}
    namesakes = {other.rpartition(".")[0].rpartition(".")[2] for other in others}
    namesakes.discard(name)  # a constructor's
    outer = outer.rpartition(".")[2]
    return Owner(name, meaning.file, meaning.start, meaning.end, outer, frozenset(namesakes - {outer}))


async def _find_named_alike(turn: Turn, meaning: Meaning) -> list[str]:
    """Return the ids of other definitions with the last name of a definition."""
    name = meaning.name.rpartition(".")[2]
    (hits,) = await look_up(turn, [name])
    ids = [*hits.candidates, *(orjson.loads(raw)["node"]["id"] for raw in hits.results)] if hits else []
    itself = strip_overload(meaning.id)
    return [
        other
        for other in dict.fromkeys(map(strip_overload, ids))
        if other != itself and re.split(r"[.:]", other)[-1] == name
    ]


async def keep_nearest(turn: Turn, meaning: Meaning, sites: Sequence[Site]) -> list[Site]:
    """Return the lines with the name of a definition that no other one of this name is nearer to:
    in the same file, or with more of its folders.
    """
    names = await _find_named_alike(turn, meaning) if sites else []
    files = {other.file for other in await read_definitions(turn, names)} - {meaning.file}
    return [
        site
        for site in sites
        if all(_count_shared(site.file, file) <= _count_shared(site.file, meaning.file) for file in files)
    ]


def _count_shared(path: str, other: str) -> int:
    """Return how many folders, and the file itself, two paths begin with together."""
    pairs = zip(path.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
