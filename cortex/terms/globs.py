"""Globs as in .gitignore, as people and models write them → which of the files there are they mean.

Pure. What a glob's text may be is in cortex/terms/spelling.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import re2

from cortex.system.errors import BadRequest
from cortex.terms.ignores import glob_fault, with_ranges

if TYPE_CHECKING:  # slow, and most questions have no glob
    from pathspec import GitIgnoreSpec

#: globs of one argument, braces written out; each is held against every path
GLOBS_MAX = 256
#: globs that are tried one by one; of more, one look tells which paths any of them may mean
_FEW = 8
#: wildcards of a glob up to which Python's expressions, which are quicker, cannot take long
_WILDCARDS_FEW = 3
#: the group that pathspec names in each of its expressions
_UNNAMED = re.compile(r"\(\?P<\w+>")
_WILDCARD = re.compile(r"(?<!\\)[.\]][*+]")

Match = Callable[[str], object]


def check_globs(globs: Sequence[str], name: str) -> None:
    """Raises BadRequest for globs of the argument `name` that cannot be read, or are too many."""
    if len(globs) > GLOBS_MAX:
        raise BadRequest(f"{name} has {len(globs)} globs; at most {GLOBS_MAX} are taken.")
    for glob in globs:
        if fault := glob_fault(glob):
            raise BadRequest(f"The glob {fault.quoted} of {name} {fault.why}; write it as in .gitignore.")


def matching_paths(paths: Iterable[str], globs: Sequence[str]) -> set[str]:
    """Those of `paths` that any of `globs` means. A glob that matches none of them means those
    that have such an end (`auth/session.py` is `src/auth/session.py`, too), else those that are so
    in any case. With a glob that begins with `!` the last one that matches decides, as it is
    written.

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
    """Whether a glob is of the root only because a slash is in it."""
    return "/" in glob.rstrip("/") and not glob.startswith("/")


def _possible(paths: list[str], globs: Sequence[str]) -> list[str]:
    """Those of `paths` that any of `globs` may mean, read as widely as they are."""
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
    """What tells whether a path matches, in time that is in proportion to the path."""
    if len(_WILDCARD.findall(regex.pattern)) <= _WILDCARDS_FEW:
        return regex.match
    options = re2.Options()
    options.case_sensitive = not regex.flags & re.IGNORECASE
    match: Match = re2.compile(_UNNAMED.sub("(?:", regex.pattern), options).match
    return match


def _regexes(spec: GitIgnoreSpec) -> list[re.Pattern[str]]:
    """One for each glob that is no comment. Matched one by one they are quicker than the spec,
    which also looks for the last of them.
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
