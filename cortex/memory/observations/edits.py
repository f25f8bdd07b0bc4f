"""Observation tools that change notes: fields, tags, states, importance, merges. Each call is one
operation of the store: it is done once, and can be undone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import re2
from sqlalchemy import or_, select

from cortex.memory.answers import visible_text
from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Note, normalise_note, read_changes, read_labels
from cortex.memory.observations.rows import Answer, Arguments, record_of
from cortex.memory.store.note_store import supersede
from cortex.memory.store.records import Records
from cortex.memory.store.rows import edge_of
from cortex.memory.store.tables import EDGE
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.observations import BULK_MAX
from cortex.terms.text.secrets import remove_secrets
from cortex.terms.text.suggestions import IDS_HINT

#: argument of `edit_observation` → field of a note
_FIELDS = {
    "title": "title",
    "subtitle": "subtitle",
    "narrative": "body",
    "facts": "facts",
    "concepts": "labels",
    "files_read": "read",
    "files_modified": "modified",
    "scope": "scope",
}
#: notes that are searched in one batch
_SLICE = 500
#: bytes of memory for a compiled regular expression
_PATTERN_BYTES = 1 << 20


def edit_observation(library: Library, arguments: Arguments) -> Answer:
    """Raises BadRequest when no field is given, NotFound."""
    memory = library.memory
    fields = {ours: arguments[name] for name, ours in _FIELDS.items() if arguments.get(name) is not None}
    if not fields:
        raise BadRequest(f"Nothing to change; give at least one of {', '.join(_FIELDS)}.")
    fields = read_changes(fields)
    note = memory.store.need(arguments["id"])
    if {"read", "modified"} & fields.keys():
        fields["files"] = _files_of(note, fields)
    written = memory.store.edit(
        arguments["id"], fields, arguments["operation_id"], trust=library.edit_trust(arguments["id"], fields)
    )
    memory.follow()
    observation = record_of(memory.store.need(written.number))
    changed = sorted(name for name, ours in _FIELDS.items() if arguments.get(name) is not None)
    return {"updated": changed, "observation": observation, "vector_resync": "done"} | (
        {"removed": list(written.removed)} if written.removed else {}
    )


def _files_of(note: Note, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """All files of a note after the change; files that were neither read nor modified stay."""
    read, modified = fields.get("read", note.read), fields.get("modified", note.modified)
    unsaid = (path for path in note.files if path not in (*note.read, *note.modified))
    return tuple(dict.fromkeys((*unsaid, *modified, *read)))


def tag_observation(library: Library, arguments: Arguments) -> Answer:
    """Change the tags, each once, in order. Raises BadRequest without a tag to add or remove."""
    memory, mode = library.memory, arguments["mode"]
    tags = read_labels(remove_secrets(tag)[0] for tag in arguments["tags"])
    if not tags and mode != "set":
        raise BadRequest("`tags` is empty; pass at least one, or the mode `set` to remove all.")

    def carry_out(records: Records) -> Answer:
        note = records.need(arguments["id"])
        records.change(note, normalise_note(replace(note, labels=_apply_tags(note.labels, tags, mode))))
        return {"number": note.number}

    number = _run_once(library, arguments, "tag", carry_out)["number"]
    current = memory.store.need(number).labels
    return {"id": number, "mode": mode, "tags_applied": list(tags), "current_tags": list(current)}


def _apply_tags(labels: Sequence[str], tags: Sequence[str], mode: str) -> tuple[str, ...]:
    if mode == "remove":
        return tuple(label for label in labels if label not in tags)
    return tuple(tags) if mode == "set" else tuple(dict.fromkeys((*labels, *tags)))


def merge_observations(library: Library, arguments: Arguments) -> Answer:
    """Move the source's facts, concepts, files and relations to the target, which supersedes it.
    Raises BadRequest for a merge with itself, NotFound.
    """

    def carry_out(records: Records) -> Answer:
        source, target = records.need(arguments["source_id"]), records.need(arguments["target_id"])
        if source.number == target.number:
            raise BadRequest(f"Observation {source.number} cannot be merged into itself.")
        before = target.importance
        records.change(target, _merge_notes(source, target, arguments["boost"]))
        _move_edges(records, source.number, target.number)
        records.change(source, supersede(records, source, target))
        return {"source": source.number, "target": target.number, "before": before}

    done = _run_once(library, arguments, "merge", carry_out)
    source, target = library.memory.store.notes_by_number([done["source"], done["target"]])
    return {
        "merged": True,
        "source_id": source.number,
        "source_title": visible_text(source.title),
        "target_id": target.number,
        "target_title": visible_text(target.title),
        "target_old_score": done["before"],
        "target_new_score": target.importance,
        "boost_applied": arguments["boost"],
    }


def _merge_notes(source: Note, target: Note, boost: float) -> Note:
    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(target, name), *getattr(source, name))))

    return normalise_note(
        replace(
            target,
            facts=both("facts"),
            labels=both("labels"),
            files=both("files"),
            modified=both("modified"),
            read=both("read"),
            mtimes={**source.mtimes, **target.mtimes},
            importance=round(min(1.0, target.importance + boost), 6),
        )
    )


def _move_edges(records: Records, source: int, target: int) -> None:
    """Give the source's relations to the target, without one to itself."""
    ends = or_(EDGE.c.source == source, EDGE.c.target == source)
    for edge in [edge_of(row) for row in records.connection.execute(select(EDGE).where(ends))]:
        first, second = (target if end == source else end for end in (edge.source, edge.target))
        records.disconnect(edge.number)
        if first != second:
            records.connect(replace(edge, source=first, target=second, id="", number=0))


def bulk_delete_observations(library: Library, arguments: Arguments) -> Answer:
    """Mark notes as deleted: revisions stay, and the operation can be undone."""

    def delete(_records: Records, note: Note) -> Note:
        return replace(note, state="deleted")

    done = _bulk(library, arguments, "bulk-delete", delete)
    return {"deleted": done.pop("changed")} | done


def bulk_mark_superseded(library: Library, arguments: Arguments) -> Answer:
    """Raises NotFound for an unknown heir, BadRequest for a note that would supersede itself."""

    def replace_by_heir(records: Records, note: Note) -> Note:
        if not arguments["superseded_by"]:
            return replace(note, state="superseded", superseded_by=0, valid_until=records.now)
        heir = records.need(arguments["superseded_by"])
        if heir.number == note.number:
            raise BadRequest(f"Observation {note.number} cannot supersede itself.")
        return supersede(records, note, heir)

    done = _bulk(library, arguments, "bulk-supersede", replace_by_heir)
    return {"updated": done.pop("changed")} | done


def bulk_boost_observations(library: Library, arguments: Arguments) -> Answer:
    boost = arguments["boost"]

    def lift(_records: Records, note: Note) -> Note:
        return replace(note, importance=round(min(1.0, max(0.0, note.importance + boost)), 6))

    done = _bulk(library, arguments, "bulk-boost", lift)
    return {"boosted": done.pop("changed"), "boost_used": boost} | done


def _bulk(
    library: Library, arguments: Arguments, what: str, change: Callable[[Records, Note], Note]
) -> Answer:
    """{"changed": count, "total", "errors" if some ids are unknown}. Raises BadRequest for no or
    too many ids, NotFound when all are unknown.
    """
    ids = list(dict.fromkeys(str(reference).strip() for reference in arguments["ids"]))
    if not 1 <= len(ids) <= BULK_MAX:
        raise BadRequest(f"{len(ids)} ids; pass 1 to {BULK_MAX}.")

    def carry_out(records: Records) -> Answer:
        numbers = {reference: records.find(reference) for reference in ids}
        notes = {
            note.number: note
            for note in records.get([note_number for note_number in numbers.values() if note_number])
        }
        missing = [reference for reference, number in numbers.items() if number not in notes]
        if not notes:
            raise NotFound(f"There is no observation {', '.join(missing[:5])[:200]}; {IDS_HINT}.")
        for note in notes.values():
            records.change(note, change(records, note))
        return {"changed": len(notes), "missing": missing}

    done = _run_once(library, arguments, what, carry_out)
    errors = [f"There is no observation {reference[:80]!r}." for reference in done["missing"]]
    return {"changed": done["changed"], "total": len(ids)} | ({"errors": errors} if errors else {})


def batch_tag_by_pattern(library: Library, arguments: Arguments) -> Answer:
    """Raises BadRequest for an invalid pattern, and for an empty one."""
    tags = read_labels(remove_secrets(tag)[0] for tag in arguments["tags"])
    if not tags:
        raise BadRequest("`tags` is empty; pass at least one.")
    matched = list[Note]()
    for note in _matching(library, _matcher(arguments["pattern"], regex=arguments["regex"])):
        matched.append(note)
        if len(matched) == arguments["max_matches"]:
            break
    answer: Answer = {
        "pattern": arguments["pattern"],
        "tags": list(tags),
        "dry_run": arguments["dry_run"],
        "matches_found": len(matched),
        "matches": [{"id": note.number, "title": visible_text(note.title), "score": 1.0} for note in matched],
    }
    if arguments["dry_run"] or not matched:
        return answer

    def carry_out(records: Records) -> Answer:
        for note in records.get([note.number for note in matched]):
            records.change(note, normalise_note(replace(note, labels=_apply_tags(note.labels, tags, "add"))))
        return {"tagged": len(matched)}

    return answer | {"tagged_count": _run_once(library, arguments, "batch-tag", carry_out)["tagged"]}


def _matcher(pattern: str, *, regex: bool) -> Callable[[str], bool]:
    """A test whether a text holds the pattern, in any case. Raises BadRequest."""
    if not pattern.strip():
        raise BadRequest("The pattern is empty; pass a text that the observations hold.")
    if not regex:
        wanted = pattern.casefold()
        return lambda text: wanted in text.casefold()
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, _PATTERN_BYTES
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as error:
        raise BadRequest(
            f"pattern is no regular expression: {error}; without `regex` it is a plain text."
        ) from error
    return lambda text: compiled.search(text) is not None


def _matching(library: Library, holds: Callable[[str], bool]) -> Iterator[Note]:
    """The active notes of the project with a text that holds the pattern, the newest first."""
    memory = library.memory
    numbers = memory.catalog.in_time(memory.catalog.mask(Selection(project=library.project)))[::-1].tolist()
    for at in range(0, len(numbers), _SLICE):
        for note in memory.store.notes_by_number(numbers[at : at + _SLICE]):
            if any(holds(text) for text in (note.title, note.subtitle, note.body, *note.facts)):
                yield note


def _run_once(
    library: Library, arguments: Arguments, what: str, carry_out: Callable[[Records], Answer]
) -> Answer:
    payload = {what: {name: value for name, value in arguments.items() if name != "operation_id"}}
    return library.once(arguments["operation_id"], what, payload, carry_out)
