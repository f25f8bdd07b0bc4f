"""A note as the texts that it is found by, and a question as words. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from cortex.memory.note import Note
from cortex.terms import tokens

#: words that questions are made of and that say nothing about what was noted, beside STOP_WORDS;
#: without them six of a hundred questions more find their turn of a conversation
_ASKING = frozenset(
    "about after again all also always am anything before being both did during each ever every everything few "
    "first get getting give going got just know last like long made make many may might more most much need new now "
    "often one only other own people person please recent recently said same say see since someone something tell "
    "than thing things think time used using usually very want way well went whom whose yet kind type sort likely "
    "happen happened mention mentioned".split()
)


def embedded_text(note: Note) -> str:
    """What its vector is made of."""
    labels = f"\ntags: {', '.join(note.labels)}" if note.labels else ""
    facts = "".join(f"\n{fact}" for fact in note.facts)
    body = "" if note.body.strip() == note.title.strip() else f"\n{note.body}"
    return f"{note.kind}: {note.title}{body}{facts}{labels}"


def title_words(note: Note) -> list[str]:
    """Stems and joined forms of the title, the labels and the names of its files."""
    names = (path.rpartition("/")[2] for path in note.files)
    return _stems((note.title, note.subtitle, *note.labels, *names))


def all_words(note: Note) -> list[str]:
    """Stems and joined forms of all that it says, with its moment written out."""
    return title_words(note) + _stems((note.body, *note.facts, *note.files, say_date(note.occurred_at)))


def question_words(query: str) -> list[str]:
    """The words of a question that may be in a note, each once; all when none says anything."""
    found = tokens.words(query)
    telling = [
        word for word in found if word.lower() not in tokens.STOP_WORDS and word.lower() not in _ASKING
    ]
    return list(dict.fromkeys(tokens.lane_text(telling or found).split()))


def say_date(moment: int) -> str:
    """The day of a moment as people write it; "" for none."""
    if not moment:
        return ""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%A %d %B %Y %Y-%m-%d")


def _stems(texts: Iterable[str]) -> list[str]:
    return tokens.lane_text(tokens.words(" ".join(texts))).split()
