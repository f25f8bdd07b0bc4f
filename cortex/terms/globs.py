"""Globs as in .gitignore, as people and models write them → which of the files there are they mean.

Pure. What a glob's text may be is in cortex/terms/spelling.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from pathspec import GitIgnoreSpec

from ipc.errors import BadRequest


def matching(paths: Iterable[str], globs: Sequence[str]) -> set[str]:
    """Those of `paths` that any of `globs` means. A glob that matches none of them means those
    that have such an end (`auth/session.py` is `src/auth/session.py`, too), else those that are so
    in any case. With a glob that begins with `!` the last one that matches decides, as it is
    written.

    Raises BadRequest for a glob that cannot be read.
    """
    paths = list(paths)
    globs = [glob.removeprefix("./") for glob in globs]
    spec = _read(globs)
    if any(glob.startswith("!") for glob in globs):
        return set(spec.match_files(paths))
    found = _any_of(_regexes(spec), paths)
    for glob in globs:
        if _any_of(_regexes(_read([glob])), found):
            continue
        loose = _regexes(_read([glob, f"**/{glob}"] if _is_end(glob) else [glob]))
        found |= _any_of(loose, paths) or _any_of(_in_any_case(loose), paths)
    return found


def _is_end(glob: str) -> bool:
    """Whether a glob is of the root only because a slash is in it."""
    return "/" in glob.rstrip("/") and not glob.startswith("/")


def _any_of(regexes: Iterable[re.Pattern[str]], paths: Collection[str]) -> set[str]:
    return {path for one in regexes for path in filter(one.match, paths)}


def _regexes(spec: GitIgnoreSpec) -> list[re.Pattern[str]]:
    """One for each glob that is no comment. Matched one by one they are quicker than the spec,
    which also looks for the last of them.
    """
    return [one.regex for one in spec.patterns if one.include and one.regex is not None]


def _in_any_case(regexes: Sequence[re.Pattern[str]]) -> list[re.Pattern[str]]:
    return [re.compile(one.pattern, one.flags | re.IGNORECASE) for one in regexes]


def _read(globs: Sequence[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines(globs)
    except ValueError as error:
        raise BadRequest(f"A glob cannot be read: {error}; write it as in .gitignore.") from error
