"""Parts that the answers of several tools share: map, code, sites, tests, calls, notes, the state
of the index; and lines for keys without a form of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cortex.front.text import omissions
from cortex.front.text.lines import FAINT, NUMBER, PATH, STRONG, Page, Span, head, numbered, place
from cortex.front.text.notes import draw_row
from cortex.front.text.values import Answer, count, flat, is_empty
from cortex.front.tools.memory.fence import unmarked

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
    for block in sorted(blocks, key=lambda block: block["start"]):
        before = [row for row in rows if row[0] < block["start"]]
        numbered(page, before)
        rows = rows[len(before) :]
        lines = f"{block['start']}-{block['end']}" if block["end"] > block["start"] else f"{block['start']}"
        page.add("  ", (lines, NUMBER), f" {block['text'].rstrip(' …')} …")
    numbered(page, rows)


def entry_place(entry: Answer) -> list[Span]:
    return place(entry["file"], entry.get("start", 0), entry.get("end", 0))


#: direction of uses → the verb of their first line
_VERBS = {"callees": "called by", "implementations": "implementing", "types": "using"}


def draw_sites(page: Page, sites: Answer | list[Answer]) -> None:
    """Draw the places that use each definition as grep prints them: shipped code first, then tests,
    then what names it without a resolved use.
    """
    for block in [sites] if isinstance(sites, Mapping) else sites:
        _draw_uses(page, block)


def _draw_uses(page: Page, uses: Answer) -> None:
    total = uses.get("total", 0)
    least = "at least " if uses.get("at_least") else ""
    verb = _VERBS.get(uses.get("direction", ""), "using")
    at = f" ({uses['at']})" if uses.get("at") else ""
    page.add((f"{least}{total} place{'s' * (total != 1)} {verb} {uses.get('of', '')}{at}", STRONG))
    in_tests = False
    for file in sorted(uses.get("files", ()), key=lambda file: bool(file.get("test"))):
        if file.get("test") and not in_tests:
            in_tests = True
            page.add(("in tests", STRONG))
        unsure = "one of several" if file.get("unsure") else ""
        bare = [site for site in file["sites"] if not site.get("text")]
        for site in (site for site in file["sites"] if site.get("text")):
            draw_site(page, file["file"], site["line"], site.get("name", ""), site["text"], unsure)
        if bare:
            lines = ", ".join(str(site["line"]) for site in bare)
            page.add((file["file"], PATH), ": ", (lines, NUMBER), (f"  {unsure}".rstrip(), FAINT))
    for row in uses.get("counts", ()):
        page.add((row["file"], PATH), f": {row['count']} places")
    if further := uses.get("further"):
        page.add((f"{further['total']} more use those", STRONG))
        for file in further["files"]:
            page.add((file["file"], PATH), f": {', '.join(file['names'])}")
    if unresolved := uses.get("unresolved"):
        _draw_unresolved(page, unresolved)
    if following := uses.get("next_offset"):
        page.note(f"There are more: {page.option('offset')} {following}.")


def _draw_unresolved(page: Page, unresolved: Answer) -> None:
    least = "at least " if unresolved.get("at_least") else ""
    imports = f", and {unresolved['imports']} imports" if unresolved.get("imports") else ""
    page.add((f"{least}{unresolved['total']} more places name it, unresolved{imports}", FAINT))
    for at in unresolved.get("places", ()):
        if isinstance(at, str):
            page.add(f"  {at}")
        else:
            draw_site(page, at["file"], at.get("line", 0), "", at.get("text", ""), margin="  ")


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
            _draw_item(page, row, f"{margin}  ")
    elif isinstance(value, str) and "\n" in value:
        page.add((f"{margin}{label}:", STRONG))
        for line in value.splitlines():
            page.add(f"{margin}{line}")
    else:
        page.add((f"{margin}{label}: ", STRONG), flat(value))


def _draw_item(page: Page, row: Any, margin: str) -> None:
    if isinstance(row, Mapping) and "title" in row and "id" in row:
        draw_row(page, row, margin)
    else:
        page.add(f"{margin}{flat(row)}")
