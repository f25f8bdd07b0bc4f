"""Records from the exports of other memory programs: mem0, OpenMemory, mcp-memory-service, engram,
claude-mem, and the graph of the reference server. Reads parsed JSON; stores nothing.
"""

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from cortex.memory.note import FACT_CHARS_MAX, FACTS_MAX, KIND_OF_TYPE, LABELS_MAX, TITLE_CHARS_MAX
from cortex.memory.text import cut
from cortex.memory.times import read_moment
from cortex.system.errors import BadRequest

Fields = Mapping[str, Any]
Record = dict[str, Any]

#: the namespace of note ids that are made of other programs' ids
_IDS = uuid.UUID("3b7f5a52-1f0e-5c64-9d4e-6f0a1d0c8b27")
_NOT_IN_WORD = re.compile(r"[^a-z0-9]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
#: states of other programs in which a note is no longer used; deleted ones are left out
_PAST_STATES = frozenset(("archived", "paused"))
_GONE = "deleted"


def kind_of(foreign_kind: str) -> str:
    """Another program's kind as one of ours, or as a word of our form."""
    kind = _word(foreign_kind, "-")
    return KIND_OF_TYPE.get(kind, kind) or "fact"


def relation_of(foreign_relation: str) -> str:
    return _word(foreign_relation, "_") or "relates_to"


def _word(text: str, joint: str) -> str:
    return _NOT_IN_WORD.sub(joint, text.lower()).strip(joint)[:40].strip(joint)


def foreign_records(document: Any) -> Iterator[Record] | None:
    """The records of a parsed export; None for a document of no known program."""
    if isinstance(document, list):
        return _rows(document, _of_mem0) if document and _is_mem0(document[0]) else None
    if not isinstance(document, dict):
        return None
    if isinstance(document.get("entities"), list):
        return _graph(document)
    if isinstance(document.get("results"), list):
        return _mem0(document)
    if isinstance(document.get("memories"), list):
        rows = document["memories"]
        is_openmemory = any(name in document for name in ("export_meta", "apps", "memory_categories"))
        return _openmemory(document) if is_openmemory else _rows(rows, _of_memory_service)
    if isinstance(document.get("observations"), list):
        is_claude_mem = "exportedAt" in document or "summaries" in document
        return _claude_mem(document) if is_claude_mem else _rows(document["observations"], _of_engram)
    return None


def foreign_row(row: Fields) -> Record | None:
    """The record of one line of OpenMemory's or mem0's lines of JSON; None for another line."""
    if isinstance(row.get("content"), str) and ("categories" in row or "app" in row or "content_hash" in row):
        return _of_openmemory(row) if "content_hash" not in row else _of_memory_service(row)
    return _of_mem0(row) if _is_mem0(row) else None


def _rows(rows: Sequence[Any], read: Callable[[Fields], Record | None]) -> Iterator[Record]:
    for row in rows:
        if isinstance(row, Mapping) and (record := read(row)):
            yield record


def _note(program: str, row: Fields, text: str, **fields: Any) -> Record | None:
    """The record of a note with this text; the title is its first sentence unless one is given."""
    title = _text(fields.pop("title", "")) or _first_sentence(text)
    if not title or row.get("state") == _GONE or row.get("deleted_at"):
        return None
    body = "" if text.strip() == title else text.strip()
    record: Record = {"title": title[:TITLE_CHARS_MAX], "body": body, "metadata": {"imported_from": program}}
    if identity := row.get("id") or row.get("content_hash") or row.get("uuid"):
        record["id"] = str(uuid.uuid5(_IDS, f"{program}\0{identity}\0{row.get('project') or ''}"))
    if row.get("state") in _PAST_STATES:
        record["state"] = "archived"
    labels = [_text(label)[:64] for label in fields.pop("labels", ()) if _text(label)]
    record["labels"] = list(dict.fromkeys(labels))[:LABELS_MAX]
    record |= {name: value for name, value in fields.items() if value}
    for name, keys in (("created_at", ("created_at", "created_at_iso")), ("updated_at", ("updated_at",))):
        if moment := next((moment for key in keys if (moment := _moment(row.get(key)))), 0):
            record[name] = moment
    return {"note": record}


def _first_sentence(text: str) -> str:
    return cut(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].strip(), TITLE_CHARS_MAX)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _moment(value: Any) -> int:
    """UTC milliseconds of a date, or of seconds or milliseconds since 1970; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return 0
    if isinstance(value, int | float):
        return int(value * 1000) if 0 < value < 1e11 else int(value) if value > 0 else 0
    try:
        return read_moment(value.strip().replace(" ", "T", 1), "created_at") if value.strip() else 0
    except BadRequest:
        return 0


def _list(value: Any) -> list[str]:
    """The texts of a list, of JSON with one, or of a text with commas."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    if isinstance(value, str):
        value = value.split(",")
    return [text for entry in value if (text := _text(entry))] if isinstance(value, list) else []


# mem0: {"results": [{"id", "memory", "categories", "metadata", "created_at"}], "relations":
# [{"source", "relationship", "target" or "destination"}]}, or a list of such rows


def _is_mem0(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("memory"), str)


def _of_mem0(row: Fields) -> Record | None:
    if not _is_mem0(row):
        return None
    metadata = row.get("metadata") if isinstance(row.get("metadata"), Mapping) else {}
    labels = [*_list(row.get("categories")), *_list((metadata or {}).get("category"))]
    return _note("mem0", row, _text(row.get("memory")), labels=labels)


def _mem0(document: Fields) -> Iterator[Record]:
    yield from _rows(document["results"], _of_mem0)
    names = dict[str, None]()
    relations = document.get("relations")
    edges = [row for row in relations if isinstance(row, Mapping)] if isinstance(relations, list) else []
    ends = [(_text(row.get("source")), _text(row.get("target") or row.get("destination"))) for row in edges]
    names |= dict.fromkeys(name for pair in ends if all(pair) for name in pair)
    for name in names:
        yield {
            "note": {"title": name[:TITLE_CHARS_MAX], "kind": "entity", "metadata": {"imported_from": "mem0"}}
        }
    for row, (source, target) in zip(edges, ends, strict=True):
        if source and target:
            relation = _text(row.get("relationship") or row.get("relation"))
            yield _edge((source, "entity"), (target, "entity"), relation)


def _edge(source: tuple[str, str], target: tuple[str, str], relation: str) -> Record:
    first, second = ({"title": title[:TITLE_CHARS_MAX], "kind": kind} for title, kind in (source, target))
    return {"edge": {"source": first, "target": second, "relation": relation_of(relation)}}


# OpenMemory: memories.json of its zip with {"memories": [{"id", "content", "state",
# "category_ids"}], "categories": [{"id", "name"}]}, or a line of memories.jsonl with {"content",
# "categories", "app"}


def _of_openmemory(row: Fields) -> Record | None:
    source = {"source": {"agent": _text(row.get("app"))}} if _text(row.get("app")) else {}
    return _note("openmemory", row, _text(row.get("content")), labels=_list(row.get("categories")), **source)


def _openmemory(document: Fields) -> Iterator[Record]:
    categories, apps = document.get("categories"), document.get("apps")
    names = {row.get("id"): row.get("name") for row in categories or () if isinstance(row, Mapping)}
    app_names = {row.get("id"): row.get("name") for row in apps or () if isinstance(row, Mapping)}
    for row in document["memories"]:
        if isinstance(row, Mapping) and isinstance(row.get("content"), str):
            ids = row.get("category_ids")
            labels = [names.get(which) for which in ids] if isinstance(ids, list) else []
            named = {"categories": labels, "app": app_names.get(row.get("app_id"))}
            if record := _of_openmemory({**row, **named}):
                yield record


# mcp-memory-service: {"export_metadata", "memories": [{"content", "content_hash", "tags",
# "memory_type", "created_at": seconds, "created_at_iso", "metadata"}]}


def _of_memory_service(row: Fields) -> Record | None:
    text = _text(row.get("content"))
    return _note(
        "mcp-memory-service",
        row,
        text,
        labels=_list(row.get("tags")),
        kind=kind_of(_text(row.get("memory_type")) or "fact"),
    )


# engram: {"version", "exported_at", "sessions", "observations": [{"id", "session_id", "type",
# "title", "content", "project", "topic_key", "created_at"}], "prompts"}


def _of_engram(row: Fields) -> Record | None:
    kind = _text(row.get("type"))
    topic = [label] if (label := _text(row.get("topic_key"))) else []
    return _note(
        "engram",
        row,
        _text(row.get("content")),
        title=_text(row.get("title")),
        labels=[*topic, *([kind] if kind and kind not in KIND_OF_TYPE else [])],
        kind=kind_of(kind or "fact"),
        obs_type=kind if kind in KIND_OF_TYPE else "",
        source={"session": _text(row.get("session_id"))[:128]},
    )


# claude-mem: {"exportedAt", "observations": [{"type", "title", "subtitle", "narrative", "text",
# "facts", "concepts", "files_read", "files_modified", "created_at_epoch"}], "sessions",
# "summaries", "prompts"}


def _claude_mem(document: Fields) -> Iterator[Record]:
    yield from _rows(document["observations"], _of_claude_mem)
    summaries = document.get("summaries")
    yield from _rows(summaries if isinstance(summaries, list) else (), _of_summary)


def _of_claude_mem(row: Fields) -> Record | None:
    kind = _text(row.get("type"))
    facts = [fact[:FACT_CHARS_MAX] for fact in _list(row.get("facts"))][:FACTS_MAX]
    read, modified = _list(row.get("files_read")), _list(row.get("files_modified"))
    return _note(
        "claude-mem",
        _dated(row),
        _text(row.get("narrative")) or _text(row.get("text")) or _text(row.get("title")),
        title=_text(row.get("title")),
        subtitle=_text(row.get("subtitle"))[:TITLE_CHARS_MAX],
        kind=kind_of(kind or "observation"),
        obs_type=kind if kind in KIND_OF_TYPE else "",
        facts=facts,
        labels=_list(row.get("concepts")),
        files=list(dict.fromkeys((*modified, *read))),
        modified=modified,
        read=[path for path in read if path not in modified],
        source={"agent": "claude", "session": _text(row.get("memory_session_id"))[:128]},
    )


def _of_summary(row: Fields) -> Record | None:
    parts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    lines = [
        f"{part.replace('_', ' ').capitalize()}: {text}" for part in parts if (text := _text(row.get(part)))
    ]
    title = _text(row.get("request")) or _text(row.get("completed"))
    identity = {"id": f"summary {row.get('id') or row.get('memory_session_id') or title}"}
    return _note(
        "claude-mem",
        {**_dated(row), **identity},
        "\n\n".join(lines),
        title=_first_sentence(title),
        kind="event",
        labels=["session-summary"],
        source={"agent": "claude", "session": _text(row.get("memory_session_id"))[:128]},
    )


def _dated(row: Fields) -> Fields:
    return {**row, "created_at": row.get("created_at_epoch") or row.get("created_at")}


# the reference server's graph as one document: {"entities": [{"name", "entityType",
# "observations"}], "relations": [{"from", "to", "relationType"}]}


def _graph(document: Fields) -> Iterator[Record]:
    kinds: dict[str, str] = {}
    for row in document["entities"]:
        if isinstance(row, Mapping) and (name := _text(row.get("name"))):
            kinds[name] = kind_of(_text(row.get("entityType")) or "fact")
            facts = [fact[:FACT_CHARS_MAX] for fact in _list(row.get("observations"))][:FACTS_MAX]
            yield {"note": {"title": name[:TITLE_CHARS_MAX], "kind": kinds[name], "facts": facts}}
    relations = document.get("relations")
    for row in relations if isinstance(relations, list) else ():
        ends = [_text(row.get(end)) for end in ("from", "to")] if isinstance(row, Mapping) else [""]
        if all(ends):
            source, target = ((name, kinds.get(name, "fact")) for name in ends)
            yield _edge(source, target, _text(row.get("relationType")))
