"""Parts that the answers of several tools share: map, code, sites, tests, calls, notes, the state
of the index; and lines for keys without a form of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from cortex.front.text import omissions
from cortex.front.text.lines import (
    FAINT,
    GAP,
    NUMBER,
    STRONG,
    Answer,
    Page,
    Span,
    count,
    flat,
    head,
    is_empty,
    numbered,
    place,
)
from cortex.front.text.notes import draw_row
from cortex.front.tools.memory.fence import unmarked

#: draws a part of an answer from the value of its key
Part = Callable[[Page, Any], None]


def draw_map(page: Page, entries: Iterable[Answer]) -> None:
    """Draw places by file, the file of the best first: a path costs more tokens than a name."""
    by_file: dict[str, list[Answer]] = {}
    for entry in entries:
        by_file.setdefault(entry["file"], []).append(entry)
    for file, rows in by_file.items():
        if len(rows) > 1:
            page.add(*place(file, 0))
        for row in rows:
            spans = entry_place(row)
            if len(rows) > 1:
                spans = [("  ", ""), (spans[1][0].removeprefix(":"), NUMBER)] if spans[1:] else []
            head(page, spans, row.get("name", ""), row.get("note", ""))


def draw_code(page: Page, entries: Iterable[Answer]) -> None:
    """Draw each definition: its place, its outline, its pieces with line numbers."""
    for entry in entries:
        note = entry.get("note", "")
        head(page, entry_place(entry), entry.get("name", ""), note, stale=entry.get("stale", False))
        rows: list[tuple[int, str]] = []
        for piece in entry.get("pieces", ()):
            first, texts = piece["start"], piece["text"].split("\n")
            rows += [(0, GAP)] if rows and not first else []
            rows += [(first + at if first else 0, text) for at, text in enumerate(texts)]
        covered = {number for number, _ in rows}
        blocks = [block for block in entry.get("outline", ()) if block["start"] not in covered]
        _draw_with_outline(page, rows, blocks)


def _draw_with_outline(page: Page, rows: list[tuple[int, str]], blocks: list[Answer]) -> None:
    """Draw lines of code, with the blocks that are not shown between them, by line. A block has the
    indentation of its code.
    """
    has_code = bool(rows)
    for block in sorted(blocks, key=lambda block: block["start"]):
        before = [row for row in rows if row[0] < block["start"]]
        numbered(page, before)
        rows = rows[len(before) :]
        first, last, text = block["start"], block["end"], block["text"]
        lines = f"{first}-{last}" if last > first else f"{first}"
        if has_code and (last > first or text.endswith(GAP)):
            text = f"{text.rstrip(GAP).rstrip() or text} {GAP}"
        page.add("  ", (lines, NUMBER), f" {text}")
    numbered(page, rows)


def entry_place(entry: Answer) -> list[Span]:
    return place(entry["file"], entry.get("start", 0), entry.get("end", 0))


@dataclass(frozen=True, slots=True)
class Spot:
    """A place with the definition around it, its line of code, and further words."""

    path: str
    line: int
    name: str = ""
    code: str = ""
    remarks: Sequence[str] = ()
    #: lines around it, by number
    block: Mapping[int, str] = field(default_factory=dict)


def draw_spots(page: Page, spots: Iterable[Spot], margin: str = "") -> None:
    """Draw places as grep prints them, `path:line  Owner.name: code`; several of one file below its
    path.
    """
    for path, group in groupby(spots, key=lambda spot: spot.path):
        rows = list(group)
        if len(rows) == 1:
            _draw_spot(page, [margin, *place(path, rows[0].line)], rows[0], f"{margin}    ")
            continue
        page.add(margin, *place(path, 0))
        for row in rows:
            _draw_spot(page, [f"{margin}  ", (str(row.line), NUMBER)], row, f"{margin}      ")


def _draw_spot(page: Page, start: Sequence[str | Span], spot: Spot, margin: str) -> None:
    code = spot.code.strip()
    label = f"  {spot.name}" if spot.name else ""
    page.add(*start, f"{label}: {code}" if code else label, *((f"  {word}", FAINT) for word in spot.remarks))
    numbered(page, sorted(spot.block.items()), {spot.line}, margin=margin)


#: remark about a site that may use another definition of the same name
UNSURE = "may be another's"
#: direction → the description of its sites
_HEADINGS = {
    "callers": "uses of",
    "types": "uses of",
    "callees": "calls in",
    "implementations": "implementations of",
}


def draw_sites(page: Page, sites: Answer | Sequence[Answer]) -> None:
    """Draw the uses of each meaning of a symbol, equal ones once: those of an interface are also
    those of its implementations.
    """
    blocks = [sites] if isinstance(sites, Mapping) else sites
    for at, block in enumerate(blocks):
        same = (other for other in blocks[:at] if other["files"] == block["files"] != [])
        _draw_uses(page, block, next(same, None))


def _draw_uses(page: Page, block: Answer, same: Answer | None = None) -> None:
    more = " or more" if block.get("at_least") else ""
    heading, name = _HEADINGS.get(block.get("direction", "callers"), "places of"), block["of"]
    if block.get("textual"):
        heading = "lines with"
    page.add(
        (f"{heading} {name}", STRONG),
        *_behind(block.get("at", "")),
        _behind_overloads(block),
        (f": {block['total']}{more}", STRONG),
        f", as of {same['of'] if same['of'] != name else same.get('at', name)}" if same else "",
    )
    if decorators := block.get("decorators"):
        listed = ", ".join(f"{row['text']} (line {row['line']})" for row in decorators)
        page.add(f"registered or wrapped by {listed}, which may call it")
    if same is None:
        _draw_places(page, block)
    if imports := block.get("imports"):
        page.add((count(imports["total"], "import"), STRONG))
        for file in imports.get("files", ()):
            _draw_lines(page, file)
    if further := block.get("further"):
        page.add((f"{further.get('steps', '2')} steps away: {further['total']}", STRONG))
        for file in further["files"]:
            names = ", ".join(filter(None, file["names"]))  # the use of a whole file has no name
            page.add("  ", *place(file["file"], 0), f": {names}" if names else "")
    if unresolved := block.get("unresolved"):
        _draw_unresolved(page, unresolved)
    for other in block.get("others", ()):
        uses = count(other["total"], "use")
        page.add((f"{uses} of another overload", STRONG), *_behind(other["at"], "; ask for "))
    if following := block.get("next_offset"):
        page.note(f"There are more: {page.option('offset')} {following}.")


def _draw_places(page: Page, block: Answer) -> None:
    """Draw places by file: shipped code, tests, built files; numbers of those that did not fit."""
    kind = ""
    files = block.get("files", ())
    for file in sorted(files, key=lambda file: (file.get("built", False), file.get("test", False))):
        before, kind = kind, "in built files" if file.get("built") else "in tests" * bool(file.get("test"))
        if kind != before:
            page.add((kind, STRONG))
        rows = file["sites"]
        remarks = (UNSURE,) if file.get("unsure") else ()
        draw_spots(
            page,
            [
                Spot(
                    file["file"],
                    row["line"],
                    row.get("name", ""),
                    row.get("text", ""),
                    (*remarks, *([f"→ {row['overload']}"] if "overload" in row else [])),
                )
                for row in rows
                if "text" in row or "name" in row
            ],
        )
        if bare := [row for row in rows if not ("text" in row or "name" in row)]:
            _draw_lines(page, {"file": file["file"], "lines": bare}, remarks)
    for row in block.get("counts", ()):
        where = place(row["file"], 0) if "file" in row else [count(row["more_files"], "more file")]
        page.add(*where, f": {count(row['count'], 'place')}")


def _draw_lines(page: Page, file: Answer, remarks: Iterable[str] = ()) -> None:
    """Draw lines of a file without their code, `path: 12, 40`; after each group of lines the line
    of the overload that they use, `12, 40 → 119; 77 → 97`.
    """
    groups: dict[int, list[str]] = {}
    for row in file["lines"]:
        line, overload = (row["line"], row.get("overload", 0)) if isinstance(row, Mapping) else (row, 0)
        groups.setdefault(overload, []).append(str(line))
    lists = [", ".join(lines) + (f" → {overload}" if overload else "") for overload, lines in groups.items()]
    page.add(*place(file["file"], 0), f": {'; '.join(lists)}", *((f"  {word}", FAINT) for word in remarks))


def _behind(at: str, before: str = ", ") -> list[Span]:
    path, _, line = at.rpartition(":")
    return [(before, ""), *place(path, int(line))] if line.isdecimal() else []


def _behind_overloads(block: Answer) -> str:
    """Return the places of the other overloads: `, 40, store/disk.cs:12`."""
    file, text = block.get("at", "").rpartition(":")[0], ""
    for at in block.get("overloads", ()):
        path, _, line = at.rpartition(":")
        text += f", {line if path == file else at}"
        file = path
    return text + (f" and {block['more_overloads']} more" if block.get("more_overloads") else "")


def _draw_unresolved(page: Page, unresolved: Answer) -> None:
    """Draw the places that name a definition without a resolved use."""
    more = " or more" if unresolved.get("at_least") else ""
    if total := unresolved.get("total", 0):
        named = "more places name" if total > 1 else "more place names"
        page.add((f"{total}{more} {named} {unresolved.get('name', 'it')}, unresolved", STRONG))
    rows = [row if isinstance(row, Mapping) else {"file": row} for row in unresolved.get("places", ())]
    draw_spots(page, [Spot(row["file"], row.get("line", 0), "", row.get("text", "")) for row in rows])
    for file in unresolved.get("files", ()):
        _draw_lines(page, file)


def _draw_elsewhere(page: Page, others: Answer) -> None:
    """Draw the lines with the name that are none of the uses above, and the numbers of the rest."""
    total = others["total"]
    number = f"{total} or more" if others.get("at_least") else total or "no"
    kinds = (
        ("tests", "in tests"),
        ("texts", "in comments, strings and documents"),
        ("namesakes", "other definitions"),
    )
    rest = ", ".join(f"{others[key]} {what}" for key, what in kinds if others.get(key))
    noun = "other lines" if total > 1 or others.get("at_least") else "other line"
    page.add((f"{others['name']} on {number} {noun} of shipped code", STRONG), f"; {rest}" * bool(rest))
    _draw_places(page, others)


def draw_tests(page: Page, tests: Iterable[Any]) -> None:
    page.add(("tests", STRONG))
    for test in tests:
        if isinstance(test, str):
            page.add(f"  {test}")
        else:
            names = test.get("tests") or [test.get("name", "")]
            spans = place(test["file"], test.get("line", test.get("start", 0)), test.get("end", 0))
            page.add("  ", *spans, f"  {', '.join([*test.get('why', ()), *names])}".rstrip())


def draw_calls(page: Page, calls: Iterable[Any]) -> None:
    """Draw definitions that the shown code calls, one a line."""
    page.add(("calls", STRONG))
    for call in calls:
        if isinstance(call, str):
            page.add(f"  {call}")
        else:
            page.add("  ", *entry_place(call), f"  {call.get('name', '')}")


def draw_notes(page: Page, notes: Any) -> None:
    """Draw sentences, or the notes of memory about places."""
    if isinstance(notes, Mapping):
        for path, place_notes in notes.items():
            number = place_notes["count"]
            page.add(*place(path, 0), f": {count(number, 'note')}")
            for line in place_notes["best"]:
                page.add((f"  {unmarked(line)}", FAINT))
    else:
        page.note(*notes)


def draw_decisions(page: Page, decisions: Iterable[Answer]) -> None:
    for decision in decisions:
        files = ", ".join(decision["files"])
        page.add((f"decision #{decision['number']} about {files}: {unmarked(decision['title'])}", FAINT))


def draw_index(page: Page, index: Answer) -> None:
    """Add gaps of the index to the notes; nothing for a complete answer."""
    page.note(index.get("message", ""))
    if index.get("pending_count"):
        files = count(index["pending_count"], "file")
        page.note(f"Not in the index yet: {', '.join(index['pending'])} ({files}).")
    if index.get("degraded"):
        page.note(f"Without an answer from: {', '.join(index['degraded'])}.")


def note(page: Page, sentence: str) -> None:
    page.note(sentence)


#: key → its part, in the order of the text
COMMON: dict[str, Part] = {
    "map": draw_map,
    "sites": draw_sites,
    "elsewhere": _draw_elsewhere,
    "unresolved": _draw_unresolved,
    "code": draw_code,
    "calls": draw_calls,
    "tests": draw_tests,
    "notes": draw_notes,
    "decisions": draw_decisions,
    "suggestion": note,
    "next": note,
    "note": note,
    "message": note,
    "memory": note,
    "index": draw_index,
}


@dataclass(frozen=True, slots=True)
class Drawer:
    """The form of a tool's answers: `body` draws the keys in `keys` if the answer has a list or a
    text in one of `needs`; common parts and lines for unknown keys follow.
    """

    body: Callable[[Page, Answer], None] = lambda _page, _answer: None
    keys: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()

    def draw(self, page: Page, answer: Answer) -> None:
        drawn: frozenset[str] = frozenset()
        if any(isinstance(answer.get(key), (list, tuple, str)) for key in self.needs):
            self.body(page, answer)
            drawn = self.keys
        for key, part in COMMON.items():
            if key not in drawn and (value := answer.get(key)):
                if page.body and key in ("code", "sites"):
                    page.add("")
                part(page, value)
        unknown = answer.keys() - drawn - COMMON.keys() - omissions.EVERYWHERE.keys()
        for key in (key for key in answer if key in unknown):
            draw_value(page, key, answer[key])


def draw_value(page: Page, key: str, value: Any, margin: str = "") -> None:
    """Draw a key and its value as lines; nothing for an empty value."""
    label = key.replace("_", " ")
    if is_empty(value) or key in omissions.FIELDS:
        return
    if isinstance(value, Mapping):
        page.add((f"{margin}{label}", STRONG))
        for name, inner in value.items():
            draw_value(page, str(name), inner, f"{margin}  ")
    elif isinstance(value, list) and any(isinstance(row, (Mapping, list)) for row in value):
        page.add((f"{margin}{label}", STRONG))
        for row in value:
            if isinstance(row, Mapping) and "title" in row and "id" in row:
                draw_row(page, row, f"{margin}  ")
            else:
                page.add(f"{margin}  {flat(row)}")
    elif isinstance(value, str) and "\n" in value:
        page.add((f"{margin}{label}:", STRONG))
        for line in value.splitlines():
            page.add(f"{margin}{line}")
    else:
        page.add((f"{margin}{label}: ", STRONG), flat(value))
