"""What to know before one begins: the notes of a project in sections, within a budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cortex.memory.answers import orders, told
from cortex.memory.note import Note

#: notes of a section, and of a compact one
ITEMS, ITEMS_COMPACT = 8, 3
#: characters of a body in a line
BODY_CHARS = 200
#: characters of all
CHARS_MAX = 8_000
#: notes that are less important are left out of the sections that are not about time
IMPORTANCE_MIN = 0.3
#: milliseconds that count as recent
RECENT_MS = 48 * 3_600_000


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    takes: Callable[[Note, int], bool]


def _of(*kinds: str) -> Callable[[Note, int], bool]:
    return lambda note, _now: note.kind in kinds and note.importance >= IMPORTANCE_MIN


def _recent(note: Note, now: int) -> bool:
    return note.kind in ("event", "observation") and now - note.happened_at <= RECENT_MS


def _open(note: Note, _now: int) -> bool:
    return "open-question" in note.labels or note.title.rstrip().endswith("?")


#: in the order in which they are told; a note stands in the first that takes it
_SECTIONS = (
    _Section("Preferences", _of("preference")),
    _Section("Goals", _of("goal")),
    _Section("Open questions", _open),
    _Section("Decisions", _of("decision")),
    _Section("Patterns", _of("pattern")),
    _Section("Recent events", _recent),
    _Section("Key facts", _of("fact")),
)


def brief(
    notes: Sequence[Note],
    disputed: Sequence[tuple[Note, Note]],
    now: int,
    *,
    compact: bool,
    chars_max: int = CHARS_MAX,
) -> str:
    """Markdown; `disputed`: pairs that contradict each other. Being told does not count as use, so
    what is told does not rise by it.
    """
    lines: list[str] = []
    shown: set[int] = set()
    for first, second in disputed[: ITEMS_COMPACT if compact else ITEMS]:
        lines += [] if lines else ["## Contradictions"]
        lines.append(f"- {told(first.title)} ↔ {told(second.title)}")
        shown |= {first.number, second.number}
    order = sorted(notes, key=lambda note: (-note.importance, -note.use_count, -note.happened_at))
    for section in _SECTIONS:
        own = [
            note
            for note in order
            if note.number not in shown and section.takes(note, now) and not orders(note)
        ]
        own = own[: ITEMS_COMPACT if compact else ITEMS]
        shown |= {note.number for note in own}
        if own:
            lines += [f"## {section.title}", *(_line(note, compact=compact) for note in own)]
    return _cut(lines, chars_max) or "Nothing is remembered of this project yet."


def _line(note: Note, *, compact: bool) -> str:
    title = " ".join(told(note.title).split())
    body = " ".join(told(note.body).split())
    if compact or not body or body == title:
        return f"- {title}"
    return f"- **{title}**: {body[:BODY_CHARS]}{'…' if len(body) > BODY_CHARS else ''}"


def _cut(lines: Sequence[str], chars_max: int) -> str:
    out: list[str] = []
    left = chars_max
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        out.append(line)
    return "\n".join(out)
