"""Files to import notes from, as records: our own lines of JSON and Markdown, memory.json of the
reference memory server, exports of other programs, any Markdown. Reads files; stores nothing.
"""

import contextlib
import gzip
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import yaml

from cortex.memory.files.exchange import Record
from cortex.memory.files.foreign_formats import foreign_records, foreign_row, kind_of, relation_of
from cortex.memory.files.markdown_files import is_ours, number_in, read_file
from cortex.memory.files.sections import INSTRUCTIONS, sections_of, structure_of
from cortex.memory.note import FACT_CHARS_MAX, FACTS_MAX, TITLE_CHARS_MAX
from cortex.memory.times import read_moment
from cortex.system import files
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.text.secrets import remove_secrets, remove_secrets_in

#: bytes of one line, and of one Markdown file
LINE_BYTES_MAX, MARKDOWN_BYTES_MAX = 64_000_000, 1_000_000
#: the file of OpenMemory's archive that has the memories
_ZIPPED = "memories.json"
#: keys of one of our lines; keys of which a document of another program has one
_OURS = frozenset(("note", "edge", "session", "exchange", "cortex"))
_DOCUMENTS = frozenset(("results", "memories", "observations", "entities"))
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"\A\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class InputLine:
    """A record, or None with its `fault`. `number`: its line, or the last line of its file."""

    number: int
    record: Record | None
    fault: str = ""
    #: the file's name when several are read
    file: str = ""


def read_notes(path: Path) -> Iterator[InputLine]:
    """The records of a file, or of all Markdown files below a folder, edges after the notes. An
    unreadable line gives an item with a `fault`, and the others are still read. Raises NotFound for
    a missing file, BadRequest for an unknown format.
    """
    try:
        if path.is_dir() or path.suffix.lower() in (".md", ".markdown"):
            yield from _read_pages(path)
        elif path.suffix.lower() == ".zip":
            yield from _read_document(path, _in_zip(path))
        else:
            with _open_lines(path) as file:
                yield from _lines(file, path)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise NotFound(f"{path} cannot be read: {reason}.") from error


def _read_pages(path: Path) -> Iterator[InputLine]:
    """The notes of Markdown files, then the edges between them."""
    edges, kinds = list[InputLine](), dict[str, str]()
    pages = _pages(path) if path.is_dir() else iter((path,))
    for page in pages:
        for line in _read_markdown(page, page.relative_to(path).as_posix() if page != path else ""):
            if line.record is not None and "edge" in line.record:
                edges.append(line)
                continue
            if line.record is not None:
                kinds[line.record["note"]["title"]] = line.record["note"].get("kind", "fact")
            yield line
    for line in edges:
        target = line.record["edge"]["target"] if line.record else ""
        if isinstance(target, dict):
            target["kind"] = kinds.get(target["title"], "fact")
        yield line


@contextlib.contextmanager
def _open_lines(path: Path) -> Iterator[BinaryIO]:
    """A file of lines, unpacked where it is packed."""
    with files.open_plain(path) as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked  # type: ignore[misc]
        else:
            yield file


def _in_zip(path: Path) -> bytes:
    """The memories of an export of OpenMemory. Raises BadRequest for another archive."""
    with files.open_plain(path) as file, zipfile.ZipFile(file) as archive:
        name = next((name for name in archive.namelist() if name.rpartition("/")[2] == _ZIPPED), "")
        if not name:
            raise BadRequest(
                f"{path} has no {_ZIPPED}: of archives, only exports of OpenMemory can be imported."
            )
        with archive.open(name) as member:
            return member.read(LINE_BYTES_MAX + 1)


def _read_document(path: Path, raw: bytes) -> Iterator[InputLine]:
    """The records of another program's export. Raises BadRequest for an unknown one."""
    if len(raw) > LINE_BYTES_MAX:
        raise BadRequest(f"{path} has more than {LINE_BYTES_MAX} bytes; import it in parts.")
    try:
        records = foreign_records(remove_secrets_in(orjson.loads(raw))[0])
    except orjson.JSONDecodeError:
        records = None
    if records is None:
        raise BadRequest(_unknown(path))
    for number, record in enumerate(records, 1):
        yield InputLine(number, record)


def _unknown(path: Path) -> str:
    return (
        f"{path} is in no format that can be imported: our lines of JSON, Markdown (.md), memory.json of the reference "
        "server, or an export of mem0, OpenMemory, mcp-memory-service, engram or claude-mem."
    )


def _pages(folder: Path) -> Iterator[Path]:
    """The Markdown files below a folder, our notes by number; links are not followed."""
    for name, info in sorted(
        files.entries(folder).items(), key=lambda entry: (number_in(entry[0]), entry[0])
    ):
        if stat.S_ISDIR(info.st_mode):
            yield from _pages(folder / name)
        elif name.endswith(".md"):
            yield folder / name


def _lines(file: BinaryIO, path: Path) -> Iterator[InputLine]:
    kinds: dict[str, str] = {}
    number, is_recognised = 0, False
    if (document := _whole_document(file)) is not None:
        yield from _read_document(path, document)
        return
    while raw := file.readline(LINE_BYTES_MAX):
        number += 1
        if not raw.strip():
            continue
        try:
            record = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            is_recognised = is_recognised or number > 1 or raw.lstrip().startswith(b"{")
            if not is_recognised:
                raise BadRequest(_unknown(path)) from error
            yield InputLine(number, None, "it is no complete JSON object")
            continue
        is_recognised = True
        if isinstance(record, dict) and "type" in record:
            yield _server_line(number, record, kinds)
        elif isinstance(record, dict) and not _OURS & record.keys() and (foreign := foreign_row(record)):
            yield InputLine(number, remove_secrets_in(foreign)[0])
        else:
            yield InputLine(number, record)


def _is_document(record: Any) -> bool:
    """Whether one line of JSON is a whole export of another program."""
    if not isinstance(record, dict) or "type" in record or _OURS & record.keys():
        return False
    return any(isinstance(record.get(name), list) for name in _DOCUMENTS)


def _whole_document(file: BinaryIO) -> bytes | None:
    """The bytes of a file that is one document of JSON; None for lines. It stays at its start."""
    first = b"\n"
    while first and not first.strip():
        first = file.readline(LINE_BYTES_MAX)
    file.seek(0)
    begins = first.lstrip()[:1] in (b"{", b"[")
    try:
        record = orjson.loads(first) if begins else None
        is_document = isinstance(record, list) or _is_document(record)
    except orjson.JSONDecodeError:
        is_document = first.strip() in (b"{", b"[") or _is_json(file)
    if not is_document:
        return None
    raw = file.read(LINE_BYTES_MAX + 1)
    file.seek(0)
    return raw


def _is_json(file: BinaryIO) -> bool:
    """Whether the whole file is one value of JSON; it stays at its start."""
    raw = file.read(LINE_BYTES_MAX + 1)
    file.seek(0)
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return True


def _server_line(number: int, record: Record, kinds: dict[str, str]) -> InputLine:
    """Read a line of the reference server's memory.json. `kinds`: {name: kind} so far."""
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
            relation = relation_of(str(record["relationType"]))
            return InputLine(number, {"edge": {"source": source, "target": target, "relation": relation}})
    except KeyError as error:
        return InputLine(number, None, f"it has no {error.args[0]}")
    return InputLine(
        number, None, f"its type is {str(record['type'])[:40]!r}, which is neither entity nor relation"
    )


def _read_markdown(path: Path, name: str) -> Iterator[InputLine]:
    try:
        raw = files.read_plain(path, MARKDOWN_BYTES_MAX + 1)
    except OSError as error:
        yield InputLine(0, None, f"it cannot be read: {error.strerror or error}", name)
        return
    if len(raw) > MARKDOWN_BYTES_MAX:
        yield InputLine(0, None, f"it has more than {MARKDOWN_BYTES_MAX} bytes", name)
        return
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    last = text.count("\n") + 1
    try:
        for record in _records_of(text, path):
            yield InputLine(last, record, "", name)
    except (yaml.YAMLError, ValueError, RecursionError, BadRequest) as error:
        yield InputLine(1, None, f"its front matter cannot be read: {str(error).splitlines()[0]}", name)


def _records_of(text: str, path: Path) -> Iterator[Record]:
    """The records of a Markdown file. Raises the errors of its front matter."""
    front = _FRONT_MATTER.match(text)
    if path.name.lower() in INSTRUCTIONS and not front:
        for section in sections_of(text, path.name):
            yield {"note": section}
        return
    front_matter = yaml.safe_load(front[1]) if front else {}
    if not isinstance(front_matter, dict):
        raise BadRequest("it is no mapping of names to values")
    # before names are normalised, which could hide a secret from the patterns
    front_matter, _ = remove_secrets_in(front_matter)
    rest = text[front.end() :] if front else text
    if is_ours(front_matter):
        yield from read_file(front_matter, rest)
        return
    note = _note_of(front_matter, rest, remove_secrets(path.stem)[0])
    structure = structure_of(note["body"])
    note |= {"body": structure.body, "facts": [*note["facts"], *structure.facts]}
    note["labels"] = list(dict.fromkeys((*note["labels"], *structure.labels)))
    yield {"note": note}
    for relation, target in structure.relations:
        ends = {
            "source": {"title": note["title"], "kind": note["kind"]},
            "target": {"title": target, "kind": ""},
        }
        yield {"edge": ends | {"relation": relation}}


def _note_of(front_matter: dict[Any, Any], body: str, stem: str) -> Record:
    """The note of any Markdown file. Raises BadRequest for an unusable date."""
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


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [text.strip() for text in value.split(",") if text.strip()]
    return [str(text) for text in value] if isinstance(value, list) else []


def _moment(value: Any, what: str) -> int:
    if isinstance(value, date | datetime):
        value = value.isoformat()
    return read_moment(value, what)
