"""A note, an edge between two notes, the limits of their fields, and the key of equal notes.
Pure.
"""

import hashlib
import re
import unicodedata
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

import orjson

from cortex.memory.times import read_moment
from cortex.system.errors import BadRequest, TooLarge
from cortex.system.terminal import clean

Scope = Literal["project", "global"]
State = Literal["active", "superseded", "archived", "deleted"]
#: "other": an agent of another project; "import": a file of unknown authors
Trust = Literal["user", "agent", "tool", "import", "other"]
#: the channel of agents
AGENTS = "mcp"
Direction = Literal["outgoing", "incoming", "both"]

#: documented kinds; any word of this form is allowed
KINDS = (
    "fact", "decision", "goal", "event", "pattern", "observation", "preference", "agent", "prompt",
)  # fmt: skip
#: observation type of a note from a coding session → its kind
KIND_OF_TYPE = {
    "decision": "decision",
    "discovery": "fact",
    "bugfix": "event",
    "feature": "event",
    "refactor": "event",
    "change": "event",
}
#: documented relations; any word of this form is allowed
RELATIONS = (
    "causes", "fixes", "supersedes", "depends_on", "relates_to", "evolves_from", "leads_to", "similar_to",
    "contradicts", "reinforces", "invalidated_by", "explains", "shares_theme", "parallel_context", "summarizes",
    "part_of", "prefers_over", "supports",
)  # fmt: skip
#: relations that are stored as another relation in the opposite direction
REVERSED = {"caused_by": "causes"}

#: characters of a title and a subtitle, of a label, of a path, of a kind and a relation
TITLE_CHARS_MAX, LABEL_CHARS_MAX, PATH_CHARS_MAX, NAME_CHARS_MAX = 256, 64, 1_024, 40
#: characters of an edge's reason
REASON_CHARS_MAX = 256
#: bytes of a body and of all metadata as JSON; facts of a note; characters of a fact
BODY_BYTES_MAX, METADATA_BYTES_MAX, FACTS_MAX, FACT_CHARS_MAX = 256 * 1024, 64 * 1024, 100, 4_096
#: labels and files of a note
LABELS_MAX, FILES_MAX = 64, 256
#: keys in metadata: the branch and the commit on which a note was made
BRANCH, COMMIT = "git_branch", "git_commit"
BRANCH_CHARS_MAX = 256
#: the label of an open question
OPEN = "open-question"
#: the default importance of a note
IMPORTANCE = 0.5

#: a hash of all lines, and letters for the hashes of some 2 000 lines
_SPOKEN = re.compile(r"[0-9a-f]{16}(?::[0-9a-f]{0,8000})?")
_KIND = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RELATION = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
#: the namespace of note ids that are made of commits
_COMMITS = uuid.UUID("6f1a2a0e-5f0b-5a4e-9d0c-9b8d9a1f3c55")


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a note. `trust` follows from `channel`; no argument sets it."""

    agent: str = ""
    session: str = ""
    channel: str = "library"
    trust: Trust = "agent"


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is stored; moments are UTC milliseconds, 0 for none.

    `number` is the small integer of the note with the UUIDv7 `id`; neither is ever used again.
    `importance` is given and never decays, `relevance` is derived and may be computed anew. `files`
    are all files; `modified` and `read` are those that were changed or read, `mtimes` their last
    changes. `spoken`: path or anchor → hash of its code when the note was written. `topic`: a name
    for what it is about, of which the newest note is active.
    """

    title: str
    body: str = ""
    kind: str = "fact"
    id: str = ""
    number: int = 0
    obs_type: str = ""
    memory_type: str = ""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    mtimes: Mapping[str, int] = field(default_factory=dict)
    spoken: Mapping[str, str] = field(default_factory=dict)
    git_commit: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""
    scope: Scope = "project"
    importance: float = IMPORTANCE
    relevance: float = IMPORTANCE
    state: State = "active"
    superseded_by: int = 0
    occurred_at: int = 0
    valid_from: int = 0
    valid_until: int = 0
    created_at: int = 0
    updated_at: int = 0
    used_at: int = 0
    use_count: int = 0
    shown_count: int = 0
    feedback: int = 0
    prompt_number: int = 0
    source: Source = Source()
    topic: str = ""

    @property
    def happened_at(self) -> int:
        """The moment of the note in a timeline."""
        return self.occurred_at or self.created_at

    @property
    def known_at(self) -> int:
        """The moment from which on `as_of` finds it: when it was stored, or happened before."""
        return min(self.happened_at, self.created_at)

    @property
    def branch(self) -> str:
        """The branch on which it was made; "" without git, detached, or unknown."""
        branch = self.metadata.get(BRANCH)
        return branch[:BRANCH_CHARS_MAX] if isinstance(branch, str) and branch != "HEAD" else ""

    @property
    def same(self) -> str:
        """A digest that notes of one title (in any spelling), kind and project share."""
        spelling = unicodedata.normalize("NFKC", self.title).casefold()
        key = "\0".join(
            (" ".join(spelling.split()), self.kind, self.project if self.scope == "project" else "*")
        )
        return hashlib.sha256(key.encode()).hexdigest()[:32]


def commit_id(project: str, commit: str) -> str:
    """The id of a commit's note: the same for every reader, every time."""
    return str(uuid.uuid5(_COMMITS, f"{project}\0{commit}"))


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation from one note to another, both by number. `weight`: certainty; `detection`: the
    rule or caller that made it; `reason`: a text; `valid_until`: when it ended, 0 for never;
    `faded`: the share of the weight that is left.
    """

    source: int
    target: int
    relation: str = "relates_to"
    weight: float = 1.0
    detection: str = "manual"
    id: str = ""
    created_at: int = 0
    number: int = 0
    reason: str = ""
    valid_until: int = 0
    faded: float = 1.0

    @property
    def strength(self) -> float:
        """The weight in walks."""
        return self.weight * self.faded


def normalise_note(note: Note) -> Note:
    """Return the note with normalised fields. Raises BadRequest and TooLarge, naming the field."""
    title = _clean_text("title", note.title, TITLE_CHARS_MAX).strip()
    if not title:
        raise BadRequest("The title is empty; give a title of a few words.")
    body = clean(note.body)
    if len(body.encode()) > BODY_BYTES_MAX:
        raise TooLarge(
            f"The body has {len(body.encode())} bytes; {BODY_BYTES_MAX} are allowed: store it in parts."
        )
    importance = note.importance
    if not (isinstance(importance, int | float) and 0 <= importance <= 1):
        raise BadRequest(f"importance is {importance}; it must be between 0 and 1.")
    if len(note.facts) > FACTS_MAX:
        raise TooLarge(f"{len(note.facts)} facts; {FACTS_MAX} are allowed: store them as several notes.")
    return replace(
        note,
        title=title,
        body=body,
        kind=read_kind(note.kind),
        subtitle=_clean_text("subtitle", note.subtitle, TITLE_CHARS_MAX),
        facts=tuple(_clean_text("a fact", fact, FACT_CHARS_MAX) for fact in note.facts),
        labels=read_labels(note.labels),
        **_files(note),
        metadata=_metadata(note.metadata),
        importance=float(importance),
        topic=read_topic(note.topic),
    )


def with_anchors(metadata: Mapping[str, Any], anchors: Sequence[str]) -> dict[str, Any]:
    """Metadata with the symbols that a note is about, under "anchors"."""
    return {**metadata, "anchors": list(anchors)} if anchors else dict(metadata)


def anchors_of(metadata: Mapping[str, Any]) -> list[str]:
    """The symbols that a note with this metadata is about."""
    anchors = metadata.get("anchors")
    return [name for name in anchors if isinstance(name, str)] if isinstance(anchors, list) else []


def read_kind(kind: str) -> str:
    """The normalised kind. Raises BadRequest for a text that is no kind."""
    normal = kind.strip().lower()
    if len(normal) > NAME_CHARS_MAX or not _KIND.fullmatch(normal):
        raise BadRequest(
            f"kind is {kind[:80]!r}; it is one word of letters, digits and hyphens: {', '.join(KINDS)}."
        )
    return normal


def read_scope(scope: str) -> Scope:
    """The scope, checked. Raises BadRequest."""
    if scope not in get_args(Scope):
        raise BadRequest(f"scope is {str(scope)[:40]!r}; it is project or global.")
    return cast("Scope", scope)


def read_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """The changed fields of a note, under the store's names. Raises BadRequest."""
    fields = {"labels" if name == "tags" else name: value for name, value in changes.items()}
    if "scope" in fields:
        read_scope(fields["scope"])
    for name in ("occurred_at", "valid_from", "valid_until"):
        if name in fields:
            fields[name] = read_moment(fields[name], name)
    for name in ("labels", "facts", "files", "modified", "read", "anchors"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return fields


def read_relation(relation: str) -> tuple[str, bool]:
    """Return (the relation as it is stored, whether its direction is reversed). Hyphens become
    underscores. Raises BadRequest for a text that is no relation.
    """
    normal = relation.strip().lower().replace("-", "_")
    if len(normal) > NAME_CHARS_MAX or not _RELATION.fullmatch(normal):
        raise BadRequest(
            f"relation is {relation[:80]!r}; it is a word of letters, digits and hyphens, as relates-to, "
            "supports, contradicts, caused-by, depends-on, similar-to or supersedes."
        )
    return (REVERSED[normal], True) if normal in REVERSED else (normal, False)


def read_topic(topic: str) -> str:
    """The normalised topic (NFKC, lower case, single spaces). Raises TooLarge."""
    normal = " ".join(unicodedata.normalize("NFKC", clean(topic)).casefold().split())
    return _clean_text("the topic", normal, LABEL_CHARS_MAX)


def read_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels normalised (NFKC, lower case, hyphens), each once, in their order. Raises BadRequest
    and TooLarge.
    """
    out: dict[str, None] = {}
    for label in labels:
        normal = re.sub(r"[\s_]+", "-", unicodedata.normalize("NFKC", clean(label)).strip().lower()).strip(
            "-"
        )
        if len(normal) > LABEL_CHARS_MAX:
            raise BadRequest(f"The tag {label[:40]!r}… is longer than {LABEL_CHARS_MAX} characters.")
        if normal:
            out[normal] = None
    if len(out) > LABELS_MAX:
        raise TooLarge(f"{len(out)} tags; {LABELS_MAX} are allowed.")
    return tuple(out)


def _files(note: Note) -> dict[str, Any]:
    """The normalised fields of a note's files."""
    modified, read = _paths(note.modified), _paths(note.read)
    paths = _paths((*note.files, *modified, *read))
    if len(paths) > FILES_MAX:
        raise TooLarge(f"{len(paths)} files; {FILES_MAX} are allowed.")
    times = {_paths((path,))[0]: moment for path, moment in note.mtimes.items() if path.strip()}
    mtimes = {path: moment for path, moment in times.items() if path in paths}
    read = tuple(path for path in read if path not in modified)
    places = {*paths, *anchors_of(note.metadata)}
    spoken = {
        name: digest for name, digest in note.spoken.items() if name in places and _SPOKEN.fullmatch(digest)
    }
    return {"files": paths, "modified": modified, "read": read, "mtimes": mtimes, "spoken": spoken}


def _paths(files: Iterable[str]) -> tuple[str, ...]:
    cleaned = (
        _clean_text("a file", path, PATH_CHARS_MAX).replace("\\", "/").removeprefix("./") for path in files
    )
    return tuple(path for path in dict.fromkeys(cleaned) if path)


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    try:
        raw = orjson.dumps(dict(metadata))
    except (orjson.JSONEncodeError, TypeError, ValueError) as error:
        raise BadRequest(f"The metadata is no JSON object: {error}.") from error
    if len(raw) > METADATA_BYTES_MAX:
        raise TooLarge(f"The metadata has {len(raw)} bytes as JSON; {METADATA_BYTES_MAX} are allowed.")
    plain: dict[str, Any] = orjson.loads(raw)
    return plain


def _clean_text(what: str, text: str, chars_max: int) -> str:
    cleaned = clean(text)
    if len(cleaned) > chars_max:
        raise TooLarge(f"{what} has {len(cleaned)} characters; {chars_max} are allowed.")
    return cleaned
