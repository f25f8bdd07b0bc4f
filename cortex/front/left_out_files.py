"""Suggestions for empty answers: why a file that the question names is left out of the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cortex.ask.missing_files import describe_left_out, say_missing
from cortex.ask.query_context import QueryContext
from cortex.front.empty_answers import count_of, is_served
from cortex.terms.text.spelling import fold_path, means_file, path_below, read_file_lines

#: arguments that may name a file: whole, or before a line or a name
_NAMES, _GLOBS = ("path", "file", "target", "to", "symbol", "query"), ("paths", "scope")
#: characters of an argument that may be a path
_PATH_CHARS_MAX = 1_000


def name_left_out(
    context: QueryContext, arguments: Mapping[str, Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """Return the answer; in an empty one the "suggestion" says which file is left out, and why."""
    if not is_served(answer):
        return answer
    if not _is_empty(answer):
        return _name_missing(context, arguments, answer)
    if not (why := describe(context, arguments)):
        return answer
    # The nearest names are no meaning of a file that is there.
    fields = {name: value for name, value in answer.items() if name != "candidates"}
    return fields | {"suggestion": why}


def _name_missing(
    context: QueryContext, arguments: Mapping[str, Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """Return the answer of a search for a path alone, after a sentence if no file is called so."""
    query = arguments.get("query")
    if not isinstance(query, str) or "match_type" in arguments or len(query) > _PATH_CHARS_MAX:
        return answer
    path = path_below(read_file_lines(query).path, str(context.config.root))
    listed = context.freshness.listed()
    name = fold_path(path).rpartition("/")[2]
    if not listed or path.endswith("/") or not ("/" in path or "." in path):
        return answer
    from cortex.ranking.traces import looks_like_path  # imports numpy, which few questions need

    if not looks_like_path(path):
        return answer
    if any(means_file(path, other) for other in listed if fold_path(other).endswith(name)):
        return answer
    sentence = say_missing(context.config, context.freshness, path)
    return answer | {"suggestion": f"{sentence} {answer.get('suggestion', '')}".rstrip()}


def describe(context: QueryContext, arguments: Mapping[str, Any]) -> str:
    """Return the sentence for the first file of the arguments that is left out; "" for none."""
    for path in _paths(arguments, str(context.config.root)):
        if why := describe_left_out(context.config, context.freshness, path):
            return why
    return ""


def _paths(arguments: Mapping[str, Any], root: str) -> Iterator[str]:
    for name in (*_NAMES, *_GLOBS):
        values = arguments.get(name) or ()
        for value in (values,) if isinstance(values, str) else values:
            if not isinstance(value, str) or len(value) > _PATH_CHARS_MAX or "\0" in value:
                continue
            text = value.strip("/ ") if name in _GLOBS else value
            spelled = path_below(read_file_lines(text).path, root)
            if spelled and ("/" in spelled or "." in spelled) and "\n" not in spelled:
                yield spelled


def _is_empty(answer: Mapping[str, Any]) -> bool:
    lists = [answer[name] for name in ("sites", "functions") if isinstance(answer.get(name), list)]
    return count_of(answer) == 0 or (bool(lists) and not any(lists))
