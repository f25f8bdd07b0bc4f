"""Lines that files with almost the same path have in common: a key in 50 translations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from cortex.terms.languages import language_of

#: files from which on a common line is shown once
COPIES_FILES = 6
#: note after it, with the number of the others and their path; characters of their names
_NOTE, _NAMES_CHARS = "  ⋯ and in {} files like it: {}", 100
#: a part of a path: between slashes, or of a name before its last dot
_PART = re.compile(r"[^/]+(?=/)|[^/.]+(?=\.[^/]*$)")
#: the English texts, or those that an app shows by default: `values` of Android, `Base` of iOS
_ENGLISH = re.compile(r"(?:en(?:glish)?(?:[-_]\w+)?|Base)(?:\.lproj)?|values", re.IGNORECASE)


#: languages of texts in translations: `values-de/strings.xml`, `de.lproj/Localizable.strings`
_RESOURCES = frozenset(("xml", "text"))


def may_be_copy(path: str) -> bool:
    """Whether a line of a file may be one of many translations."""
    language = language_of(path)
    return language.kind != "code" or language.name in _RESOURCES


def find_copies(lines: Iterable[tuple[int, str, Hashable]]) -> Mapping[int, tuple[list[int], str]]:
    """Return line → (the lines that it stands for, the note on them).

    `lines`: (number, path, what equal lines have in common). Lines are of one kind if their paths
    differ in one part only; the English one stands for them, or else the first.
    """
    groups: dict[tuple[Hashable, str, str], dict[str, int]] = defaultdict(dict)
    for at, path, content in lines:
        for before, part, after in _split_path(path):
            groups[content, before, after].setdefault(part, at)
    copies: dict[int, tuple[list[int], str]] = {}
    seen: set[int] = set()
    for (_, before, after), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        left = {part: at for part, at in members.items() if at not in seen}
        if len(left) < COPIES_FILES:
            continue
        seen.update(left.values())
        shown = left.pop(next(filter(_ENGLISH.fullmatch, left), next(iter(left))))
        path = f"{before}{{{_join(left)}}}{after}"
        copies[shown] = list(left.values()), _NOTE.format(len(left), path)
    return copies


def _split_path(path: str) -> Iterator[tuple[str, str, str]]:
    for match in _PART.finditer(path):
        yield path[: match.start()], match[0], path[match.end() :]


def _join(names: Iterable[str]) -> str:
    joined = ",".join(sorted(names))
    return joined if len(joined) <= _NAMES_CHARS else f"{joined[:_NAMES_CHARS].rpartition(',')[0]},…"
