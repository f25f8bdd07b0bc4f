"""Files that notes are imported from, as records: our own lines of JSON, the reference memory
server's, Markdown with front matter. Reads files; stores nothing.
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
class Line:
    """A record, or `wrong`: why there is none. `number`: its line, or that of its file's end."""

    number: int
    record: Record | None
    wrong: str = ""
    #: the file that it is in, when there are several
    file: str = ""


def read_notes(path: Path) -> Iterator[Line]:
    """The records of a file, or of all Markdown files of a folder. Lines that cannot be read are
    named, and do not keep the others out.

    Raises NotFound for what is not there, BadRequest for a format that is not known.
    """
    try:
        if path.is_dir():
            for one in _pages(path):
                yield _markdown(one, one.relative_to(path).as_posix())
        elif path.suffix.lower() in (".md", ".markdown"):
            yield _markdown(path, "")
        else:
            with files.open_plain(path) as file:
                yield from _lines(file, path)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror or error}.") from error


def _pages(folder: Path) -> Iterator[Path]:
    """The Markdown files in a folder and those in it; of links nothing."""
    for name, info in sorted(files.entries(folder).items()):
        if stat.S_ISDIR(info.st_mode):
            yield from _pages(folder / name)
        elif name.endswith(".md"):
            yield folder / name


def _lines(file: BinaryIO, path: Path) -> Iterator[Line]:
    kinds: dict[str, str] = {}
    number, known = 0, False
    while raw := file.readline(LINE_BYTES_MAX):
        number += 1
        if not raw.strip():
            continue
        try:
            told = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            known = known or number > 1 or raw.lstrip().startswith(b"{")
            if not known:
                raise BadRequest(
                    f"{path} is in no format that can be imported: lines of JSON (ours, or memory.json of the "
                    "reference memory server), or Markdown (.md)."
                ) from error
            yield Line(number, None, "it is no whole JSON object")
            continue
        known = True
        yield (
            _of_server(number, told, kinds)
            if isinstance(told, dict) and "type" in told
            else Line(number, told)
        )


def _of_server(number: int, told: Record, kinds: dict[str, str]) -> Line:
    """A line of the reference memory server's memory.json. `kinds`: name → kind, so far."""
    told, _ = remove_secrets_in(told)  # before names are normalised
    try:
        if told["type"] == "entity":
            name, facts = str(told["name"]), [str(fact) for fact in told.get("observations") or ()]
            kinds[name] = kind = kind_of(str(told.get("entityType") or "fact"))
            fits = len(facts) <= FACTS_MAX and all(len(fact) <= FACT_CHARS_MAX for fact in facts)
            body = {"facts": facts} if fits else {"body": "\n".join(facts)}
            return Line(number, {"note": {"title": name, "kind": kind, **body}})
        if told["type"] == "relation":
            source, target = (
                {"title": str(told[end]), "kind": kinds.get(str(told[end]), "fact")} for end in ("from", "to")
            )
            relation = _NOT_IN_KIND.sub("_", str(told["relationType"]).lower()).strip("_")[:40].strip("_")
            return Line(
                number, {"edge": {"source": source, "target": target, "relation": relation or "relates_to"}}
            )
    except KeyError as error:
        return Line(number, None, f"it has no {error.args[0]}")
    return Line(number, None, f"its type is {str(told['type'])[:40]!r}, which is neither entity nor relation")


def _markdown(path: Path, name: str) -> Line:
    try:
        raw = files.read_plain(path, MARKDOWN_BYTES_MAX + 1)
    except OSError as error:
        return Line(0, None, f"it cannot be read: {error.strerror or error}", name)
    if len(raw) > MARKDOWN_BYTES_MAX:
        return Line(0, None, f"it has more than {MARKDOWN_BYTES_MAX} bytes", name)
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return Line(text.count("\n") + 1, {"note": _note_of(text, remove_secrets(path.stem)[0])}, "", name)
    except (yaml.YAMLError, ValueError, RecursionError, BadRequest) as error:
        return Line(1, None, f"its front matter cannot be read: {str(error).splitlines()[0]}", name)


def _note_of(text: str, stem: str) -> Record:
    front = _FRONT_MATTER.match(text)
    about = yaml.safe_load(front[1]) if front else {}
    if not isinstance(about, dict):
        raise BadRequest("it is no mapping of names to values")
    about, _ = remove_secrets_in(about)  # before names are normalised
    body = text[front.end() :] if front else text
    heading = _HEADING.match(body)
    title = str(about.get("title") or (heading[1] if heading else stem.replace("-", " ").replace("_", " ")))
    if heading and heading[1] == title:
        body = body[heading.end() :]
    told: Record = {
        "title": title.strip()[:TITLE_CHARS_MAX],
        "body": body.strip(),
        "kind": kind_of(str(about.get("kind") or about.get("type") or "fact")),
        "labels": _texts(about.get("tags") or about.get("labels")),
        "files": _texts(about.get("files")),
        "facts": _texts(about.get("facts")),
    }
    for name, given in (("id", "id"), ("scope", "scope"), ("importance", "importance")):
        if about.get(given) is not None and (name != "id" or len(str(about[given])) == 36):
            told[name] = str(about[given]) if name != "importance" else about[given]
    for name, others in (("created_at", ("created_at", "created")), ("occurred_at", ("occurred_at", "date"))):
        for other in others:
            if about.get(other):
                told[name] = _moment(about[other], other)
    return told


def kind_of(told: str) -> str:
    """Another program's kind as one of ours, or as a word of its own."""
    kind = _NOT_IN_KIND.sub("-", told.lower()).strip("-")[:40].strip("-")
    return KIND_OF_TYPE.get(kind, kind) or "fact"


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    return [str(each) for each in value] if isinstance(value, list) else []


def _moment(value: Any, what: str) -> int:
    if isinstance(value, date | datetime):
        value = value.isoformat()
    return read_moment(value, what)
