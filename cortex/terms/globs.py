"""Selection of paths by globs as in .gitignore, read as people and models mean them.

Pure. cortex/terms/spelling.py has the forms in which a glob may be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import re2

from cortex.system.errors import BadRequest
from cortex.terms.ignores import glob_fault, with_ranges

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

Match = Callable[[str], object]


def check_globs(globs: Sequence[str], name: str) -> None:
    """Raise BadRequest if the globs of argument `name` cannot be read, or are too many."""
    if len(globs) > GLOBS_MAX:
        raise BadRequest(f"{name} has {len(globs)} globs; at most {GLOBS_MAX} are taken.")
    for glob in globs:
        if fault := glob_fault(glob):
            raise BadRequest(f"The glob {fault.quoted} of {name} {fault.why}; write it as in .gitignore.")


def matching_paths(paths: Iterable[str], globs: Sequence[str]) -> set[str]:
    """Return those of `paths` that any of `globs` means.

    A glob that matches no path means the paths that end like it (`auth/session.py` is
    `src/auth/session.py`, too), else those that match in any case. If a glob begins with `!`, the
    last matching glob decides, without these readings.

    Raises BadRequest for a glob that cannot be read.
    """
    paths = list(paths)
    check_globs(globs, "the filters")
    globs = [with_ranges(glob.removeprefix("./")) for glob in globs]
    spec = _parse_globs(globs)
    if any(glob.startswith("!") for glob in globs):
        return set(spec.match_files(paths))
    if len(globs) > _FEW:
        paths = _possible(paths, globs)
    matches = _match_any(_regexes(spec), paths)
    for glob in globs:
        if _match_any(_regexes(_parse_globs([glob])), matches):
            continue
        loose = _regexes(_parse_globs([glob, f"**/{glob}"] if _is_rooted_by_slash(glob) else [glob]))
        matches |= _match_any(loose, paths) or _match_any(_in_any_case(loose), paths)
    return matches


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
