"""The places that use a definition, as an answer lists them: lines of code while they fit, then
places by file, then numbers by file. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from cortex.terms.inline_tests import is_test_code
from cortex.terms.paths import is_built, is_unshipped

#: characters of a line of code in the answer
LINE_CHARS = 140
#: share of the bytes that code may take even if places are then left out
CODE_SHARE = 0.3
#: unresolved uses that are shown with their line
UNRESOLVED_SHOWN = 5
#: bytes of a place, of a line number in a list, of a number of places, and of a heading
_PLACE, _NUMBER, _COUNT, _HEAD = 10, 6, 14, 80

#: (file, line)
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Site:
    """A place that uses a definition. `name`: the definition around it; `unsure`: the call may mean
    another definition of that name.
    """

    file: str
    line: int
    name: str
    text: str = ""
    unsure: bool = False

    @property
    def place(self) -> Place:
        return self.file, self.line

    @property
    def is_test(self) -> bool:
        return is_test_code(self.file, self.name)

    @property
    def rank(self) -> int:
        """0 for shipped code, 1 for examples and scripts, 2 for tests, 3 for built files."""
        if is_built(self.file):
            return 3
        return 2 if self.is_test else int(is_unshipped(self.file))

    @property
    def order(self) -> tuple[int, str, int]:
        return self.rank, self.file, self.line

    @property
    def group(self) -> tuple[str, bool, bool]:
        return self.file, self.is_test, self.unsure

    def render(self, *, with_code: bool) -> dict[str, Any]:
        if not with_code:
            return {"line": self.line}
        named = {"name": self.name} if self.name else {}
        return {"line": self.line, **named, "text": self.text}


@dataclass(slots=True)
class Uses:
    """The uses of one definition. `further`: (file, name) of the users of its users; `textual`: the
    sites are lines that hold the word; `truncated`: there are more.
    """

    sites: list[Site] = field(default_factory=list)
    further: dict[tuple[str, str], None] = field(default_factory=dict)
    imports: list[Place] = field(default_factory=list)
    #: name, total and places, as the graph has them; the first of them with their code
    unresolved: dict[str, Any] = field(default_factory=dict)
    unresolved_shown: list[Site] = field(default_factory=list)
    textual: bool = False
    truncated: bool = False


def render(found: Uses, offset: int, max_bytes: int) -> dict[str, Any]:
    """Return the uses as an answer has them, in about `max_bytes`: `total`; sites by file, with
    their code as far as that fits together with the places of the others; else `counts`.
    """
    sites = found.sites[offset:]
    unresolved = _render_unresolved(found) if not offset else {}
    left = max_bytes - _HEAD - sum(len(str(place)) for place in unresolved.get("places", ()))
    with_code, with_place, left = _count_fitting(sites, left, alone=offset > 0)
    block: dict[str, Any] = {"total": len(found.sites), "files": _group(sites, with_code, with_place)}
    if not offset and (counts := _count_by_file(sites[with_place:], max(left, max_bytes // 4))):
        block["counts"] = counts
    if with_code < len(sites):
        block["next_offset"] = offset + with_code
    block |= {"at_least": True} if found.truncated else {}
    block |= {"textual": True} if found.textual else {}
    if unresolved:
        files, used = _list_places(found.unresolved["places"][len(found.unresolved_shown) :], left)
        left -= used
        block["unresolved"] = unresolved | ({"files": files} if files else {})
    if found.imports and not offset:
        files, used = _list_places(found.imports, left)
        left -= used
        block["imports"] = {"total": len(found.imports)} | ({"files": files} if files else {})
    if found.further and not offset:
        block["further"] = _list_names(found.further, max(left, max_bytes // 4))
    return block


def _render_unresolved(found: Uses) -> dict[str, Any]:
    if not found.unresolved:
        return {}
    places = [{"file": site.file, "line": site.line, "text": site.text} for site in found.unresolved_shown]
    return {"name": found.unresolved["name"], "total": found.unresolved["total"], "places": places}


def _count_fitting(sites: Sequence[Site], max_bytes: int, *, alone: bool) -> tuple[int, int, int]:
    """Return (number of leading sites that fit with code, number that fit at all, bytes left). A
    part of the bytes is for code, whatever follows; `alone`: all of them.
    """
    files = [site.file for site in sites]
    path = [0 if at and file == files[at - 1] else len(file) for at, file in enumerate(files)]
    code = [len(site.name) + len(site.text) + _PLACE + path[at] for at, site in enumerate(sites)]
    place = [_NUMBER + length for length in path]
    rest = 0 if alone else sum(place)
    used = shown = 0
    while shown < len(sites):
        rest -= 0 if alone else place[shown]
        if used + code[shown] + rest > max_bytes and used + code[shown] > max_bytes * CODE_SHARE:
            break
        used += code[shown]
        shown += 1
    with_place = shown
    while not alone and with_place < len(sites) and used + place[with_place] <= max_bytes:
        used += place[with_place]
        with_place += 1
    return shown or min(1, len(sites)), max(with_place, min(1, len(sites))), max_bytes - used


def _group(sites: Sequence[Site], with_code: int, with_place: int) -> list[dict[str, Any]]:
    """Return the sites by file, in their order."""
    files: list[dict[str, Any]] = []
    numbered = enumerate(sites[:with_place])
    for (file, is_test, unsure), group in groupby(numbered, key=lambda item: item[1].group):
        rows = [site.render(with_code=at < with_code) for at, site in group]
        marks = ({"test": True} if is_test else {}) | ({"unsure": True} if unsure else {})
        marks |= {"built": True} if is_built(file) else {}
        files.append({"file": file, "sites": rows, **marks})
    return files


def _count_by_file(sites: Iterable[Site], max_bytes: int) -> list[dict[str, Any]]:
    """Return the numbers of sites by file; where they do not fit, the last number is that of all
    other files.
    """
    counts: dict[str, int] = {}
    for site in sites:
        counts[site.file] = counts.get(site.file, 0) + 1
    listed: list[dict[str, Any]] = []
    for file, count in counts.items():
        max_bytes -= len(file) + _COUNT
        if max_bytes < 0:
            others = list(counts.values())[len(listed) :]
            return [*listed, {"more_files": len(others), "count": sum(others)}]
        listed.append({"file": file, "count": count})
    return listed


def _list_places(places: Sequence[Place], max_bytes: int) -> tuple[list[dict[str, Any]], int]:
    """Return (lines by file, their bytes); nothing if they do not fit."""
    files: dict[str, list[int]] = {}
    for file, line in places:
        files.setdefault(file, []).append(line)
    used = sum(len(file) + _NUMBER * len(lines) for file, lines in files.items())
    if used > max_bytes:
        return [], 0
    return [{"file": file, "lines": lines} for file, lines in files.items()], used


def _list_names(further: Iterable[tuple[str, str]], max_bytes: int) -> dict[str, Any]:
    """Return the names of the users of the users, by file, as many as fit."""
    names = list(further)
    files: dict[str, list[str]] = {}
    for file, name in names:
        max_bytes -= len(name) + 2 + (0 if file in files else len(file))
        if max_bytes < 0:
            break
        files.setdefault(file, []).append(name)
    return {
        "total": len(names),
        "files": [{"file": file, "names": listed} for file, listed in files.items()],
    }


def cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LINE_CHARS else f"{text[:LINE_CHARS]}…"
