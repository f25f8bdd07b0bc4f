"""The types that members belong to: of a member in the graph, and of one that a symbol names behind
its type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import orjson

from cortex.ask.exploring.functions import Function, ask_graph
from cortex.ask.lines.code_words import find_declaration
from cortex.ask.lines.current_lines import read_texts
from cortex.ask.lines.receivers import Owner
from cortex.ask.query_context import Turn
from cortex.ask.reading.data_definitions import find_parts
from cortex.ask.reading.meanings import MEANINGS_MAX, Meaning, find_meanings, read_meaning
from cortex.ask.references.use_sites import Site
from cortex.terms.ids import enclosing_id, strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from ipc.messages import GraphSearch

#: steps from a type to the types that extend it, and types of one step that are followed
STEPS_MAX, TYPES_MAX = 6, 100
#: members of a name that are compared with the types that a type extends
CANDIDATES_MAX = 10


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
        itself = Function(meaning.id, meaning.file, meaning.start, meaning.end, meaning.kind)
        parts = await find_parts(turn, itself) if meaning.file.endswith(".cs") else []
        for part in (itself, *parts):
            text = (await read_texts(turn, [part.file])).get(part.file, "")
            there = replace(owner, file=part.file, start=part.start, end=part.end)
            if line := find_declaration(part.file, text, word, there):
                return NamedOwner(there, line)
        owners += [owner] if meaning.kind in TYPE_KINDS else []
    if not owners:
        return None
    members, _ = await find_meanings(turn, name, CANDIDATES_MAX)
    names = {meaning.id for meaning in types}
    return NamedOwner(
        replace(owners[0], by_name=True),
        inherited=[member for member in members if await _extends(turn, names, member)],
    )


def _may_have_members(meaning: Meaning) -> bool:
    """Whether a definition is a type, or a function that makes objects: `function Store() {}`."""
    is_maker = meaning.kind in CALLABLE_KINDS and meaning.name.rpartition(".")[2][:1].isupper()
    return is_maker or meaning.kind in TYPE_KINDS


async def _extends(turn: Turn, types: set[str], member: Meaning) -> bool:
    """Whether one of `types` extends the type of a member, in a few steps."""
    frontier = visited = {enclosing_id(strip_overload(member.id))} if "." in member.name else set[str]()
    for _ in range(STEPS_MAX):
        searches = [GraphSearch("implementations", name) for name in sorted(frontier)[:TYPES_MAX]]
        answers = await ask_graph(turn, searches) if searches else []
        replies = (answer.results for answer in answers if answer is not None)
        extending = {orjson.loads(raw)["node"]["id"] for results in replies for raw in results}
        if types & extending:
            return True
        frontier = extending - visited
        visited = visited | frontier
    return False


async def find_owner(turn: Turn, meaning: Meaning) -> Owner | None:
    """Return the type of a member; None for a definition that is no member."""
    if "." not in meaning.name:
        return None
    (hits,) = await ask_graph(
        turn, [GraphSearch("path", name := enclosing_id(strip_overload(meaning.id)), to=name)]
    )
    outer_type = read_meaning(hits) if hits is not None and hits.results else None
    if outer_type is None or outer_type.id != name or outer_type.kind not in TYPE_KINDS:
        return None
    return await make_owner(turn, outer_type)


async def make_owner(turn: Turn, meaning: Meaning) -> Owner:
    """Return a type with the names that tell it from others. Raises NotReady."""
    outer, _, name = meaning.name.rpartition(".")
    others = {strip_overload(other).partition(":")[2] for other in await _find_named_alike(turn, meaning)}
    namesakes = {other.rpartition(".")[0].rpartition(".")[2] for other in others}
    outer = outer.rpartition(".")[2]
    return Owner(name, meaning.file, meaning.start, meaning.end, outer, frozenset(namesakes - {outer}))


async def _find_named_alike(turn: Turn, meaning: Meaning) -> list[str]:
    """Return the ids of other definitions with the last name of a definition."""
    name = meaning.name.rpartition(".")[2]
    (hits,) = await ask_graph(turn, [GraphSearch("path", name, to=name)])
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
    answers = await ask_graph(turn, [GraphSearch("path", name, to=name) for name in names])
    files = {read_meaning(answer).file for answer in answers if answer is not None and answer.results}
    files.discard(meaning.file)
    return [
        site
        for site in sites
        if all(_count_shared(site.file, file) <= _count_shared(site.file, meaning.file) for file in files)
    ]


def _count_shared(path: str, other: str) -> int:
    """Return how many folders, and the file itself, two paths begin with together."""
    pairs = zip(path.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
