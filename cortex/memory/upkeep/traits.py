"""The features of a note for upkeep: type, words, files, origin. Pure."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from cortex.memory.note import Note, Trust
from cortex.memory.text import question_words
from cortex.terms import tokens

#: characters of a body that are compared: its subject is at the start
BODY_CHARS = 2_000
#: types of changes: files of such a note count as modified if nothing else is known
CHANGES = frozenset(("bugfix", "feature", "refactor", "change"))
#: rank of trust; a note never ends a note with a higher rank
RANK: dict[Trust, int] = {"user": 3, "agent": 2, "tool": 1, "import": 1, "other": 1}
_TYPES = {"fact": "discovery", "event": "change"}


@dataclass(frozen=True, slots=True)
class Trait:
    """The features of a note. `type`: as in a coding session, else its kind; `modified`: the files
    that it changed; `words` and `title_words`: stems of all of it and of its title; `text`: all of
    it in lower case; `trust`: rank of its author; `stamp`: the time of its last change.
    """

    number: int
    id: str
    type: str
    project: str
    everywhere: bool
    session: str
    moment: int
    labels: frozenset[str]
    files: frozenset[str]
    modified: frozenset[str]
    words: frozenset[str]
    title_words: frozenset[str]
    title: str
    text: str
    trust: int
    importance: float
    stamp: int

    @property
    def order(self) -> tuple[int, int]:
        """Sort key: the newer note has the greater one."""
        return self.moment, self.number

    def meets(self, other: "Trait") -> bool:
        """Whether one project sees both."""
        return self.project == other.project or self.everywhere or other.everywhere


def type_of(note: Note) -> str:
    """The type of an observation: as stored, else as its kind implies."""
    return note.obs_type or _TYPES.get(note.kind, note.kind)


def trait_of(note: Note) -> Trait:
    note_type = type_of(note)
    text = f"{note.title}\n{note.body[:BODY_CHARS]}\n" + "\n".join(note.facts)
    silent = set(note.files).difference(note.modified, note.read)
    modified = {*note.modified, *(silent if note_type in CHANGES else ())}
    return Trait(
        number=note.number,
        id=note.id,
        type=note_type,
        project=note.project,
        everywhere=note.scope == "global",
        session=note.source.session,
        moment=note.happened_at,
        labels=frozenset(note.labels),
        files=frozenset(note.files),
        modified=frozenset(modified),
        words=stems(text),
        title_words=stems(note.title),
        title=note.title,
        text=text.lower(),
        trust=RANK[note.source.trust],
        importance=note.importance,
        stamp=note.updated_at,
    )


def stems(text: str) -> frozenset[str]:
    """The stems of the content words."""
    if not tokens.words(text):
        return frozenset()
    return frozenset(question_words(text))


def jaccard(some: AbstractSet[str], others: AbstractSet[str]) -> float:
    """The share of common elements of two sets; 0 for two empty ones."""
    shared = len(some & others)
    together = len(some) + len(others) - shared
    return shared / together if together else 0.0
