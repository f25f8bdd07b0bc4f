"""Notes as Markdown files, one a note: for people to read and edit, for Obsidian and git. Front
matter holds the fields, `[[links]]` the edges. Pure.

The hash in the front matter decides whether a file was edited, not a date.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import yaml

from cortex.memory.note import Edge, Note
from cortex.memory.times import format_moment

#: the version of the files, and the key of it in the front matter
VERSION, KEY = 1, "cortex"
#: the line below which the links are; Obsidian hides it
LINKS = "%% links: edit them with `cortex memory` %%"
#: characters of a title in the name of a file
NAME_CHARS = 60
_NUMBER = re.compile(r"-(\d{1,15})\.md\Z")
_NOT_IN_NAME = re.compile(r"[^\w]+")
#: further fields of a record, in the front matter under "more" where they are not the default
_MORE = (
    "obs_type", "memory_type", "subtitle", "modified", "read", "mtimes", "spoken", "git_commit", "metadata",
    "occurred_at", "valid_from", "valid_until", "created_at", "updated_at", "prompt_number", "feedback",
)  # fmt: skip
#: fields that a person edits in the file, besides title and body → field of a note
EDITED = {
    "kind": "kind",
    "topic": "topic",
    "tags": "labels",
    "files": "files",
    "facts": "facts",
    "scope": "scope",
    "state": "state",
    "importance": "importance",
}


def file_name(note: Note) -> str:
    """The name of a note's file, which ends in its number."""
    words = _NOT_IN_NAME.sub("-", note.title.lower()).strip("-")[:NAME_CHARS].strip("-")
    return f"{words or 'note'}-{note.number}.md"


def number_in(name: str) -> int:
    """The number at the end of a file's name; 0 for none."""
    match = _NUMBER.search(name)
    return int(match[1]) if match else 0


def render(note: Note, edges: Sequence[Edge], others: Mapping[int, Note]) -> bytes:
    """The file of a note; `edges`: those that begin at it; `others`: the notes at their ends."""
    edited = edited_fields(note)
    front: dict[str, Any] = {KEY: VERSION, "id": note.id, "number": note.number, "project": note.project}
    front |= {name: value for name, value in edited.items() if value not in ("", [])}
    for name in ("created_at", "updated_at", "occurred_at", "valid_until"):
        if moment := getattr(note, name):
            front[name.removesuffix("_at")] = format_moment(moment)
    if heir := others.get(note.superseded_by):
        front["superseded_by"] = heir.id
    front["source"] = {
        name: value
        for name in ("agent", "session", "channel", "trust")
        if (value := getattr(note.source, name))
    }
    more = {name: value for name in _MORE if (value := _plain(getattr(note, name)))}
    linked = [edge for edge in edges if edge.target in others]
    if linked:
        front["links"] = [_link(edge, others[edge.target]) for edge in linked]
    front |= {"more": orjson.dumps(more).decode()} if more else {}
    body = note.body.strip("\n")
    front["hash"] = digest_of(note)
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=110)
    text = f"---\n{head}---\n\n# {note.title}\n\n{body}\n" if body else f"---\n{head}---\n\n# {note.title}\n"
    lines = [
        f"- {edge.relation} [[{file_name(others[edge.target])[:-3]}|{_label(others[edge.target])}]]"
        for edge in linked
    ]
    return (text + (f"\n{LINKS}\n" + "\n".join(lines) + "\n" if lines else "")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _label(note: Note) -> str:
    return re.sub(r"[\[\]|]", " ", note.title)


def _link(edge: Edge, target: Note) -> dict[str, Any]:
    fields = {"to": target.id, "relation": edge.relation, "id": edge.id, "weight": edge.weight}
    fields |= {"detection": edge.detection, "reason": edge.reason, "created_at": edge.created_at}
    return {name: value for name, value in fields.items() if value not in ("", 0)}


def is_ours(front: Mapping[str, Any]) -> bool:
    return front.get(KEY) == VERSION and isinstance(front.get("id"), str)


def read_file(front: Mapping[str, Any], text: str) -> list[dict[str, Any]]:
    """The records of one of our files: the note, and its edges. An edited file is the newest
    version of its note. `text`: what follows the front matter.
    """
    title, body = _title_and_body(text)
    more = orjson.loads(front["more"]) if isinstance(front.get("more"), str) else {}
    edited = {name: front.get(name, [] if name in ("tags", "files", "facts") else "") for name in EDITED}
    record: dict[str, Any] = {name: value for name, value in more.items() if name in _MORE}
    record |= {field: edited[name] for name, field in EDITED.items() if edited[name] not in ("", [])}
    record |= {"id": front["id"], "title": title, "body": body, "project": str(front.get("project") or "")}
    record |= {"number": front["number"]} if isinstance(front.get("number"), int) else {}
    if isinstance(front.get("source"), Mapping):
        record["source"] = dict(front["source"])
    if digest(title, body, edited) != front.get("hash"):
        record["edited"] = True
    for name in ("modified", "read"):
        record[name] = [path for path in record.get(name, ()) if path in edited["files"]]
    links = front.get("links")
    edges = [_edge(front["id"], link) for link in links] if isinstance(links, list) else []
    return [{"note": record}, *({"edge": edge} for edge in edges if edge)]


def _title_and_body(text: str) -> tuple[str, str]:
    page = text.rpartition(f"\n{LINKS}\n")[0] or text
    heading, _, body = page.lstrip("\n").partition("\n")
    if not heading.startswith("# "):
        return page.strip().partition("\n")[0], page.strip("\n")
    return heading[2:].strip(), body.strip("\n")


def _edge(source: str, link: Any) -> dict[str, Any] | None:
    if not isinstance(link, Mapping) or not isinstance(link.get("to"), str):
        return None
    names = ("relation", "id", "weight", "detection", "reason", "created_at")
    return {"source": source, "target": link["to"]} | {name: link[name] for name in names if name in link}


def digest(title: str, body: str, edited: Mapping[str, Any]) -> str:
    """The hash of all that a person edits in a file. `edited`: the values by their names in it; the
    order of a list counts.
    """
    values = [title, body.strip("\n"), {name: edited.get(name) or "" for name in EDITED}]
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def edited_fields(note: Note) -> dict[str, Any]:
    values = {name: getattr(note, field) for name, field in EDITED.items()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def digest_of(note: Note) -> str:
    return digest(note.title, note.body, edited_fields(note))
