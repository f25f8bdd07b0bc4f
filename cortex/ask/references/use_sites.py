"""The places that use a definition, as an answer lists them: shipped code first; lines of code
while they fit, then places by file, then numbers by file. Many sites in tests are places alone.
Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from cortex.terms.budget import Budget, first_fitting
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.paths import is_built, is_unshipped

#: characters of a line of code in the answer
LINE_CHARS = 140
#: share of the bytes that code may take where not even the places of all sites fit
CODE_SHARE = 0.3
#: sites in tests, and in built files, that are shown with their code; more are places alone
TESTS_WITH_CODE = 8
#: unresolved uses that are shown with their line, and the share of the bytes for them
UNRESOLVED_SHOWN, UNRESOLVED_SHARE = 5, 0.25
#: share of the bytes for the users of users, and for numbers by file
FURTHER_SHARE, COUNTS_SHARE = 0.25, 0.2
#: places of overloads in the heading
OVERLOADS_SHOWN = 12
#: bytes of the marks around a site, of a number of places, of a heading, of a remark, and of the
#: headings of tests and built files with the sentence about further sites
_ROW, _COUNT, _HEAD, _REMARK, _FRAME = 8, 14, 40, 20, 80

#: ranks of sites in tests and in built files
TESTS, _BUILT = 2, 3

#: (file, line)
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Site:
    """A place that uses a definition. `name`: the definition around it; `unsure`: the call may mean
    another definition of that name. `ends`: ids of the definitions that it may mean; `overload`:
    the line of the one that it means, 0 for unknown; `accessed`: it has a receiver.
    """

    file: str
    line: int
    name: str
    text: str = ""
    unsure: bool = False
    ends: tuple[str, ...] = ()
    overload: int = 0
    accessed: bool = True

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
            return _BUILT
        return TESTS if self.is_test else int(is_unshipped(self.file))

    @property
    def order(self) -> tuple[int, bool, bool, str, int]:
        return self.rank, self.unsure, not self.accessed, self.file, self.line

    @property
    def group(self) -> tuple[str, bool, bool]:
        return self.file, self.is_test, self.unsure

    def render(self, *, with_code: bool) -> dict[str, Any]:
        row: dict[str, Any] = {"line": self.line}
        if with_code:
            row |= ({"name": self.name} if self.name else {}) | {"text": self.text}
        return row | ({"overload": self.overload} if self.overload else {})

    def size(self, *, with_code: bool) -> int:
        """Return the bytes of the site in an answer, without its path."""
        marks = len(str(self.line)) + (len(str(self.overload)) + 5 if self.overload else 0)
        if not with_code:
            return marks + 2
        return marks + _ROW + _bytes(self.name) + _bytes(self.text) + (_REMARK if self.unsure else 0)


@dataclass(slots=True)
class Uses:
    """The uses of one definition. `further`: (file, name) of the users of its users, up to `steps`
    away; `textual`: the sites are lines that hold the word; `truncated`: there are more; `routed`:
    routes lead to the method, and no shipped code of other files: other lines with its name, such
    as `index`, are of something else.
    """

    sites: list[Site] = field(default_factory=list)
    further: dict[tuple[str, str], None] = field(default_factory=dict)
    steps: int = 2
    imports: list[Place] = field(default_factory=list)
    #: name, total and places, as the graph has them; the first of them with their code
    unresolved: dict[str, Any] = field(default_factory=dict)
    unresolved_shown: list[Site] = field(default_factory=list)
    #: text and line of each decorator of the definition
    decorators: list[dict[str, Any]] = field(default_factory=list)
    textual: bool = False
    truncated: bool = False
    routed: bool = False
    #: sites that are left out: their lines lack the name, as the graph is older than the text
    moved: int = 0

    @property
    def places(self) -> Iterator[Place]:
        """The places of the sites, of the imports, and of the unresolved uses."""
        yield from (site.place for site in self.sites)
        yield from self.imports
        yield from map(tuple, self.unresolved.get("places", ()))


def render(usage: Uses, offset: int, max_bytes: int, head: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the uses as an answer has them, after `head`, within `max_bytes`: `total`; sites by
    file, with their code as far as that fits together with the places of the others; else `counts`
    and `next_offset`. What is not a site comes with the first page alone.
    """
    sites, block = usage.sites[offset:], dict(head or {})
    left = max_bytes - _FRAME - _HEAD - sum(_bytes(str(value)) for value in block.values())
    unresolved = {} if offset else _render_unresolved(usage, int(max_bytes * UNRESOLVED_SHARE))
    if unresolved:
        left -= _HEAD + sum(_bytes(f"{place}") for place in unresolved["places"])
    reserved = 0
    if usage.further and not offset:
        names = sum(_bytes(file) + _bytes(name) + 2 for file, name in usage.further)
        reserved = _HEAD + min(names, int(max_bytes * FURTHER_SHARE))
    with_code, with_place, left = _count_fitting(sites, left - reserved)
    block |= {"total": len(usage.sites), "files": _group(sites, with_code, with_place)}
    if not offset and (counts := _count_by_file(sites[with_place:], left)):
        block["counts"] = counts
    if with_place < len(sites):
        block["next_offset"], left = offset + with_place, 0
    block |= {"at_least": True} if usage.truncated else {}
    block |= {"textual": True} if usage.textual else {}
    if unresolved:
        files, used = _list_places(usage.unresolved["places"][len(unresolved["places"]) :], left)
        left -= used
        block["unresolved"] = unresolved | ({"files": files} if files else {})
    if usage.imports and not offset:
        files, used = _list_places(usage.imports, left)
        left -= used
        block["imports"] = {"total": len(usage.imports)} | ({"files": files} if files else {})
    if usage.further and not offset:
        block["further"] = _list_names(usage.further, reserved - _HEAD + max(0, left))
        block["further"] |= {"steps": f"2 to {usage.steps}"} if usage.steps > 2 else {}
    return block


def render_others(sites: Sequence[Site], max_bytes: int) -> dict[str, Any]:
    """Return sites by file within `max_bytes`, and numbers by file of those that do not fit."""
    with_code, with_place, left = _count_fitting(sites, max_bytes)
    block: dict[str, Any] = {"total": len(sites), "files": _group(sites, with_code, with_place)}
    counts = _count_by_file(sites[with_place:], left)
    return block | ({"counts": counts} if counts else {})


def size_of(block: Any) -> int:
    """Return about the bytes of a rendered block as text: its values, without its keys."""
    if isinstance(block, Mapping):
        return sum(size_of(value) for value in block.values()) + 3
    if isinstance(block, (list, tuple)):
        return sum(map(size_of, block))
    return _bytes(str(block)) + 2


def _bytes(text: str) -> int:
    return len(text.encode())


def _render_unresolved(usage: Uses, max_bytes: int) -> dict[str, Any]:
    if not usage.unresolved:
        return {}
    shown = first_fitting(
        usage.unresolved_shown, lambda site: site.size(with_code=True) + _bytes(site.file), max_bytes
    )
    places = [{"file": site.file, "line": site.line, "text": site.text} for site in shown]
    return {"name": usage.unresolved["name"], "total": usage.unresolved["total"], "places": places}


def _count_fitting(sites: Sequence[Site], max_bytes: int) -> tuple[int, int, int]:
    """Return (number of leading sites that fit with code, number that fit at all, bytes left). The
    places of all sites come before code; where not even they fit, code has its share.
    """
    new_run = [not at or site.group != sites[at - 1].group for at, site in enumerate(sites)]
    paths = [_bytes(site.file) + 3 for site in sites]
    #: bytes of the places from each site on: the last of a file pays for its path
    rest = [0] * (len(sites) + 1)
    for at in reversed(range(len(sites))):
        ends_run = at + 1 == len(sites) or new_run[at + 1]
        rest[at] = rest[at + 1] + sites[at].size(with_code=False) + ends_run * paths[at]
    all_fit = rest[0] <= max_bytes
    used = shown = 0
    for at in range(_count_worth_code(sites)):
        size = sites[at].size(with_code=True) + new_run[at] * paths[at]
        if used + size + rest[at + 1] > max_bytes if all_fit else used + size > max_bytes * CODE_SHARE:
            break
        used, shown = used + size, at + 1
    with_place = shown
    if not all_fit:
        counts = sum(_bytes(file) + _COUNT for file in {site.file for site in sites})
        max_bytes -= min(counts, int(max_bytes * COUNTS_SHARE))
    budget = Budget(max_bytes - used)
    while with_place < len(sites):
        is_first = with_place == shown or new_run[with_place]
        size = sites[with_place].size(with_code=False) + is_first * paths[with_place]
        if not budget.take(size, sure=not with_place):  # a page goes on by one site at least
            break
        with_place += 1
    if not all_fit:
        budget.left += min(counts, int(max_bytes * COUNTS_SHARE / (1 - COUNTS_SHARE)))
    return shown, with_place, budget.left


def _count_worth_code(sites: Sequence[Site]) -> int:
    """Return the number of leading sites that may have code: those of shipped code, then those of
    tests and of built files where there are few.
    """
    ranks = [site.rank for site in sites]
    worth = sum(rank < TESTS for rank in ranks)
    for rank in (TESTS, _BUILT):
        if ranks.count(rank) > TESTS_WITH_CODE:
            break
        worth += ranks.count(rank)
    return worth


def _group(sites: Sequence[Site], with_code: int, with_place: int) -> list[dict[str, Any]]:
    """Return the sites by file, in their order; those without code once for each file."""
    files: list[dict[str, Any]] = []
    numbered = list(enumerate(sites[:with_place]))
    first = {site.group: at for at, site in reversed(numbered[with_code:])}
    numbered[with_code:] = sorted(numbered[with_code:], key=lambda item: (first[item[1].group], item[1].line))
    for (file, is_test, unsure), group in groupby(numbered, key=lambda item: item[1].group):
        rows = [site.render(with_code=at < with_code) for at, site in group]
        marks = ({"test": True} if is_test else {}) | ({"unsure": True} if unsure else {})
        marks |= {"built": True} if is_built(file) else {}
        files.append({"file": file, "sites": rows, **marks})
    return files


def _count_by_file(sites: Iterable[Site], max_bytes: int) -> list[dict[str, Any]]:
    """Return the numbers of sites by file; the last is that of all files that do not fit."""
    counts: dict[str, int] = {}
    for site in sites:
        counts[site.file] = counts.get(site.file, 0) + 1
    listed: list[dict[str, Any]] = []
    budget = Budget(max_bytes - 2 * _COUNT)
    for file, count in counts.items():
        if not budget.take(_bytes(file) + _COUNT) and len(listed) + 1 < len(counts):
            others = list(counts.values())[len(listed) :]
            return [*listed, {"more_files": len(others), "count": sum(others)}]
        listed.append({"file": file, "count": count})
    return listed


def _list_places(places: Sequence[Place], max_bytes: int) -> tuple[list[dict[str, Any]], int]:
    """Return (lines by file, their bytes); nothing if they do not fit."""
    files: dict[str, list[int]] = {}
    for file, line in places:
        files.setdefault(file, []).append(line)
    used = sum(_bytes(file) + 3 + sum(len(str(line)) + 2 for line in lines) for file, lines in files.items())
    if used > max_bytes:
        return [], 0
    return [{"file": file, "lines": lines} for file, lines in files.items()], used


def _list_names(further: Iterable[tuple[str, str]], max_bytes: int) -> dict[str, Any]:
    """Return the names of the users of the users, by file, as many as fit."""
    names, budget = list(further), Budget(max_bytes)
    files: dict[str, list[str]] = {}
    for file, name in names:
        if not budget.take(_bytes(name) + 2 + (0 if file in files else _bytes(file) + 4)):
            break
        files.setdefault(file, []).append(name)
    return {"total": len(names), "files": [{"file": file, "names": listed} for file, listed in files.items()]}


def cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LINE_CHARS else f"{text[:LINE_CHARS]}…"
