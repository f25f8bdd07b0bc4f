"""Structural patterns over the project's sources, by ast-grep: `print($A, $$$REST)`.

Reads the files' current content.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from cortex.engines.graph.sources import SourceReader
from cortex.system.errors import BadRequest, Misconfigured
from cortex.system.installation import how_to_add
from cortex.terms.languages import PARSED, nearest_language
from cortex.terms.selection.globs import matching_paths
from cortex.terms.text.suggestions import hint
from ipc.messages import GraphHits, PatternSearch

if TYPE_CHECKING:
    from ast_grep_py import SgNode

#: names of the languages that patterns can search, in the index and in ast-grep
LANGUAGES = tuple(language.name for language in PARSED if language.patterns)
#: seconds of one query; the answer says how many files it covers
SEARCH_S = 2.5
LIMIT_MAX = 200
#: characters of a match and of a captured text in an answer
TEXT_CHARS_MAX = 600
PATTERN_CHARS_MAX = 4000
#: most characters of a searched file: parsing and matching a million takes 1 to 5 s
FILE_CHARS_MAX = 256 << 10

_VARIABLE = re.compile(r"\$\$\$([A-Z_][A-Z0-9_]*)?|\$([A-Z_][A-Z0-9_]*)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def search_pattern(
    request: PatternSearch, files: Iterable[str], sources: SourceReader, generation: int
) -> GraphHits:
    """Search `files`, all of the request's language. Raises BadRequest for an invalid pattern, and
    Misconfigured when ast-grep is not installed.
    """
    if request.language not in LANGUAGES:
        correction = hint(nearest_language(request.language, LANGUAGES))
        raise BadRequest(
            f"cortex_pattern does not know {request.language!r}{correction}; it takes {', '.join(LANGUAGES)}."
        )
    if len(request.pattern) > PATTERN_CHARS_MAX:
        raise BadRequest(f"The pattern is longer than {PATTERN_CHARS_MAX} characters.")
    language = request.language
    _check_pattern(request.pattern, language)
    limit = min(max(request.limit, 1), LIMIT_MAX)
    until = time.monotonic() + SEARCH_S
    looked_at = _select_files(files, request)
    results: list[tuple[str, bytes]] = []
    large: list[str] = []
    total = looked = 0
    for path in looked_at:
        if time.monotonic() > until or total > 10 * limit:
            break
        looked += 1
        text = sources.text(path)
        if len(text) > FILE_CHARS_MAX:
            large.append(path)
            continue
        nodes = _find_matches(request.pattern, language, text)
        total += len(nodes)
        results += [
            (path, orjson.dumps({"file": path} | _match_json(request.pattern, node)))
            for node in nodes[: limit - len(results)]
        ]
    suggestion = ""
    if looked < len(looked_at):
        suggestion = f"{looked} of {len(looked_at)} files were searched; narrow the search with paths."
    elif large:
        more = f" and {len(large) - 1} more" if len(large) > 1 else ""
        kind = f"files of more than {FILE_CHARS_MAX // 1024} kB are not searched for patterns"
        suggestion = f"{large[0]}{more} was left out: {kind}."
    elif not results:
        suggestion = _why_nothing(request, len(looked_at))
    return GraphHits(
        generation=generation,
        target=request.pattern,
        paths=tuple(path for path, _ in results),
        total_found=total,
        truncated=looked < len(looked_at) or total > len(results) or bool(large),
        suggestion=suggestion,
        summary={"files_searched": looked - len(large), "files": len(looked_at)},
        results=tuple(raw for _, raw in results),
    )


def _why_nothing(request: PatternSearch, files: int) -> str:
    if not files:
        return f"There is no {request.language} file in the graph within paths and exclude_paths."
    bare = _QUOTED.sub("", request.pattern)
    if any(bare.count(opening) != bare.count(closing) for opening, closing in ("()", "[]", "{}")):
        return f"Nothing in {files} {request.language} files has this shape; the pattern's brackets are not balanced."
    return f"Nothing in {files} {request.language} files has this shape."


def _check_pattern(pattern: str, language: str) -> None:
    """Raise BadRequest, with ast-grep's reason but without its stack, for an invalid pattern."""
    try:
        _parse_root("", language).find(pattern=pattern)
    except RuntimeError as error:
        reasons = re.findall(r"^\s*\d+: (.*)$", str(error).partition("Stack backtrace")[0], re.MULTILINE)
        reason = (reasons or [str(error).splitlines()[0]])[-1].replace("µ", "$").rstrip(".")
        raise BadRequest(f"The pattern cannot be read: {reason}.") from error


def _select_files(files: Iterable[str], request: PatternSearch) -> list[str]:
    every = {path for path in files if not request.within or path.startswith(f"{request.within}/")}
    selected = matching_paths(every, request.paths) if request.paths else every
    return sorted(selected - matching_paths(every, request.exclude_paths))


def _find_matches(pattern: str, language: str, text: str) -> list[SgNode]:
    words = _WORD.findall(_VARIABLE.sub(" ", pattern))
    if not text or any(word not in text for word in words):
        return []  # a file without the pattern's words needs no parsing
    return _parse_root(text, language).find_all(pattern=pattern)


def _parse_root(text: str, language: str) -> SgNode:
    """Parse. Imports late: an extra of 46 MB that few queries need. Raises Misconfigured."""
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise Misconfigured(
            f"cortex_pattern needs the extra `patterns`, which is not installed: {how_to_add('patterns')}."
        ) from None
    return SgRoot(text, language).root()


def _match_json(pattern: str, node: SgNode) -> dict[str, Any]:
    """A match for an answer. Its place costs a read of its line: only for shown matches."""
    place = node.range()
    return {
        "start_line": place.start.line + 1,
        "end_line": place.end.line + 1,
        "column": place.start.column,
        "text": node.text()[:TEXT_CHARS_MAX],
        "variables": _capture_variables(pattern, node),
    }


def _capture_variables(pattern: str, node: SgNode) -> dict[str, str | list[str]]:
    variables: dict[str, str | list[str]] = {}
    for multiple, single in _VARIABLE.findall(pattern):
        if multiple and not multiple.startswith("_"):
            variables[multiple] = [
                captured.text()[:TEXT_CHARS_MAX] for captured in node.get_multiple_matches(multiple)
            ]
        elif single and not single.startswith("_") and (match := node.get_match(single)) is not None:
            variables[single] = match.text()[:TEXT_CHARS_MAX]
    return variables
