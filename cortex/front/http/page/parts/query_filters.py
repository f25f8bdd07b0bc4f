"""Filters that people write into the query, `lang:go path:src/** -path:tests kind:code`, and their
completion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cortex.system.errors import BadRequest
from cortex.terms.languages import canonical
from cortex.terms.text.suggestions import hint_for

#: kinds of chunks
KINDS = ("code", "documentation", "definitions", "symbols", "data")
#: names of filters; `file:` is another name of `path:`
NAMES = ("lang", "path", "kind")
#: completions that are offered at once
COMPLETIONS_MAX = 12
_FILTER = re.compile(r'(?<!\S)(-?)(lang|path|file|kind):(?:"([^"]+)"|([^\s"]+))(?!\S)')
_BEGUN = re.compile(r'-?(?:(lang|path|file|kind):"?(.*)|([a-z]{1,4}))', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FilteredQuery:
    """A query without its filters; globs of paths that are wanted and excluded."""

    text: str
    language: str = ""
    kind: str = ""
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()


def read_filters(query: str, languages: Sequence[str]) -> FilteredQuery:
    """Return the query with its filters apart. Raises BadRequest for one that fits nothing."""
    language = kind = ""
    paths: dict[str, list[str]] = {"": [], "-": []}
    for minus, name, quoted, plain in _FILTER.findall(query):
        value = quoted or plain
        if name in ("path", "file"):
            paths[minus].append(value)
        elif minus:
            raise BadRequest(f"Only a path can be excluded, as in -path:tests; -{name}: cannot.")
        elif name == "lang":
            language = _one_of(canonical(value) or value.lower(), languages, "language")
        else:
            kind = _one_of(value.lower(), KINDS, "kind")
    text = " ".join(_FILTER.sub(" ", query).split()) if _FILTER.search(query) else query
    return FilteredQuery(text.strip(), language, kind, tuple(paths[""]), tuple(paths["-"]))


def _one_of(value: str, names: Sequence[str], title: str) -> str:
    if value in names:
        return value
    hint = hint_for(value, names)
    raise BadRequest(f"There is no {title} {value!r} here{hint}; there are: {', '.join(names)}.")


def complete(word: str, languages: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Return the words that the begun `word` of a query may become: names of filters, or values."""
    match = _BEGUN.fullmatch(word)
    if match is None:
        return []
    name, value, start = match.groups()
    minus = "-" if word.startswith("-") else ""
    if name is None:
        names = ("path",) if minus else NAMES
        return [f"{minus}{full}:" for full in names if full.startswith(start) and full != start]
    if name in ("path", "file"):
        values: Iterable[str] = _next_paths(value, paths)
    else:
        values = languages if name == "lang" else KINDS
    begun = [full for full in values if full.startswith(value) and full != value]
    quoted = (f'"{full}"' if " " in full else full for full in begun[:COMPLETIONS_MAX])
    return [f"{minus}{name}:{full}" for full in quoted]


def _next_paths(value: str, paths: Iterable[str]) -> list[str]:
    """Return the folders and files one step below the folder that `value` has reached."""
    folder = value[: value.rfind("/") + 1]
    below = {
        f"{folder}{name}{slash}"
        for path in paths
        if path.startswith(value)
        for name, slash, _ in (path[len(folder) :].partition("/"),)
    }
    return sorted(below, key=lambda path: (not path.endswith("/"), path))
