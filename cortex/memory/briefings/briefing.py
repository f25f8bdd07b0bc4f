"""The briefing: the notes of a project that an agent reads at its start, in sections, within a
budget of tokens.

Being in a briefing does not count as use, so a note does not rise by it, and some lines of each
section are reserved for notes that no briefing held yet.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cortex.memory.answers import is_instruction, visible_text
from cortex.memory.briefings.disputed_notes import ROUTINE, Changes, changes_among, form_of
from cortex.memory.briefings.origins import briefable, with_origin
from cortex.memory.find.catalog import Selection
from cortex.memory.find.newer.changes import KINDS, TELLING, may_follow
from cortex.memory.find.newer.newer_notes import outdated_anyway
from cortex.memory.find.recall import Memory
from cortex.memory.note import Edge, Note
from cortex.memory.times import format_moment
from cortex.system.arrays import Array
from cortex.terms.budget import TOKEN_BYTES, Budget

#: notes in a section, in a compact section, in the briefing; notes in a section that no briefing
#: held yet
ITEMS, ITEMS_COMPACT, ALL_MAX, UNSHOWN_MIN = 10, 3, 50, 2
#: further notes that are read for a section, because those that read like instructions are left out
SPARE = 4
#: characters of a body in a line and of a replaced title
BODY_CHARS, WAS_CHARS = 200, 80
#: tokens of a briefing by default: 2 800 characters; the largest share of one section
TOKENS, SECTION_SHARE = 700, 0.4
#: less important notes are left out of all sections but those about time or dispute
IMPORTANCE_MIN = 0.3
#: lines of a section of routine; nearest notes of a listed one that may outdate it
ITEMS_ROUTINE, LATER = 5, 2
#: sections of routine
ROUTINE_TITLES = ("Recent events", "Observations", "Active context")
#: milliseconds that count as recent
RECENT_MS = 48 * 3_600_000
#: steps in the graph from the agent's note to its patterns and goals, and to its disputes
OWN_STEPS, DISPUTE_STEPS = 2, 3
#: recent notes with titles that are the query of the section "Active context"
QUERY_TITLES = 3

#: kinds that have a section already, or that are no news, so that they get no section by kind
_NOT_BY_KIND = frozenset(
    ("agent", "prompt", "event", "preference", "pattern", "goal", "decision", "handover")
)


#: a heading and the numbers of its notes
Section = tuple[str, list[int]]


@dataclass(frozen=True, slots=True)
class Briefing:
    """`numbers`: the notes in the text."""

    text: str
    numbers: list[int]


@dataclass(slots=True)
class _Choice:
    """The state of the choice. `mask`: the notes that are still free; a note goes into the first
    section that takes it.
    """

    memory: Memory
    mask: Array
    selection: Selection
    items: int
    now: int

    def add(
        self, title: str, among: Array, *, floor: bool = True, lead: Note | None = None
    ) -> Iterator[Section]:
        """Yield a section of the best free notes of `among` (bool [room]), after the note `lead`.
        Less important notes are dropped if `floor`.
        """
        catalog = self.memory.catalog
        among = among & self.mask
        if floor:
            among = among & (catalog["importance"] >= IMPORTANCE_MIN)
        best = catalog.best(among, self.items + SPARE)
        new = catalog.best(among & (catalog["shown"] == 0), self.items)
        first = best[: self.items - UNSHOWN_MIN]
        unshown = [number for number in new if number not in first][:UNSHOWN_MIN]
        numbers = list(dict.fromkeys((*first, *unshown, *best)))[: self.items + SPARE]
        yield from self.take(title, [lead.number, *numbers] if lead else numbers)

    def take(self, title: str, numbers: list[int]) -> Iterator[Section]:
        self.mask[numbers] = False
        if numbers:
            yield title, numbers

    def of_kind(self, *kinds: str) -> Array:
        kind_numbers = self.memory.catalog.kinds()
        return np.isin(
            self.memory.catalog["kind"], [kind_numbers[kind] for kind in kinds if kind in kind_numbers]
        )


def brief(
    memory: Memory,
    selection: Selection,
    agent: str,
    now: int,
    *,
    compact: bool,
    tokens: int = TOKENS,
    by_hook: bool = False,
) -> Briefing:
    """Return Markdown of at most `tokens` tokens; `now` in milliseconds. `by_hook`: without notes
    that an agent wrote for other projects than its own.
    """
    mask = memory.catalog.mask(selection) & briefable(memory.catalog, selection.project, by_hook=by_hook)
    if selection.elsewhere[1]:  # each stays beside a note that it supersedes on its own branch only
        mask[memory.catalog["heir"][memory.catalog.superseded_elsewhere(selection)]] = False
    choice = _Choice(memory, mask.copy(), selection, ITEMS_COMPACT if compact else ITEMS, now)
    choice.mask &= ~choice.of_kind("handover")  # it has a place of its own
    recent = choice.mask & (memory.catalog["happened"] >= now - RECENT_MS)
    agent_note = _agent_note(memory, choice, agent)
    disputed = _disputed(memory, mask, _notes_near(memory, agent_note, DISPUTE_STEPS) if agent_note else None)
    pairs = disputed[: 2 * choice.items]  # some are left out when their notes are read
    head = [f"# {agent}"] if compact else []
    sections = list(_sections(choice, agent_note, pairs, recent))
    notes = _load(memory, [number for _, numbers in sections for number in numbers], selection.project)
    followers = _followers(memory, notes, mask)
    numbers = {number for newer in followers.values() for number in newer} - notes.keys()
    later = _load(memory, sorted(numbers), selection.project)
    stated = notes | {number: note for number, note in later.items() if note.kind in KINDS}
    changes = changes_among(stated, notes.keys(), pairs, memory.replacements.likelihood)
    doubted = _doubted(memory, notes | later, followers, changes, selection.elsewhere[1])
    heirs = {older.number: newer for newer, older in changes.was.items() if newer not in notes}
    sections = [(title, [heirs.get(number, number) for number in numbers]) for title, numbers in sections]
    return _render(head, choice, sections, (changes, doubted), tokens * TOKEN_BYTES, compact=compact)


def _sections(
    choice: _Choice, agent_note: Note | None, pairs: Sequence[Edge], recent: Array
) -> Iterator[Section]:
    """Yield the sections, the most important first."""
    memory = choice.memory
    if agent_note:
        yield from _agent_sections(choice, agent_note)
    else:
        yield from choice.add("Preferences", choice.of_kind("preference"))
        yield from choice.add("Patterns", choice.of_kind("pattern"))
        yield from choice.add("Goals", choice.of_kind("goal"))
    yield "Contradictions", [number for edge in pairs for number in (edge.source, edge.target)]
    yield from choice.add("Open questions", memory.catalog["asks"], floor=False)
    yield from choice.add("Decisions", choice.of_kind("decision"))
    routine = choice.of_kind(*ROUTINE)
    for kind in _by_importance(memory, choice.mask & ~routine):
        yield from choice.add(
            "Key facts" if kind == "fact" else f"{kind.capitalize()}s", choice.of_kind(kind)
        )
    yield from choice.add(ROUTINE_TITLES[0], recent & routine)
    yield from choice.add(ROUTINE_TITLES[1], choice.of_kind("observation"))
    yield from _active_section(choice, recent)


def _load(memory: Memory, numbers: Sequence[int], project: str) -> dict[int, Note]:
    """The notes by number, without those that read like instructions. Notes from elsewhere have
    their origin in the title.
    """
    loaded = memory.store.notes_by_number(numbers)
    return {note.number: with_origin(note, project) for note in loaded if not is_instruction(note)}


def _followers(memory: Memory, notes: Mapping[int, Note], mask: Array) -> dict[int, list[int]]:
    """{number of a given note that others can outdate: numbers of the notes most like it, and of
    those that the replacement model read as newer}.
    """
    followers: dict[int, list[int]] = {}
    for number in (number for number, note in notes.items() if note.kind in KINDS):
        near = [other for other, _ in memory.vectors.near(number, mask, LATER)]
        read = [newer for newer in memory.replacements.newer_than(number)[:LATER] if mask[newer]]
        followers[number] = list(dict.fromkeys((*near, *read)))
    return followers


def _doubted(
    memory: Memory,
    notes: Mapping[int, Note],
    followers: Mapping[int, Sequence[int]],
    changes: Changes,
    branches: Collection[str],
) -> dict[int, Note]:
    """{number of a note: the newer one, of which a recall says that it may outdate it}."""
    settled = changes.outdated.union(*changes.disputes, [note.number for note in changes.was.values()])
    numbers = list(notes)
    pairs = [
        (numbers.index(old), numbers.index(new))
        for old, candidates in followers.items()
        for new in candidates
        if old in notes and new in notes and not {old, new} & settled
        if form_of(notes[old]) != form_of(notes[new])
        if notes[new].kind in TELLING and may_follow(notes[new], notes[old], branches)
    ]
    return outdated_anyway(memory, list(notes.values()), pairs)


def _agent_note(memory: Memory, choice: _Choice, agent: str) -> Note | None:
    """The note of kind "agent" whose title is the agent's name, or None."""
    among = choice.mask & choice.of_kind("agent")
    numbers = memory.catalog.best(among, ALL_MAX)
    wanted = agent.strip().casefold()
    notes = memory.store.notes_by_number(numbers)
    return next((note for note in notes if note.title.strip().casefold() == wanted), None)


def _agent_sections(choice: _Choice, agent_note: Note) -> Iterator[Section]:
    links, room = choice.memory.links, len(choice.mask)
    applied = {
        edge.target if edge.source == agent_note.number else edge.source
        for edge in links.of(agent_note.number)
        if edge.relation == "applies_to"
    }
    near = _notes_near(choice.memory, agent_note, OWN_STEPS)
    choice.mask[agent_note.number] = False
    yield from choice.add(
        "Identity and preferences",
        _mask(applied, room) & choice.of_kind("preference", "fact"),
        lead=agent_note,
    )
    yield from choice.add("Preferences", choice.of_kind("preference"))
    for kind, title in (("pattern", "Patterns"), ("goal", "Goals")):
        yield from choice.add(title, _mask(near, room) & choice.of_kind(kind))
    for kind, title in (("pattern", "Other patterns"), ("goal", "Other goals")):
        yield from choice.add(title, choice.of_kind(kind))


def _notes_near(memory: Memory, agent_note: Note, steps: int) -> set[int]:
    """The numbers of the notes within `steps` steps of the agent's note."""
    return set(memory.links.walk(agent_note.number, steps, "both", lambda _number: True).depth)


def _disputed(memory: Memory, mask: Array, near: set[int] | None) -> list[Edge]:
    """The "contradicts" edges between two notes of the mask, from `near` if it is given, the most
    important first.
    """
    edges = [
        edge
        for edge in memory.links.related_by("contradicts")
        if mask[edge.source] and mask[edge.target] and (near is None or edge.source in near)
    ]
    importance = memory.catalog["importance"]
    return sorted(edges, key=lambda edge: -max(importance[edge.source], importance[edge.target]))


def _by_importance(memory: Memory, mask: Array) -> list[str]:
    """The kinds that have no section yet, by the sum of their notes' importance."""
    sums = np.bincount(memory.catalog["kind"][mask], memory.catalog["importance"][mask])
    kind_names = {at: kind for kind, at in memory.catalog.kinds().items()}
    order = [kind_names[int(at)] for at in np.argsort(-sums) if sums[at] > 0]
    return [kind for kind in order if kind not in _NOT_BY_KIND]


def _active_section(choice: _Choice, recent: Array) -> Iterator[Section]:
    """Yield the section of notes that are related to the newest ones."""
    memory = choice.memory
    matters = memory.catalog["importance"] >= IMPORTANCE_MIN
    newest = memory.catalog.best(recent & matters, QUERY_TITLES)
    if not newest:
        return
    query = " ".join(note.title for note in memory.store.notes_by_number(newest))
    hits = memory.rank_notes(query, choice.selection, 2 * choice.items, 0.7, newest)
    fits = [hit.number for hit in hits if choice.mask[hit.number] and matters[hit.number]]
    yield from choice.take(ROUTINE_TITLES[2], fits[: choice.items])


def _render(
    head: Sequence[str],
    choice: _Choice,
    sections: Sequence[Section],
    marks: tuple[Changes, Mapping[int, Note]],
    chars: int,
    *,
    compact: bool,
) -> Briefing:
    changes, doubted = marks
    lines, numbers, notes = list(head), list[int](), changes.notes
    remaining = Budget(chars - sum(len(line) + 1 for line in lines))
    disputes = [pair for pair in changes.disputes if changes.outdated.isdisjoint(pair)]
    hidden = changes.outdated.union(*disputes) if disputes else changes.outdated
    for at, (title, section) in enumerate(sections):
        heading = [] if compact else [f"## {title}"]
        if title == "Contradictions":
            section_lines = _disputes(disputes, notes)
        else:
            shown = [number for number in section if number not in hidden]
            section_lines = _lines(shown, notes, (changes.was, doubted), compact=compact)
        later = (number for _, numbers_later in sections[at + 1 :] for number in numbers_later)
        is_last = not any(number in notes and number not in hidden for number in later)
        most = remaining.left if is_last else max(int(chars * SECTION_SHARE), remaining.left // 2)
        budget = Budget(min(remaining.left, most))
        items = min(choice.items, ITEMS_ROUTINE) if title in ROUTINE_TITLES else choice.items
        for line, line_notes in islice(section_lines, items):
            cost = sum(len(text) + 1 for text in (*heading, line))
            if cost > remaining.left or len(numbers) >= ALL_MAX:
                return Briefing("\n".join(lines), numbers)
            if not (budget.take(cost) and remaining.take(cost)):
                break
            lines += [*heading, line]
            numbers += line_notes
            heading = []
    return Briefing("\n".join(lines) if numbers else "Nothing is remembered of this project yet.", numbers)


def _lines(
    numbers: Sequence[int],
    notes: Mapping[int, Note],
    marks: tuple[Mapping[int, Note], Mapping[int, Note]],
    *,
    compact: bool,
) -> Iterator[tuple[str, list[int]]]:
    """Yield (line, its note) with a mark of the older note that it replaced, or of the newer one
    that may outdate it.
    """
    was, doubted = marks
    for number in numbers:
        if number in notes:
            remark = f" (was: {_title(was[number])[:WAS_CHARS]})" if number in was else ""
            if newer := doubted.get(number):
                day = format_moment(newer.happened_at)[:10]
                remark += f" (may be outdated: {_title(newer)[:WAS_CHARS]}, {day})"
            yield _line(notes[number], compact=compact) + remark, [number]


def _disputes(pairs: Sequence[tuple[int, int]], notes: Mapping[int, Note]) -> Iterator[tuple[str, list[int]]]:
    for older, newer in pairs:
        sides = [
            f"{_title(notes[side])} ({format_moment(notes[side].happened_at)[:10]})"
            for side in (older, newer)
        ]
        yield f"- {sides[0]} ↔ {sides[1]}", [older, newer]


def _line(note: Note, *, compact: bool) -> str:
    title = _title(note)
    body = " ".join(visible_text(note.body).split())
    if compact or not body or body == title:
        return f"- {title}"
    return f"- **{title}**: {body[:BODY_CHARS]}{'…' if len(body) > BODY_CHARS else ''}"


def _title(note: Note) -> str:
    return " ".join(visible_text(note.title).split())


def _mask(numbers: set[int], room: int) -> Array:
    mask = np.zeros(room, bool)
    mask[list(numbers)] = True
    return mask
