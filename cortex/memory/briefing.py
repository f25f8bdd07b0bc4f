"""What to know before one begins: the notes of a project in sections, within a budget.

Being told is not being used: what is told does not rise by it, and part of each section is kept for
what was never told yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cortex.memory.answers import orders, told
from cortex.memory.catalog import Selection
from cortex.memory.note import Edge, Note
from cortex.memory.recall import Memory
from cortex.system.arrays import Array

#: notes of a section and of a compact one, of all; of them, kept for those that were never told
ITEMS, ITEMS_COMPACT, ALL_MAX, NEVER_TOLD = 10, 3, 50, 2
#: notes of a section that are read beyond these: some may read like orders, which are not told
SPARE = 4
#: notes that are read at once: about as many as a briefing of usual length tells
READ = 40
#: characters of a body in a line, and of a token of what is told
BODY_CHARS, TOKEN_CHARS = 200, 4
#: tokens of all, when nobody says how many; 8 000 characters
TOKENS = 2_000
#: notes that are less important are left out of the sections that are not about time or dispute
IMPORTANCE_MIN = 0.3
#: milliseconds that count as recent
RECENT_MS = 48 * 3_600_000
#: steps in the graph within which an agent's own patterns and goals are, and disputes
OWN_STEPS, DISPUTE_STEPS = 2, 3
#: titles of recent notes that ask for what belongs to them
ASKED_TITLES = 3

#: kinds with a section of their own, or that are no news, in sections by kind
_NOT_BY_KIND = frozenset(("agent", "prompt", "event", "preference", "pattern", "goal", "decision"))


#: a heading and the notes below it; with the notes that are known
Section = tuple[str, list[int]]
Told = tuple[str, list[int], dict[int, Note]]


@dataclass(frozen=True, slots=True)
class Briefing:
    """`numbers`: the notes that it tells."""

    text: str
    numbers: list[int]


@dataclass(slots=True)
class _Choice:
    """What is chosen so far. `mask`: what may still be; a note stands in the first section that
    takes it.
    """

    memory: Memory
    mask: Array
    chosen: Selection
    items: int
    now: int

    def add(
        self, title: str, among: Array, *, floor: bool = True, own: Note | None = None
    ) -> Iterator[Section]:
        """The best of `among`: bool [room], after `own`."""
        catalog = self.memory.catalog
        among = among & self.mask
        if floor:
            among = among & (catalog["importance"] >= IMPORTANCE_MIN)
        best = catalog.best(among, self.items + SPARE)
        new = catalog.best(among & (catalog["shown"] == 0), self.items)
        first = best[: self.items - NEVER_TOLD]
        kept = [number for number in new if number not in first][:NEVER_TOLD]
        numbers = list(dict.fromkeys((*first, *kept, *best)))[: self.items + SPARE]
        yield from self.take(title, [own.number, *numbers] if own else numbers)

    def take(self, title: str, numbers: list[int]) -> Iterator[Section]:
        self.mask[numbers] = False
        if numbers:
            yield title, numbers

    def of_kind(self, *kinds: str) -> Array:
        known = self.memory.catalog.kinds()
        return np.isin(self.memory.catalog["kind"], [known[kind] for kind in kinds if kind in known])


def brief(
    memory: Memory, chosen: Selection, agent: str, now: int, *, compact: bool, tokens: int = TOKENS
) -> Briefing:
    """Markdown of at most `tokens` tokens; `now` in milliseconds."""
    mask = memory.catalog.mask(chosen)
    choice = _Choice(memory, mask.copy(), chosen, ITEMS_COMPACT if compact else ITEMS, now)
    recent = choice.mask & (memory.catalog["happened"] >= now - RECENT_MS)
    who = _agent(memory, choice, agent)
    disputed = _disputed(memory, mask, _around(memory, who, DISPUTE_STEPS) if who else None)
    pairs = disputed[: choice.items]
    head = [f"# {agent}"] if compact else []
    sections = _read(memory, _sections(choice, who, pairs, recent))
    return _written(head, choice, sections, pairs, tokens * TOKEN_CHARS, compact=compact)


def _sections(choice: _Choice, who: Note | None, pairs: Sequence[Edge], recent: Array) -> Iterator[Section]:
    """What may be told, the first things first; what is not reached is not looked for."""
    memory = choice.memory
    if who:
        yield from _own(choice, who)
    else:
        yield from choice.add("Preferences", choice.of_kind("preference"))
        yield from choice.add("Patterns", choice.of_kind("pattern"))
        yield from choice.add("Goals", choice.of_kind("goal"))
    yield from choice.take(
        "Contradictions", [number for edge in pairs for number in (edge.source, edge.target)]
    )
    yield from choice.add("Open questions", memory.catalog["asks"], floor=False)
    yield from choice.add("Decisions", choice.of_kind("decision"))
    yield from choice.add("Recent events", recent & choice.of_kind("event", "observation"))
    for kind in _by_importance(memory, choice.mask):
        yield from choice.add(
            "Key facts" if kind == "fact" else f"{kind.capitalize()}s", choice.of_kind(kind)
        )
    yield from _active(choice, recent)


def _read(memory: Memory, sections: Iterator[Section]) -> Iterator[Told]:
    """Sections with their notes, some of them at once; without those that read like orders."""
    while True:
        some: list[Section] = []
        while sum(len(numbers) for _, numbers in some) < READ and (one := next(sections, None)):
            some.append(one)
        if not some:
            return
        found = memory.store.notes_by_number([number for _, numbers in some for number in numbers])
        notes = {note.number: note for note in found if not orders(note)}
        for title, numbers in some:
            yield title, numbers, notes


def _agent(memory: Memory, choice: _Choice, agent: str) -> Note | None:
    """The note that is this agent."""
    among = choice.mask & choice.of_kind("agent")
    numbers = memory.catalog.best(among, ALL_MAX)
    named = agent.strip().casefold()
    notes = memory.store.notes_by_number(numbers) if numbers else []
    return next((note for note in notes if note.title.strip().casefold() == named), None)


def _own(choice: _Choice, who: Note) -> Iterator[Section]:
    """The sections of an agent that has a note of its own."""
    links, room = choice.memory.links, len(choice.mask)
    applied = {
        edge.target if edge.source == who.number else edge.source
        for edge in links.of(who.number)
        if edge.relation == "applies_to"
    }
    near = _around(choice.memory, who, OWN_STEPS)
    choice.mask[who.number] = False
    yield from choice.add(
        "Identity and preferences", _mask(applied, room) & choice.of_kind("preference", "fact"), own=who
    )
    yield from choice.add("Preferences", choice.of_kind("preference"))
    for kind, title in (("pattern", "Patterns"), ("goal", "Goals")):
        yield from choice.add(title, _mask(near, room) & choice.of_kind(kind))
    for kind, title in (("pattern", "Other patterns"), ("goal", "Other goals")):
        yield from choice.add(title, choice.of_kind(kind))


def _around(memory: Memory, who: Note, steps: int) -> set[int]:
    """The notes within so many steps of the agent."""
    return set(memory.links.walk(who.number, steps, "both", lambda _number: True).depth)


def _disputed(memory: Memory, mask: Array, near: set[int] | None) -> list[Edge]:
    """The edges between two notes that both hold and contradict each other."""
    edges = [
        edge
        for edge in memory.links.related_by("contradicts")
        if mask[edge.source] and mask[edge.target] and (near is None or edge.source in near)
    ]
    importance = memory.catalog["importance"]
    return sorted(edges, key=lambda edge: -max(importance[edge.source], importance[edge.target]))


def _by_importance(memory: Memory, mask: Array) -> list[str]:
    """The kinds that are left, by the sum of their notes' importance."""
    sums = np.bincount(memory.catalog["kind"][mask], memory.catalog["importance"][mask])
    known = {at: kind for kind, at in memory.catalog.kinds().items()}
    order = [known[int(at)] for at in np.argsort(-sums) if sums[at] > 0]
    return [kind for kind in order if kind not in _NOT_BY_KIND]


def _active(choice: _Choice, recent: Array) -> Iterator[Section]:
    """What belongs to what was noted last."""
    memory = choice.memory
    matters = memory.catalog["importance"] >= IMPORTANCE_MIN
    newest = memory.catalog.best(recent & matters, ASKED_TITLES)
    if not newest:
        return
    query = " ".join(note.title for note in memory.store.notes_by_number(newest))
    found = memory.ranked(query, choice.chosen, 2 * choice.items, 0.7, newest)
    fits = [one.number for one in found if choice.mask[one.number] and matters[one.number]]
    yield from choice.take("Active context", fits[: choice.items])


def _written(
    head: Sequence[str],
    choice: _Choice,
    sections: Iterator[Told],
    pairs: Sequence[Edge],
    chars: int,
    *,
    compact: bool,
) -> Briefing:
    lines, numbers = list(head), list[int]()
    left = chars - sum(len(line) + 1 for line in lines)
    for title, section, notes in sections:
        heading = [] if compact else [f"## {title}"]
        told_lines = (
            _disputes(pairs, notes) if title == "Contradictions" else _lines(section, notes, compact=compact)
        )
        for line, own in islice(told_lines, choice.items):
            cost = sum(len(each) + 1 for each in (*heading, line))
            if cost > left or len(numbers) >= ALL_MAX:
                return Briefing("\n".join(lines), numbers)
            lines += [*heading, line]
            numbers += own
            heading, left = [], left - cost
    return Briefing("\n".join(lines) if numbers else "Nothing is remembered of this project yet.", numbers)


def _lines(
    numbers: Sequence[int], notes: dict[int, Note], *, compact: bool
) -> Iterator[tuple[str, list[int]]]:
    for number in numbers:
        if number in notes:
            yield _line(notes[number], compact=compact), [number]


def _disputes(pairs: Sequence[Edge], notes: dict[int, Note]) -> Iterator[tuple[str, list[int]]]:
    for edge in pairs:
        if edge.source in notes and edge.target in notes:
            first, second = _title(notes[edge.source]), _title(notes[edge.target])
            yield f"- {first} ↔ {second}", [edge.source, edge.target]


def _line(note: Note, *, compact: bool) -> str:
    title = _title(note)
    body = " ".join(told(note.body).split())
    if compact or not body or body == title:
        return f"- {title}"
    return f"- **{title}**: {body[:BODY_CHARS]}{'…' if len(body) > BODY_CHARS else ''}"


def _title(note: Note) -> str:
    return " ".join(told(note.title).split())


def _mask(numbers: set[int], room: int) -> Array:
    mask = np.zeros(room, bool)
    mask[list(numbers)] = True
    return mask
