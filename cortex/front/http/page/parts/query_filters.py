"""Filters that people write into the query, `lang:go path:src/** -path:tests file:login case:yes`,
their completion, and the files that filters alone mean.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cortex.system.errors import BadRequest
from cortex.terms.languages import canonical, language_of
from cortex.terms.selection.globs import matching_paths
from cortex.terms.text.suggestions import hint_for

#: kinds of chunks
KINDS = ("code", "documentation", "definitions", "symbols", "data")
#: names of filters; `file:` is a part of a file's name, or a path
NAMES = ("lang", "path", "file", "kind", "case", "word")
#: filters that are yes or no: the case counts, whole words only
SWITCHES = ("case", "word")
#: completions that are offered at once
COMPLETIONS_MAX = 12
_FILTER = re.compile(rf'(?<!\S)(-?)({"|".join(NAMES)}):(?:"([^"]+)"|([^\s"]+))(?!\S)')
_BEGUN = re.compile(rf'-?(?:({"|".join(NAMES)}):"?(.*)|([a-z]{{1,4}}))', re.DOTALL)
_NAME = re.compile(r"[^/*?\[\]{}!]+")


@dataclass(frozen=True, slots=True)
class FilteredQuery:
    """A query without its filters; globs of paths that are wanted and excluded. `switches`: names
    of `case:yes` and `word:yes`; `name`: the part of a file's name.
    """

    text: str
    language: str = ""
    kind: str = ""
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    switches: frozenset[str] = frozenset()
    name: str = ""


def read_filters(query: str, languages: Sequence[str]) -> FilteredQuery:
    """Return the query with its filters apart. Raises BadRequest for one that fits nothing."""
    language = kind = part = ""
    switches: set[str] = set()
    paths: dict[str, list[str]] = {"": [], "-": []}
    for minus, name, quoted, plain in _FILTER.findall(query):
        value = quoted or plain
        if name in ("path", "file"):
            if name == "file" and _NAME.fullmatch(value):
                part, value = part if minus else value, f"*{value}*"
            paths[minus].append(value)
        elif minus:
            raise BadRequest(f"Only a path can be excluded, as in -path:tests; -{name}: cannot.")
        elif name in SWITCHES:
            switches |= {name} if _one_of(value.lower(), ("yes", "no"), "value") == "yes" else set()
        elif name == "lang":
            language = _one_of(canonical(value) or value.lower(), languages, "language")
        else:
            kind = _one_of(value.lower(), KINDS, "kind")
    text = " ".join(_FILTER.sub(" ", query).split()) if _FILTER.search(query) else query
    wanted, excluded = tuple(paths[""]), tuple(paths["-"])
    return FilteredQuery(text.strip(), language, kind, wanted, excluded, frozenset(switches), part)


def filtered_files(filtered: FilteredQuery, files: Iterable[str]) -> list[str]:
    """Return the files that the filters mean, those with the nearest names first. Where none has
    the part of a name, those that have its letters in this order. Raises BadRequest for a glob that
    cannot be read.
    """
    language = filtered.language
    among = [path for path in files if not language or language_of(path).name == language]
    excluded = matching_paths(among, filtered.exclude_paths) if filtered.exclude_paths else set()
    part = filtered.name.casefold()
    matching = matching_paths(among, filtered.paths) if filtered.paths else set(among)
    if not matching and part:
        matching = {path for path in among if _has_letters(path.casefold(), part)}
    return sorted(matching - excluded, key=lambda path: _distance(path, part))


def _has_letters(path: str, letters: str) -> bool:
    at = -1
    return all((at := path.find(letter, at + 1)) >= 0 for letter in letters)


def _distance(path: str, part: str) -> tuple[bool, int, str]:
    """Return the sort key of a file by its name; without a part of a name, its path."""
    name = path.rpartition("/")[2].casefold()
    return (part not in name, len(name) if part else 0, path)


def narrow(query: str, name: str, value: str) -> str:
    """Return the query with a filter in place of those of this name."""
    others = ("path", "file") if name == "path" else (name,)
    without = _FILTER.sub(lambda match: " " if not match[1] and match[2] in others else match[0], query)
    return f"{' '.join(without.split())} {name}:{_quoted(value)}"


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
        names = ("path", "file") if minus else NAMES
        return [f"{minus}{full}:" for full in names if full.startswith(start) and full != start]
    if name == "file" and _NAME.fullmatch(value):
        part = FilteredQuery("", paths=(f"*{value}*",), name=value)
        return [f"{minus}path:{_quoted(path)}" for path in filtered_files(part, paths)[:COMPLETIONS_MAX]]
    if name in ("path", "file"):
        values: Iterable[str] = _next_paths(value, paths)
    else:
        values = {"lang": languages, "kind": KINDS}.get(name, ("yes",))
    begun = [full for full in values if full.startswith(value) and full != value]
    return [f"{minus}{name}:{_quoted(full)}" for full in begun[:COMPLETIONS_MAX]]


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value


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
