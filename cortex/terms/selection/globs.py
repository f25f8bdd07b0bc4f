"""Selection of paths by globs as in .gitignore, read as people and models mean them.

Pure. cortex/terms/text/spelling.py has the forms in which a glob may be written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import re2

from cortex.system.errors import BadRequest
from cortex.terms.selection.ignores import glob_fault, with_ranges
from cortex.terms.text.spelling import outer_alternatives, read_pattern

if TYPE_CHECKING:  # a slow import, and most queries have no glob
    from pathspec import GitIgnoreSpec

#: globs of one argument after braces are expanded; each is matched against every path
GLOBS_MAX = 256
#: globs that are tried one by one; with more, one combined pattern preselects the paths
_FEW = 8
#: wildcards up to which Python's regular expressions, which are faster, cannot take long
_WILDCARDS_FEW = 3
#: the named group in each expression of pathspec
_UNNAMED = re.compile(r"\(\?P<\w+>")
_WILDCARD = re.compile(r"(?<!\\)[.\]][*+]")
#: characters with a meaning in a glob, and a segment of a path that is always a pattern
_SPECIAL, _ANY_NAME = re.compile(r"[\\*?\[\]!#{}]"), re.compile(r"\*+(?:\.\w+)*")

Match = Callable[[str], object]


def check_globs(globs: Sequence[str], name: str, paths: Callable[[], Collection[str]] = tuple) -> None:
    """Raise BadRequest if the globs of argument `name` cannot be read, or are too many.

    `paths` returns paths whose names are no patterns.
    """
    if len(globs) > GLOBS_MAX:
        raise BadRequest(f"{name} has {len(globs)} globs; at most {GLOBS_MAX} are taken.")
    for glob in globs:
        # `[user-id]` may be the name of a folder, and is a class that nobody can read.
        if (fault := glob_fault(glob)) and any(map(glob_fault, Names(paths()).read(glob))):
            raise BadRequest(f"The glob {fault.quoted} of {name} {fault.why}; write it as in .gitignore.")


def matching_paths(paths: Iterable[str], globs: Sequence[str]) -> set[str]:
    """Return those of `paths` that any of `globs` means.

    Names are literal first: where one of `paths` has a file or folder called `[slug]`, a glob with
    this part means it. A glob that matches no path means the paths that end like it
    (`auth/session.py` is `src/auth/session.py`, too), else those that match in any case, else in
    another composition of letters. If a glob begins with `!`, the last matching glob decides,
    without these readings.

    Raises BadRequest for a glob that cannot be read.
    """
    paths = every = list(paths)
    if len(globs) > GLOBS_MAX:
        check_globs(globs, "the filters")
    names = Names(paths)
    globs = [reading for glob in globs for reading in names.read(glob.removeprefix("./"))]
    check_globs(globs, "the filters")
    globs = [with_ranges(glob) for glob in globs]
    spec = _parse_globs(globs)
    if any(glob.startswith("!") for glob in globs):
        return set(spec.match_files(paths))
    if len(globs) > _FEW:
        paths = _possible(paths, globs)
    matches = _match_any(_regexes(spec), paths)
    for glob in globs:
        if _match_any(_regexes(_parse_globs([glob])), matches):
            continue
        loose_globs = [glob, f"**/{glob}"] if _is_rooted_by_slash(glob) else [glob]
        loose = _regexes(_parse_globs(loose_globs))
        matches |= (
            _match_any(loose, paths)
            or _match_any(_in_any_case(loose), paths)
            or _match_composed(loose_globs, every)
        )
    return matches


class Names:
    """The names of files and folders in `paths`, for globs that may be names."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = paths

    def read(self, glob: str) -> tuple[str, ...]:
        """Return the globs that `glob` means: its names escaped, or its readings as a pattern."""
        if not _SPECIAL.search(glob):
            return (glob,)
        if glob in self._files and not _ANY_NAME.fullmatch(glob):
            return (escape_glob(glob),)
        mark, bare = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
        alternatives = outer_alternatives(bare)
        if len(alternatives) > 1:
            return tuple(f"{mark}{reading}" for other in alternatives for reading in self.read(other))
        slashed = bare.replace("\\", "/") if "/" not in bare else bare
        if literal := self._literal(bare) or (slashed != bare and self._literal(slashed)):
            return (f"{mark}{literal}",)
        return tuple(f"{mark}{reading}" for reading in read_pattern(bare))

    def _literal(self, glob: str) -> str:
        """Return the glob with its names escaped; "" where no path has them."""
        if (path := glob.strip("/")) in self._files and not _ANY_NAME.fullmatch(path):
            return f"/{escape_glob(path)}"
        parts = glob.split("/")
        escaped = [escape_glob(name) if self._is_name(name) else name for name in parts]
        if escaped == parts:
            return ""
        literal = "/".join(escaped)
        if glob_fault(literal):
            return ""
        loose = _parse_globs([literal, f"**/{literal}"] if _is_rooted_by_slash(literal) else [literal])
        regexes = _in_any_case(_regexes(loose))
        return literal if any(regex.match(path) for regex in regexes for path in self._paths) else ""

    def _is_name(self, name: str) -> bool:
        special = _SPECIAL.findall(name)
        # Stars and question marks match themselves, and are patterns nearly always.
        return bool(set(special) - {"*", "?", "!"}) and name.lower() in self._parts

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(self._paths)

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(name.lower() for path in self._paths for name in path.split("/"))


def escape_glob(name: str) -> str:
    """Return the glob that means exactly `name`."""
    return _SPECIAL.sub(r"\\\g<0>", name)


def _is_rooted_by_slash(glob: str) -> bool:
    """Whether a glob is relative to the root only because it contains a slash."""
    return "/" in glob.rstrip("/") and not glob.startswith("/")


def _possible(paths: list[str], globs: Sequence[str]) -> list[str]:
    """Return those of `paths` that any of `globs` may mean in its widest reading."""
    loose = [f"**/{glob}" if _is_rooted_by_slash(glob) else glob for glob in globs]
    sources = "|".join(f"(?:{regex.pattern})" for regex in _regexes(_parse_globs([*globs, *loose])))
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 64 << 20
    try:
        any_of = re2.compile(_UNNAMED.sub("(?:", sources), options)
    except re2.error:
        return paths
    return [path for path in paths if any_of.match(path)]


def _match_any(regexes: Iterable[re.Pattern[str]], paths: Collection[str]) -> set[str]:
    matches: set[str] = set()
    for regex in regexes:
        match = _matcher(regex)
        matches.update(path for path in paths if path not in matches and match(path))
    return matches


def _match_composed(globs: Sequence[str], paths: Collection[str]) -> set[str]:
    """Return the paths that `globs` match where each letter with a mark is one character in both:
    some systems keep names decomposed.
    """
    if all(glob.isascii() for glob in globs):
        return set()
    composed = {path: compose(path) for path in paths if not path.isascii()}
    regexes = _in_any_case(_regexes(_parse_globs([compose(glob) for glob in globs])))
    return {path for path, form in composed.items() if any(regex.match(form) for regex in regexes)}


def compose(text: str) -> str:
    """Return the text with each letter and its marks as one character where there is one."""
    return unicodedata.normalize("NFC", text)


def _matcher(regex: re.Pattern[str]) -> Match:
    """Return a function that tests a path, in time proportional to its length."""
    if len(_WILDCARD.findall(regex.pattern)) <= _WILDCARDS_FEW:
        return regex.match
    options = re2.Options()
    options.case_sensitive = not regex.flags & re.IGNORECASE
    match: Match = re2.compile(_UNNAMED.sub("(?:", regex.pattern), options).match
    return match


def _regexes(spec: GitIgnoreSpec) -> list[re.Pattern[str]]:
    """Return one pattern for each glob that is no comment. Testing them one by one is faster than
    the spec, which also looks for the last match.
    """
    return [pattern.regex for pattern in spec.patterns if pattern.include and pattern.regex is not None]


def _in_any_case(regexes: Sequence[re.Pattern[str]]) -> list[re.Pattern[str]]:
    return [re.compile(regex.pattern, regex.flags | re.IGNORECASE) for regex in regexes]


def _parse_globs(globs: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(globs, backend="re2")
    except ValueError as error:
        raise BadRequest(f"A glob cannot be read: {error}; write it as in .gitignore.") from error
