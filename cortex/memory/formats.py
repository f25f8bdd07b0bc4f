"""Files to import notes from, as records: our own lines of JSON, memory.json of the reference
memory server, Markdown with front matter. Reads files; stores nothing.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import yaml

from cortex.memory.exchange import Record
from cortex.memory.note import FACT_CHARS_MAX, FACTS_MAX, KIND_OF_TYPE, TITLE_CHARS_MAX
from cortex.memory.times import read_moment
from cortex.system import files
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.secrets import remove_secrets, remove_secrets_in

#: bytes of one line, and of one Markdown file
LINE_BYTES_MAX, MARKDOWN_BYTES_MAX = 64_000_000, 1_000_000
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|\Z)")
_NOT_IN_KIND = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class InputLine:
    """A record, or None with its `fault`. `number`: its line, or the last line of its file."""

    number: int
    record: Record | None
    fault: str = ""
    #: the file's name when several are read
    file: str = ""


def read_notes(path: Path) -> Iterator[InputLine]:
    """The records of a file, or of all Markdown files below a folder. An unreadable line gives an
    item with a `fault`, and the others are still read. Raises NotFound for a missing file,
    BadRequest for an unknown format.
    """
    try:
        if path.is_dir():
            for page in _pages(path):
                yield _read_markdown(page, page.relative_to(path).as_posix())
        elif path.suffix.lower() in (".md", ".markdown"):
            yield _read_markdown(path, "")
        else:
            with files.open_plain(path) as file:
                yield from _lines(file, path)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror or error}.") from error


def _pages(folder: Path) -> Iterator[Path]:
    """The Markdown files below a folder; links are not followed."""
    for name, info in sorted(files.entries(folder).items()):
        if stat.S_ISDIR(info.st_mode):
            yield from _pages(folder / name)
        elif name.endswith(".md"):
            yield folder / name


def _lines(file: BinaryIO, path: Path) -> Iterator[InputLine]:
    kinds: dict[str, str] = {}
    number, is_recognised = 0, False
    while raw := file.readline(LINE_BYTES_MAX):
        number += 1
        if not raw.strip():
            continue
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            is_recognised = is_recognised or number > 1 or raw.lstrip().startswith(b"{")
            if not is_recognised:
                raise BadRequest(
                    f"{path} is in no format that can be imported: lines of JSON (ours, or memory.json of the "
                    "reference memory server), or Markdown (.md)."
                ) from error
            yield InputLine(number, None, "it is no complete JSON object")
            continue
        is_recognised = True
        yield (
            _server_line(number, record, kinds)
            if isinstance(record, dict) and "type" in record
            else InputLine(number, record)
        )


def _server_line(number: int, record: Record, kinds: dict[str, str]) -> InputLine:
    """Read a line of the reference memory server's memory.json. `kinds`: {name: kind} of the lines
    before.
    """
    record, _ = remove_secrets_in(
        record
    )  # before names are normalised, which could hide a secret from the patterns
    try:
        if record["type"] == "entity":
            name, facts = str(record["name"]), [str(fact) for fact in record.get("observations") or ()]
            kinds[name] = kind = kind_of(str(record.get("entityType") or "fact"))
            fits = len(facts) <= FACTS_MAX and all(len(fact) <= FACT_CHARS_MAX for fact in facts)
            body = {"facts": facts} if fits else {"body": "\n".join(facts)}
            return InputLine(number, {"note": {"title": name, "kind": kind, **body}})
        if record["type"] == "relation":
            source, target = (
                {"title": str(record[end]), "kind": kinds.get(str(record[end]), "fact")}
                for end in ("from", "to")
            )
            relation = _NOT_IN_KIND.sub("_", str(record["relationType"]).lower()).strip("_")[:40].strip("_")
            return InputLine(
                number, {"edge": {"source": source, "target": target, "relation": relation or "relates_to"}}
            )
    except KeyError as error:
        return InputLine(number, None, f"it has no {error.args[0]}")
    return InputLine(
        number, None, f"its type is {str(record['type'])[:40]!r}, which is neither entity nor relation"
    )


def _read_markdown(path: Path, name: str) -> InputLine:
    try:
        raw = files.read_plain(path, MARKDOWN_BYTES_MAX + 1)
    except OSError as error:
        return InputLine(0, None, f"it cannot be read: {error.strerror or error}", name)
    if len(raw) > MARKDOWN_BYTES_MAX:
        return InputLine(0, None, f"it has more than {MARKDOWN_BYTES_MAX} bytes", name)
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return InputLine(
            text.count("\n") + 1, {"note": _note_of(text, remove_secrets(path.stem)[0])}, "", name
        )
    except (yaml.YAMLError, ValueError, RecursionError, BadRequest) as error:
        return InputLine(1, None, f"its front matter cannot be read: {str(error).splitlines()[0]}", name)


def _note_of(text: str, stem: str) -> Record:
    front = _FRONT_MATTER.match(text)
    front_matter = yaml.safe_load(front[1]) if front else {}
    if not isinstance(front_matter, dict):
        raise BadRequest("it is no mapping of names to values")
    front_matter, _ = remove_secrets_in(
        front_matter
    )  # before names are normalised, which could hide a secret from the patterns
    body = text[front.end() :] if front else text
    heading = _HEADING.match(body)
    title = str(
        front_matter.get("title") or (heading[1] if heading else stem.replace("-", " ").replace("_", " "))
    )
    if heading and heading[1] == title:
        body = body[heading.end() :]
    record: Record = {
        "title": title.strip()[:TITLE_CHARS_MAX],
        "body": body.strip(),
        "kind": kind_of(str(front_matter.get("kind") or front_matter.get("type") or "fact")),
        "labels": _texts(front_matter.get("tags") or front_matter.get("labels")),
        "files": _texts(front_matter.get("files")),
        "facts": _texts(front_matter.get("facts")),
    }
    for name, key in (("id", "id"), ("scope", "scope"), ("importance", "importance")):
        if front_matter.get(key) is not None and (name != "id" or len(str(front_matter[key])) == 36):
            record[name] = str(front_matter[key]) if name != "importance" else front_matter[key]
    for name, others in (("created_at", ("created_at", "created")), ("occurred_at", ("occurred_at", "date"))):
        for other in others:
            if front_matter.get(other):
                record[name] = _moment(front_matter[other], other)
    return record


def kind_of(foreign_kind: str) -> str:
    """Another program's kind as one of ours, or as a word of our form."""
    kind = _NOT_IN_KIND.sub("-", foreign_kind.lower()).strip("-")[:40].strip("-")
    return KIND_OF_TYPE.get(kind, kind) or "fact"


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [text.strip() for text in value.split(",") if text.strip()]
    return [str(text) for text in value] if isinstance(value, list) else []


def _moment(value: Any, what: str) -> int:
    if isinstance(value, date | datetime):
        value = value.isoformat()
    return read_moment(value, what)
