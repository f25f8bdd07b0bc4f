"""The life of a project, generated from a seed: sessions over some weeks, and the state of each
observation.

It has duplicates, replaced decisions, files that were changed since, secrets and another project.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cortex.ask.code_notes.places import TextLines
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out

DAY_MS, MINUTE_MS = 86_400_000, 60_000
BEGIN = 1_760_000_000_000  # 2025-10-09T08:53:20Z, a Thursday
TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
CONCEPTS = ("network", "storage", "gotcha", "security", "how-it-works", "testing", "performance")
FILES = tuple(
    f"src/{room}/{name}.py" for room in ("net", "cart", "auth", "ui") for name in ("main", "store", "queue")
)
#: files that change after the last observation
CHANGED = frozenset(FILES[::3])
PARTS = "cart checkout login search invoice upload export mailer scheduler cache router parser".split()
VERBS = (
    "retries drops keeps reads writes rounds copies sorts counts hides".split()
)  # none is the opposite of another
THINGS = "sessions prices tokens images totals headers rows letters orders cookies addresses labels".split()
TOPICS = "database queue language hosting logging testing styling search mail payments".split()
CHOICES = "Alpha Bravo Charlie Delta Echo Foxtrot Golf Hotel".split()
SECRET = "AKIAIOSFODNN7EXAMPLE"


@dataclass
class Life:
    """A generated life.

    `told`: observations to store, in order: arguments, moment, session, project. Of the project
    "shop": its `notes` by title, `replaced` (the old title → the new one, and when), and titles
    that were stored twice.
    """

    days: int
    entries: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    replaced: dict[str, tuple[str, int]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)
    end: int = 0


def generate_life(days: int = 9, sessions: int = 8, observations: int = 160, seed: int = 15) -> Life:
    """Generate a life, the same for the same numbers."""
    chance = random.Random(seed)
    life = Life(days, end=BEGIN + days * DAY_MS)
    starts = sorted(
        chance.randrange(BEGIN, life.end - 2 * 60 * MINUTE_MS, MINUTE_MS) for _ in range(sessions)
    )
    counted = 0
    for at, start in enumerate(starts):
        share = observations * (at + 1) // sessions - observations * at // sessions
        for moment in _moments(chance, start, share):
            counted += 1
            _add_step(life, chance, counted, moment, f"session-{at}")
    return life


def _moments(chance: random.Random, start: int, count: int) -> Iterator[int]:
    """Yield some moments of an hour, each once, in order."""
    yield from sorted(start + second * 1000 for second in chance.sample(range(3_600), count))


def _add_step(life: Life, chance: random.Random, number: int, moment: int, session: str) -> None:
    roll = chance.random()
    if roll < 0.08 and life.notes:
        _repeat_observation(life, chance, moment, session)
    elif roll < 0.16:
        _decide(life, chance, moment, session)
    else:
        _observe(life, chance, number, moment, session, "bank" if roll > 0.94 else "shop")


def _observe(  # noqa: PLR0917
    life: Life, chance: random.Random, number: int, moment: int, session: str, project: str
) -> None:
    title = f"The {chance.choice(PARTS)} {chance.choice(VERBS)} {chance.choice(THINGS)} in step {number}"
    modified, read = chance.sample(FILES, chance.randint(0, 2)), chance.sample(FILES, chance.randint(0, 1))
    secret = f" with the key {SECRET}" if chance.random() < 0.05 else ""
    obs_type = chance.choice(TYPES[:-1])
    note = {
        "title": title,
        "body": f"Seen while working on {chance.choice(THINGS)}{secret}." if chance.random() < 0.8 else "",
        "kind": "fact" if obs_type == "discovery" else "event",
        "obs_type": obs_type if chance.random() < 0.7 or obs_type not in ("change", "discovery") else "",
        "tags": chance.sample(CONCEPTS, chance.randint(0, 3)),
        "facts": [f"Fact {at} of step {number}" for at in range(chance.randint(0, 3))],
        "files": list(dict.fromkeys((*modified, *read))),
        "importance": round(chance.uniform(0.2, 0.8), 2),
    }
    life.entries.append({"note": note, "at": moment, "session": session, "project": project})
    if project == "shop":
        life.notes[title] = note | {
            "obs_type": obs_type,
            "at": moment,
            "session": session,
            "state": "active",
            "step": number,
        }


def _repeat_observation(life: Life, chance: random.Random, moment: int, session: str) -> None:
    """Repeat an existing observation, spelled differently, with another tag."""
    title = chance.choice([existing for existing in life.notes if life.notes[existing]["state"] == "active"])
    original = life.notes[title]
    note = {
        "title": title.upper().replace(" ", "  "),
        "kind": original["kind"],
        "tags": ["testing"],
        "importance": 0.1,
    }
    life.entries.append({"note": note, "at": moment, "session": session, "project": "shop"})
    original["tags"] = list(dict.fromkeys((*original["tags"], "testing")))
    life.doubled.add(title)


def _decide(life: Life, chance: random.Random, moment: int, session: str) -> None:
    """Decide on a topic; the earlier decision holds no more."""
    topic = chance.choice(TOPICS)
    before = [
        existing
        for existing, note in life.notes.items()
        if note.get("topic") == topic and note["state"] == "active"
    ]
    used = {note["choice"] for note in life.notes.values() if note.get("topic") == topic}
    free = [choice for choice in CHOICES if choice not in used]
    if not free:
        return
    choice = chance.choice(free)
    title = f"We decided on {choice} for {topic}"
    note = {
        "title": title,
        "kind": "decision",
        "obs_type": "decision",
        "tags": ["architecture"],
        "importance": 0.7,
        "body": f"{choice} is what the team knows best when it comes to {topic}.",
    }
    life.entries.append(
        {"note": note, "at": moment, "session": session, "project": "shop", "supersedes": before}
    )
    life.notes[title] = note | {
        "at": moment,
        "session": session,
        "state": "active",
        "topic": topic,
        "choice": choice,
        "files": [],
        "facts": [],
    }
    for old in before:
        life.notes[old]["state"] = "superseded"
        life.replaced[old] = (title, moment)


@dataclass(frozen=True)
class Planted:
    """Pairs of titles that were added to a life, the older and the newer.

    The newer corrects the older (`contradicted`), undoes it (`undone`) or says it in other words
    (`alike`); `recurring`: an event in several sessions.
    """

    contradicted: frozenset[tuple[str, str]]
    undone: frozenset[tuple[str, str]]
    alike: frozenset[tuple[str, str]]
    recurring: frozenset[str]


_CORRECTED = (
    ("Sessions are kept in Redis", "Sessions are no longer kept in Redis"),
    ("Invoices are rounded on each line", "Invoices are no longer rounded on each line"),
)
_UNDONE = (
    ("Added the rate limiter to the gateway", "Removed the rate limiter from the gateway", "edge/limit.py"),
    ("Enabled the preview of large photographs", "Disabled the preview of large photographs", "ui/photo.py"),
)
_ALIKE = (
    ("The staging database runs PostgreSQL 15", "Staging runs on PostgreSQL 15"),
    ("Attachments above ten megabytes bounce", "Attachments bounce above ten megabytes"),
)
_RECURRING = tuple(f"Flaky test around midnight in {what}" for what in ("invoices", "reports", "exports"))


def plant(life: Life) -> Planted:
    """Add the pairs after all other observations.

    The older ones are in one session and the newer ones a day later in another; each has its secret
    in a fact.
    """
    old = [(older, "fact", "", ()) for older, _ in (*_CORRECTED, *_ALIKE)]
    old += [(older, "event", "feature", (path,)) for older, _, path in _UNDONE]
    new = [(other, "fact", "", ()) for _, other in (*_CORRECTED, *_ALIKE)]
    new += [(other, "event", "change", (path,)) for _, other, path in _UNDONE]
    for at, rows in enumerate((old, new)):
        rows += [(flaky, "event", "bugfix", ()) for flaky in _RECURRING[at * 2 : at * 2 + 2]]
        for place, (title, kind, obs_type, files) in enumerate(rows):
            note = {"title": title, "kind": kind, "obs_type": obs_type, "files": list(files)}
            moment = life.end + at * DAY_MS + place * MINUTE_MS
            note |= {"facts": [f"The password is {SECRET}"]}
            life.entries.append({"note": note, "at": moment, "session": f"planted-{at}", "project": "shop"})
            more = {"at": moment, "state": "active", "tags": [], "importance": 0.5, "body": ""}
            life.notes[title] = (
                note | more | {"obs_type": obs_type or "discovery", "session": f"planted-{at}"}
            )
    life.end += 2 * DAY_MS
    return Planted(
        frozenset(_CORRECTED),
        frozenset((older, other) for older, other, _ in _UNDONE),
        frozenset(_ALIKE),
        frozenset(_RECURRING),
    )


def write_project(root: Path) -> None:
    """Write the project's files in their last state."""
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(_text(path, "later" if path in CHANGED else "first"))


def _text(path: str, when: str) -> bytes:
    return f'"""{path}."""\n\nWHEN = "{when}"\nPLACE = "{path}"\n'.encode()


def store_life(library: Library, life: Life) -> dict[str, int]:
    """Store all observations, each at its moment, and the sessions' messages.

    Returns title → number.
    """
    numbers: dict[str, int] = {}
    for entry in life.entries:
        _set_clock(library, entry["at"])
        whose = library.of(
            project=entry["project"], source=Source("claude", entry["session"], "mcp", "agent")
        )
        spoken = {
            path: TextLines.of(_text(path, "first")).full_fingerprint()
            for path in entry["note"].get("files", ())
        }
        supersedes = [numbers[title] for title in entry.get("supersedes", ())]
        note = whose.store(**entry["note"], spoken=spoken, supersedes=supersedes)
        numbers.setdefault(entry["note"]["title"], note["number"])
    _set_clock(library, life.end)
    for at, name in enumerate(sorted({entry["session"] for entry in life.entries})):
        prompt = f"Please reach milestone{word_of(at)} and tell me"
        exchange = {"begins": True, "at": BEGIN + at, "user": prompt, "assistant": f"It is done, {name}."}
        session = {"kind": "claude", "source_id": name, "workstation": "w", "file": f"/{name}"}
        portion = {"session": session, "start": 0, "place": {"offset": 9, "size": 9, "tail": ""}}
        finish(
            carry_out(library, "take_session", {"portion": portion | {"parts": [exchange]}}, project="shop")
        )  # type: ignore[arg-type]
    library.memory.exchange_index.commit(wait=True)
    return numbers


def _set_clock(library: Library, moment: int) -> None:
    library.memory.now = library.memory.store._now = lambda: moment  # type: ignore[misc]


def word_of(number: int) -> str:
    """Return a word for a number."""
    return "".join("bcdfghklmn"[int(digit)] + "aeiou"[int(digit) % 5] for digit in str(number))
