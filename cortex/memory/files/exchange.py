"""Notes and edges as records, one JSON object a line: the format of exports and imports. Pure.

{"note": {…, "revisions": [{"until", "held"}]}} and {"edge": {…}}; `transcripts.session_records` has
the records of sessions. Notes are named by id; an edge in a file of another program may name a note
by {"title", "kind"}. Moments are UTC milliseconds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar, get_args

from cortex.memory.note import (
    IMPORTANCE,
    REASON_CHARS_MAX,
    Edge,
    Note,
    Scope,
    Source,
    State,
    Trust,
    normalise_note,
    read_relation,
)
from cortex.memory.transcripts import session_records
from cortex.system.errors import BadRequest, CortexError
from cortex.terms.text.secrets import remove_secrets_in

T = TypeVar("T", int, str)
Record = dict[str, Any]
#: a record's name for a note: an id, or {"title", "kind"}
Name = str | Mapping[str, str]

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: the first line of a file: format and version
HEADER: Record = {"cortex": "memory", "version": 1}

_TEXTS = tuple("id kind obs_type memory_type title subtitle body project git_commit topic".split())
_MOMENTS = ("occurred_at", "valid_from", "valid_until", "created_at", "updated_at", "used_at")
_COUNTS = ("number", "superseded_by", "use_count", "shown_count", "feedback", "prompt_number")
_LISTS = ("facts", "labels", "files", "modified", "read")


@dataclass(frozen=True, slots=True)
class Arriving:
    """A note of a record; `revisions`: (until when, the note as it was)."""

    line: int
    note: Note
    revisions: tuple[tuple[int, Note], ...] = ()
    trusted: bool = True
    #: whether a person edited it in a file
    edited: bool = False


@dataclass(frozen=True, slots=True)
class ArrivingEdge:
    line: int
    source: Name
    target: Name
    edge: Edge
    trusted: bool = True


ArrivingRecord = Arriving | ArrivingEdge | session_records.ArrivingSession | session_records.ArrivingExchange


def note_record(note: Note, revisions: Sequence[tuple[int, Mapping[str, Any]]]) -> Record:
    earlier = [{"until": until, "held": dict(earlier)} for until, earlier in revisions]
    return {"note": asdict(note) | {"revisions": earlier}}


def edge_record(edge: Edge, ids: Mapping[int, str]) -> Record:
    return {
        "edge": {
            "id": edge.id,
            "source": ids[edge.source],
            "target": ids[edge.target],
            "relation": edge.relation,
            "weight": edge.weight,
            "detection": edge.detection,
            "reason": edge.reason,
            "created_at": edge.created_at,
            "valid_until": edge.valid_until,
        }
    }


def read_record(
    line: int, record: Any, project: str, *, trusted: bool, now: int = 0
) -> ArrivingRecord | None:
    """Return the contents of a record, without secrets; None for a header. Notes without a project
    belong to `project`. Unless `trusted`, everything in it counts as imported: all notes belong to
    `project` alone, moments after `now` are cut to it, and counts of use are dropped. Raises
    CortexError with a sentence for a record that cannot be used.
    """
    if not isinstance(record, Mapping):
        raise BadRequest("it is no JSON object")
    if "cortex" in record:
        if record["cortex"] != HEADER["cortex"] or record.get("version") != HEADER["version"]:
            raise BadRequest(
                f"it was written by another version ({str(record.get('version'))[:20]}; this one reads 1): upgrade Cortex"
            )
        return None
    clean, _ = remove_secrets_in(dict(record))
    if isinstance(clean.get("note"), Mapping):
        arrival = _read_note(line, clean["note"], project, trusted=trusted)
        return arrival if trusted else _without_claims(arrival, project, now)
    if isinstance(clean.get("edge"), Mapping):
        return _read_edge(line, clean["edge"], trusted=trusted)
    if session_record := session_records.read(line, clean, project, trusted=trusted):
        return session_record
    raise BadRequest('it is neither {"note": …} nor {"edge": …}, nor of a session')


def _read_note(line: int, record: Mapping[str, Any], project: str, *, trusted: bool) -> Arriving:
    note = _note(record, project, trusted=trusted)
    revisions = []
    for revision in record.get("revisions") or ():
        if not isinstance(revision, Mapping) or not isinstance(revision.get("held"), Mapping):
            raise BadRequest("one of its revisions holds no note")
        revisions.append((_integer(revision, "until"), _note(revision["held"], project, trusted=trusted)))
    return Arriving(line, note, tuple(revisions), edited=record.get("edited") is True)


def _without_claims(arrival: Arriving, project: str, now: int) -> Arriving:
    """The note as a stranger's: no claim about its project, its use, its rating, or the future."""
    revisions = tuple(
        (min(until, now) if now else until, _as_strangers(note, project, now))
        for until, note in arrival.revisions
    )
    return replace(
        arrival, note=_as_strangers(arrival.note, project, now), revisions=revisions, trusted=False
    )


def _as_strangers(note: Note, project: str, now: int) -> Note:
    moments = {name: getattr(note, name) for name in _MOMENTS}
    moments = {name: min(moment, now) if now else moment for name, moment in moments.items()}
    counts = dict.fromkeys(("superseded_by", "use_count", "shown_count", "feedback"), 0)
    claims: dict[str, Any] = {"project": project, "scope": "project", "relevance": note.importance}
    return replace(note, **(moments | counts | claims | {"used_at": 0}))


def _note(record: Mapping[str, Any], project: str, *, trusted: bool) -> Note:
    if not isinstance(record.get("title"), str):
        raise BadRequest("it has no title")
    plain: dict[str, Any] = {name: _string(record, name) for name in _TEXTS if record.get(name)}
    plain |= {name: _integer(record, name) for name in (*_MOMENTS, *_COUNTS)}
    plain |= {name: _strings(record, name) for name in _LISTS}
    plain |= {
        name: record[name] for name in ("importance", "relevance", "metadata") if record.get(name) is not None
    }
    plain |= {"mtimes": _mapping(record, "mtimes", int), "spoken": _mapping(record, "spoken", str)}
    for name, allowed in (("scope", get_args(Scope)), ("state", get_args(State))):
        plain[name] = record.get(name) or allowed[0]
        if plain[name] not in allowed:
            raise BadRequest(f"{name} is {str(plain[name])[:40]!r}; it is one of {', '.join(allowed)}")
    plain["project"] = plain.get("project") or project
    plain["number"] = plain["number"] if trusted else 0
    if not isinstance(plain.get("relevance", 0.0), int | float):
        raise BadRequest(f"relevance is {str(plain['relevance'])[:40]!r}; it is a number")
    plain.setdefault("relevance", plain.get("importance", IMPORTANCE))
    note = normalise_note(Note(**plain, source=_source(record.get("source"), trusted=trusted)))
    if note.id and not _ID.fullmatch(note.id):
        raise BadRequest(f"its id is {note.id[:40]!r}, which is no UUID")
    return note


def _source(record: Any, *, trusted: bool) -> Source:
    if not isinstance(record, Mapping):
        return Source(channel="import", trust="import")
    agent, session = (
        _string(record, name)[:128] if record.get(name) else "" for name in ("agent", "session")
    )
    if not trusted or record.get("trust") not in get_args(Trust):
        return Source(agent, session, "import", "import")
    return Source(agent, session, str(record.get("channel", ""))[:16], record["trust"])


def _read_edge(line: int, record: Mapping[str, Any], *, trusted: bool) -> ArrivingEdge:
    relation, reverse = read_relation(_string(record, "relation"))
    ends = [_endpoint(record, end) for end in ("source", "target")]
    weight = record.get("weight", 1.0)
    if not isinstance(weight, int | float) or not 0 <= weight <= 1:
        raise BadRequest(f"weight is {str(weight)[:40]!r}; it is between 0 and 1")
    detection = str(record.get("detection") or "imported")[:40]
    edge = Edge(
        0,
        0,
        relation,
        float(weight),
        detection,
        str(record.get("id") or "")[:36],
        _integer(record, "created_at"),
        reason=str(record.get("reason") or "")[:REASON_CHARS_MAX],
        valid_until=_integer(record, "valid_until"),
    )
    source, target = reversed(ends) if reverse else ends
    return ArrivingEdge(line, source, target, edge, trusted)


def _endpoint(record: Mapping[str, Any], end: str) -> Name:
    name = record.get(end)
    if isinstance(name, str) and name:
        return name
    if isinstance(name, Mapping) and isinstance(name.get("title"), str):
        return {"title": name["title"], "kind": str(name.get("kind", "fact"))}
    raise BadRequest(f"its {end} names no note")


def _string(record: Mapping[str, Any], name: str) -> str:
    if not isinstance(record.get(name), str):
        raise BadRequest(f"{name} is no text")
    text: str = record[name]
    return text


def _integer(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 53:
        raise BadRequest(f"{name} is {str(value)[:40]!r}; it is a whole number")
    return value


def _strings(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = record.get(name) or ()
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise BadRequest(f"{name} is no list of texts")
    return tuple(values)


def _mapping(record: Mapping[str, Any], name: str, element: type[T]) -> dict[str, T]:
    values = record.get(name) or {}
    if not isinstance(values, Mapping) or not all(type(value) is element for value in values.values()):
        raise BadRequest(f"{name} is no mapping of names to {'numbers' if element is int else 'texts'}")
    return dict(values)


def error_sentence(error: CortexError) -> str:
    """The error's sentence, without the full stop."""
    return str(error).removesuffix(".")
