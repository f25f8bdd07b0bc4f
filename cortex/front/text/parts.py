"""Parts that the answers of several tools share: map, code, sites, tests, calls, notes, the state
of the index; and lines for keys without a form of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cortex.front.text import omissions
from cortex.front.text.lines import FAINT, NUMBER, STRONG, Page, Span, head, numbered, place, width_of
from cortex.front.tools.memory.fence import unmarked

Answer = Mapping[str, Any]
#: draws a part of an answer from the value of its key
Part = Callable[[Page, Any], None]


def draw_map(page: Page, entries: Iterable[Answer]) -> None:
    for entry in entries:
        head(page, entry_place(entry), entry.get("name", ""), entry.get("note", ""))


def draw_code(page: Page, entries: Iterable[Answer]) -> None:
    """Draw each definition: its place, its outline, its pieces with line numbers."""
    for entry in entries:
        head(page, entry_place(entry), entry.get("name", ""), stale=entry.get("stale", False))
        rows: list[tuple[int, str]] = []
        for piece in entry.get("pieces", ()):
            first, texts = piece["start"], piece["text"].split("\n")
            rows += [(first + at if first else 0, text) for at, text in enumerate(texts)]
        covered = {number for number, _ in rows}
        blocks = [block for block in entry.get("outline", ()) if block["start"] not in covered]
        _draw_with_outline(page, rows, blocks)


def _draw_with_outline(page: Page, rows: list[tuple[int, str]], blocks: list[Answer]) -> None:
    """Draw lines of code, with the blocks that are not shown between them, by line."""
    width = width_of(rows)
    for block in sorted(blocks, key=lambda block: block["start"]):
        before = [row for row in rows if row[0] < block["start"]]
        numbered(page, before, width=width)
        rows = rows[len(before) :]
        lines = f"{block['start']}-{block['end']}" if block["end"] > block["start"] else f"{block['start']}"
        page.add("  ", (lines, NUMBER), f" {block['text'].rstrip()} …")
    numbered(page, rows, width=width)


def entry_place(entry: Answer) -> list[Span]:
    return place(entry["file"], entry.get("start", 0), entry.get("end", 0))


#: direction of cortex_uses → what its places do
_USES = {
    "callees": "calls in {}",
    "implementations": "implementations of {}",
    "types": "uses of the type {}",
}


def draw_sites(page: Page, blocks: Iterable[Answer]) -> None:
    """Draw the places that use each of some symbols."""
    for block in blocks:
        _draw_uses(page, block)


def _draw_uses(page: Page, block: Answer) -> None:
    """Draw the places that use a symbol as grep prints them: shipped code first, then tests; places
    without code and numbers by file in a line for each file.
    """
    what = "lines with the word {}" if block.get("textual") else "uses of {}"
    name = block["of"].rpartition(".")[2] if block.get("textual") else block["of"]
    what = _USES.get(block.get("direction", ""), what).format(name)
    at = f" ({block['at']})" if block.get("at") else ""
    page.add((f"{'at least ' if block.get('at_least') else ''}{block['total']} {what}{at}", STRONG))
    for file in block["files"]:
        doubt = "may mean another of that name" if file.get("unsure") else ""
        with_code = [site for site in file["sites"] if "text" in site]
        for site in with_code:
            draw_site(page, file["file"], site["line"], site.get("name", ""), site["text"], doubt)
        if bare := [site["line"] for site in file["sites"] if "text" not in site]:
            _draw_lines(page, file["file"], bare, doubt)
    for count in block.get("counts", ()):
        where = place(count["file"], 0) if "file" in count else [f"{count['more_files']} more files"]
        page.add(*where, f": {count['count']} places")
    if imports := block.get("imports"):
        page.add((f"{imports['total']} imports of it", STRONG))
        for file in imports.get("files", ()):
            _draw_lines(page, file["file"], file["lines"])
    if further := block.get("further"):
        page.add((f"{further['total']} further away", STRONG))
        for file in further["files"]:
            page.add(*place(file["file"], 0), f": {', '.join(file['names'])}")
    if unresolved := block.get("unresolved"):
        _draw_unresolved(page, unresolved)
    if following := block.get("next_offset"):
        page.note(f"The code of the others: {page.option('offset')} {following}.")


def _draw_unresolved(page: Page, unresolved: Answer) -> None:
    page.add((f"{unresolved['total']} more places name {unresolved['name']}, unresolved", STRONG))
    for site in unresolved["places"]:
        if isinstance(site, str):
            page.add(site)
        else:
            draw_site(page, site["file"], site["line"], "", site["text"])
    for file in unresolved.get("files", ()):
        _draw_lines(page, file["file"], file["lines"])


def _draw_lines(page: Page, path: str, lines: Iterable[int], *more: str) -> None:
    """Draw `path: 12, 40, 77`."""
    listed = (f": {', '.join(map(str, lines))}", NUMBER)
    page.add(*place(path, 0), listed, *((f"  {word}", FAINT) for word in more if word))


def draw_site(page: Page, path: str, line: int, name: str, text: str, *more: str, margin: str = "") -> None:
    """Draw `path:line  Owner.name: code`."""
    spans: list[str | Span] = [margin, *place(path, line)]
    code = text.strip()
    if name:
        spans.append(f"  {name}" + (f": {code}" if code else ""))
    elif code:
        spans.append(f": {code}")
    page.add(*spans, *((f"  {word}", FAINT) for word in more if word))


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
        for path, about in notes.items():
            count = about["count"]
            page.add(*place(path, 0), f": {count} note{'s' if count > 1 else ''}")
            for line in about["best"]:
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
        count = index["pending_count"]
        files = f"{count} file{'s' if count > 1 else ''}"
        page.note(f"Not in the index yet: {', '.join(index['pending'])} ({files}).")
    if index.get("degraded"):
        page.note(f"Without an answer from: {', '.join(index['degraded'])}.")


def note(page: Page, sentence: str) -> None:
    page.note(sentence)


#: key → its part, in the order of the text
COMMON: dict[str, Part] = {
    "map": draw_map,
    "code": draw_code,
    "sites": draw_sites,
    "unresolved": _draw_unresolved,
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
        known: frozenset[str] = frozenset()
        if any(isinstance(answer.get(key), (list, tuple, str)) for key in self.needs):
            self.body(page, answer)
            known = self.keys
        for key, part in COMMON.items():
            if key not in known and (value := answer.get(key)):
                if page.body and key in ("code", "sites"):
                    page.add("")
                part(page, value)
        unknown = answer.keys() - known - COMMON.keys() - omissions.EVERYWHERE.keys()
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
            _draw_item(page, row, f"{margin}  ")
    elif isinstance(value, str) and "\n" in value:
        page.add((f"{margin}{label}:", STRONG))
        for line in value.splitlines():
            page.add(f"{margin}{line}")
    else:
        page.add((f"{margin}{label}: ", STRONG), flat(value))


def _draw_item(page: Page, row: Any, margin: str) -> None:
    if isinstance(row, Mapping) and "title" in row and "id" in row:
        from cortex.front.text.memory import draw_row

        draw_row(page, row, margin)
    else:
        page.add(f"{margin}{flat(row)}")


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, Mapping)) and not value)


def flat(value: Any) -> str:
    """Return a value in one line, as `key value, key value`."""
    if isinstance(value, Mapping):
        shown = ((name, inner) for name, inner in value.items() if not is_empty(inner))
        return ", ".join(f"{str(name).replace('_', ' ')} {flat(inner)}" for name, inner in shown)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(flat, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("\n", " ")
