"""Outlines of files and folders to read: the lines of an answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from cortex.ask.exploring.functions import Function
from cortex.ask.lines.indented_blocks import Block
from cortex.ask.query_context import Turn
from cortex.terms.budget import first_fitting
from cortex.terms.kinds import DATA_KINDS, TYPE_KINDS
from ipc.messages import GraphHits, OutlineSearch

#: letters of a line; bytes of its numbers
TEXT_CHARS, NUMBER_BYTES = 88, 14
#: depth from which on definitions are left out before data
DATA_RANK = 10
#: names of one file in the outline of a folder; files without definitions that it names
NAMES_MAX, OTHERS_MAX = 8, 8
#: bytes of a graph's outline for each byte of an answer: it holds signatures, too
GRAPH_SHARE = 6

_HEADING = re.compile(r"(#{1,6})\s+(?P<text>.*\S)")
_FENCE = re.compile(r"\s*(```|~~~)")
#: a comment of markup, such as a licence, and the beginning of an element
_COMMENT, _ELEMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), re.compile(r"\s*<[A-Za-z]")
#: elements that make an outline: a file's root has its children as well
ELEMENTS_MIN = 4
#: endings of documents with headings of `#`
_MARKDOWN = (".md", ".mdx", ".markdown")
#: lines for each row of an outline by the margin, from which on it is one by indents; indents that
#: are tried, and rows of such an outline
SPARSE_LINES, INDENTS_MAX, INDENTED_MAX = 40, 4, 80
#: rows of an outline of YAML, which shows all keys of an indent or none: services, jobs
YAML_ROWS_MAX = 120
#: a line that ends something, or begins nothing
_CLOSING = re.compile(r"\s*(?:end\b|[\]})]|</|#|//|/?\*|<!--|<\?php\s*$|$)")

#: bytes of an outline whose sections are compared with a question
SECTIONS_BYTES = 200_000

Row = dict[str, Any]


def outline_file(definitions: Sequence[Function], max_bytes: int) -> list[Row]:
    """Return a row for each definition, by line; of too many, without inner ones and data."""
    ordered = sorted(definitions, key=lambda definition: (definition.start, -definition.end))
    rows = [(_rank(group[0]), _row_of(group)) for group in _join_short(ordered)]
    for most in sorted({rank for rank, _ in rows}, reverse=True):
        fitting = [row for rank, row in rows if rank <= most]
        if sum(map(_size, fitting)) <= max_bytes:
            return fitting
    fitting = [row for rank, row in rows if rank == min(rank for rank, _ in rows)] if rows else []
    return first_fitting(fitting, _size, max_bytes)


def outline_document(lines: Mapping[int, str], path: str, max_bytes: int) -> list[Row]:
    """Return a row for each section of a document, else for each paragraph at the margin; of a file
    with few of them, one long call or list, for its inner lines: keys, tables, routes.
    """
    numbers = list(lines)
    starts = _find_starts(lines, path)
    if len(starts) * SPARSE_LINES < len(numbers) or len(starts) == 1:
        # of a section its keys suffice
        is_yaml = path.lower().endswith((".yml", ".yaml")) and numbers[0] == 1
        starts = _indented(lines, max_bytes, is_yaml=is_yaml) or starts
    ends = [*(number - 1 for number, _ in starts[1:]), numbers[-1]] if starts else []
    rows = [_row(start, end, text) for (start, text), end in zip(starts, ends, strict=True)]
    return first_fitting(rows, _size, max_bytes)


def sections_of(lines: Mapping[int, str], path: str) -> list[Block]:
    """Return the sections of a document or of data as blocks, of any number."""
    return [(row["start"], row["end"], 0) for row in outline_document(lines, path, SECTIONS_BYTES)]


async def outline_folder(turn: Turn, path: str, max_bytes: int) -> tuple[list[Row], str]:
    """Return (a line of the map for each file below a folder, with its most used definitions; a
    sentence on files that are left out). Raises NotReady.
    """
    search = OutlineSearch(path, GRAPH_SHARE * max_bytes, turn.generation.number)
    hits = await turn.lane("graph", search, GraphHits, ours=True)
    results = [orjson.loads(raw) for raw in hits.results] if hits is not None else []
    named = ({"file": result["file"], "name": _names(result["symbols"])} for result in results)
    rows: list[Row] = first_fitting(
        named, lambda row: len(f"{row['file']}{row['name']}".encode()) + 4, max_bytes
    )
    prefix = f"{path}/" if path else ""
    shown = {row["file"] for row in rows}
    listed = sorted(name for name in turn.context.freshness.listed() if name.startswith(prefix))
    others = [name.removeprefix(prefix) for name in listed if name not in shown]
    if not others:
        return rows, ""
    more = f" and {len(others) - OTHERS_MAX} more" if len(others) > OTHERS_MAX else ""
    return rows, f"Also in {path or 'the project'}: {', '.join(others[:OTHERS_MAX])}{more}."


def _rank(definition: Function) -> int:
    """Return how soon a definition is left out: 0 never."""
    return definition.name.count(".") + DATA_RANK * (definition.kind in DATA_KINDS)


def _join_short(ordered: Iterable[Function]) -> list[list[Function]]:
    """Return the definitions, Ruby's methods of one line below each other in groups that fit a row:
    accessors, associations and scopes.
    """
    groups: list[list[Function]] = []
    for definition in ordered:
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and all(other.file.endswith(".rb") and other.kind == "method" for other in (last, definition))
            and last.start == last.end
            and definition.start == definition.end <= last.end + 1
            and definition.name.rpartition(".")[0] == last.name.rpartition(".")[0]
            and len(_joined([*groups[-1], definition])) <= TEXT_CHARS
        ):
            groups[-1].append(definition)
        else:
            groups.append([definition])
    return groups


def _joined(group: Sequence[Function]) -> str:
    """Return the names of a group, those of writers beside readers once."""
    names = dict.fromkeys(definition.name.rpartition(".")[2].removesuffix("=") for definition in group)
    return "  " * group[0].name.count(".") + ", ".join(names)


def _row_of(group: Sequence[Function]) -> Row:
    text = _joined(group) if len(group) > 1 else _text(group[0])
    return _row(group[0].start, group[-1].end, text)


def _text(definition: Function) -> str:
    text = definition.signature or definition.name.rpartition(".")[2]
    kind = f"{definition.kind} " if definition.kind in TYPE_KINDS else ""
    return "  " * definition.name.count(".") + kind + text.replace("\n", " ")


def _row(start: int, end: int, text: str) -> Row:
    return {
        "start": start,
        "end": end,
        "text": text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 1]}…",
    }


def _size(row: Row) -> int:
    return len(row["text"].encode()) + NUMBER_BYTES


def _find_starts(lines: Mapping[int, str], path: str) -> list[tuple[int, str]]:
    """Return the first line of each section, and its text."""
    if path.lower().endswith(_MARKDOWN):
        return _headings(lines)
    text = "\n".join(lines.values())
    if not text.lstrip("\ufeff \n").startswith("<"):
        return _margins(lines)
    blanked = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text).split("\n")
    rows = [(number, line) for number, line in zip(lines, blanked, strict=True) if _ELEMENT.match(line)]
    indents = sorted({len(line) - len(line.lstrip()) for _, line in rows})
    for indent in indents:
        starts = [(number, line) for number, line in rows if len(line) - len(line.lstrip()) <= indent]
        if len(starts) >= ELEMENTS_MIN or indent == indents[-1]:
            return starts
    return _margins(lines)


def _headings(lines: Mapping[int, str]) -> list[tuple[int, str]]:
    headings = []
    fenced = False
    for number, text in lines.items():
        fenced ^= _FENCE.match(text) is not None
        if not fenced and (match := _HEADING.match(text)):
            headings.append((number, "  " * (len(match[1]) - 1) + match["text"]))
    return headings


def _margins(lines: Mapping[int, str]) -> list[tuple[int, str]]:
    """Return the lines at the margin that follow a blank one, and the first."""
    return [
        (number, text)
        for number, text in lines.items()
        if text.strip() and not text[:1].isspace() and not lines.get(number - 1, "").strip()
    ]


def _indented(lines: Mapping[int, str], max_bytes: int, *, is_yaml: bool) -> list[tuple[int, str]]:
    """Return the lines down to the deepest indent of which all fit, else, but not in YAML, those of
    them that follow a blank line or a comment.
    """
    indents = {
        number: len(text) - len(text.lstrip()) for number, text in lines.items() if not _CLOSING.match(text)
    }
    best: list[tuple[int, str]] = []
    for most in sorted(set(indents.values()))[:INDENTS_MAX]:
        every = [(number, lines[number].rstrip()) for number, indent in indents.items() if indent <= most]
        first = [row for row in every if row[0] - 1 not in indents]
        for rows in (every,) if is_yaml else (every, first):
            if (
                len(rows) <= (YAML_ROWS_MAX if is_yaml else INDENTED_MAX)
                and sum(_size(_row(0, 0, text)) for _, text in rows) <= max_bytes
            ):
                best = max(best, rows, key=len)
                break
    return best


def _names(symbols: Sequence[Row]) -> str:
    outer = [symbol for symbol in symbols if "." not in symbol["name"]] or list(symbols)
    best = sorted(outer, key=lambda symbol: -symbol.get("references", 0))[:NAMES_MAX]
    names = [
        f"{symbol['name']} {symbol['lines'][0]}"
        for symbol in sorted(best, key=lambda symbol: symbol["lines"][0])
    ]
    return ", ".join([*names, *(["…"] if len(outer) > len(best) else [])])
