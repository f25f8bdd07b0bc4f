"""Suggestions for empty answers: the filter that excluded all hits, with their number without it,
or why a file that the question names is left out of the index.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any

import orjson

from cortex.ask.freshness import PENDING_NAMED
from cortex.ask.missing_files import describe_left_out, say_missing
from cortex.ask.query_context import QueryContext
from cortex.system.errors import CortexError, NotFound
from cortex.terms.text.spelling import fold_path, means_file, path_below, read_file_lines
from cortex.terms.tokens import STOP_WORDS, part_words

#: arguments that only exclude hits
FILTERS = ("paths", "exclude_paths", "tags", "chunk_types", "lang", "scope", "exclude_patterns", "min_score")
#: seconds that a call must have left to be repeated
LEFT_S = 2.0
#: most seconds that an empty answer waits for files saved a moment ago, which must be few: more are
#: a switch of branches, which takes longer
SETTLE_S, SETTLE_FILES_MAX = 2.5, 20
#: seconds between two looks at the index meanwhile
LOOK_S = 0.05
#: letters of a word by which a file may hold it: its stem
STEM_CHARS = 4
#: maximum of shown characters of a filter's value
SHOWN_CHARS_MAX = 80

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


async def ask_settled(
    context: QueryContext, ask: Callable[[], Awaitable[dict[str, Any]]], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer of `ask`. If it lacks something, and files that may hold it were saved a
    moment ago, ask again when the index holds them; an answer that cannot wait for them names them
    as pending.
    """

    def unserved_files() -> set[str]:
        return context.freshness.unserved(context.freshness.current())

    try:
        answer = await ask()
    except NotFound:
        if await _wait_for_saved(context, unserved_files(), arguments):
            return await ask()
        raise
    if not (is_served(answer) and _lacks_something(answer)):
        return answer
    unserved = unserved_files()
    if await _wait_for_saved(context, unserved, arguments):
        answer = await ask()
        unserved = unserved_files() if _is_empty(answer) else set()
    index = answer["index"]
    if len(unserved) > index.get("pending_count", 0) and "generation" in index:
        pending = {"pending": sorted(unserved)[:PENDING_NAMED], "pending_count": len(unserved)}
        answer = answer | {"index": index | pending}
    return answer


async def _wait_for_saved(
    context: QueryContext, unserved: Collection[str], arguments: Mapping[str, Any]
) -> bool:
    """Wait until the index holds those of `unserved` that may hold what is asked for, as they are;
    whether it does. False at once for no files, and for more than are indexed soon. Files that grow
    are not waited for, and none again that was waited for in vain.
    """
    freshness = context.freshness
    if not 0 < len(unserved) <= SETTLE_FILES_MAX or not freshness.progress().running:
        return False
    stems, saved_files = _stems_of(arguments), freshness.saved_files
    paths = {path for path in saved_files.worth_waiting(unserved) if saved_files.may_hold(path, stems)}
    states = {path: saved_files.state(path) for path in paths}
    until = time.monotonic() + min(SETTLE_S, context.left_s() - LEFT_S)
    while paths and time.monotonic() < until:
        if freshness.is_settled(freshness.current(), paths):
            return True
        await asyncio.sleep(LOOK_S)
        growing = {path for path in paths if saved_files.state(path) != states[path]}
        saved_files.note_vain(growing)
        paths -= growing
    saved_files.note_vain(paths)
    return False


def _stems_of(arguments: Mapping[str, Any]) -> frozenset[str]:
    """Return the beginnings of the words of which a file holds one that has what is asked for; none
    where that is open, as for a regular expression.
    """
    values = [arguments[name] for name in (*_NAMES, *_TEXTS) if arguments.get(name)]
    texts = [text for value in values for text in ((value,) if isinstance(value, str) else value)]
    if arguments.get("match_type") in ("regex", "fuzzy") or any("~" in text for text in texts):
        return frozenset()
    words = {word for text in texts for word in part_words(_HOLES.sub(" ", text[:_PATH_CHARS_MAX]))}
    return frozenset(word[:STEM_CHARS] for word in words - STOP_WORDS)


async def name_filter(
    ask: Ask, arguments: Mapping[str, Any], answer: dict[str, Any], left_s: Callable[[], float]
) -> dict[str, Any]:
    """Return the answer; an empty one with a "suggestion" that names the filter responsible.

    `ask` repeats the call with other arguments: without each filter alone, then without all.
    """
    filters = [name for name in FILTERS if arguments.get(name) not in (None, "", (), 0)]
    if not filters or count_of(answer) != 0 or not is_served(answer):
        return answer
    singles = [[name] for name in filters]
    for names in [*singles, filters] if len(filters) > 1 else singles:
        if left_s() < LEFT_S:
            break
        left_out: dict[str, Any] = {
            name: () if isinstance(arguments[name], tuple) else None for name in names
        }
        left_out |= {name: "" for name in names if isinstance(arguments[name], str)}
        try:
            count = count_of(await ask({**arguments, **left_out}))
        except CortexError:
            break
        if count:
            return answer | {
                "suggestion": _sentence(names, arguments, count, str(answer.get("suggestion", "")))
            }
    return answer


def is_served(answer: Mapping[str, Any]) -> bool:
    """Whether a generation is served, so that a filter can exclude anything."""
    index = answer.get("index", {})
    return bool(index.get("generation") or index.get("generations"))


def count_of(answer: Mapping[str, Any]) -> int:
    """Return the number of hits in an answer; -1 for an answer that is no list of hits."""
    hits = next((answer[name] for name in ("results", "hits", "map") if name in answer), None)
    if not isinstance(hits, list):
        return -1
    return len(hits) and max(len(hits), int(answer.get("total_found", 0)))


def _sentence(names: list[str], arguments: Mapping[str, Any], count: int, suggestion: str) -> str:
    conditions = " and ".join(f"{name}={_shorten(arguments[name])}" for name in names)
    them = "it" if len(names) == 1 else "them"
    sentence = f"Nothing matches with {conditions}; without {them} there would be {count}."
    return f"{sentence} {suggestion}" if "ead as " in suggestion else sentence


def _shorten(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}…"


#: arguments that may name a file: whole, or before a line or a name
_NAMES, _GLOBS = ("path", "file", "target", "to", "symbol", "query"), ("paths", "scope")
#: other arguments with what is asked for
_TEXTS = ("places", "pattern")
#: what a pattern has for any code
_HOLES = re.compile(r"\$+\w+")
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


def _lacks_something(answer: Mapping[str, Any]) -> bool:
    """Whether the answer is empty, or one of cortex_read without a wanted definition."""
    if "code" not in answer:
        return _is_empty(answer)
    from cortex.ask.reading.meanings import UNKNOWN  # the answer's tool has imported it

    return not answer["code"] or any(note.startswith(UNKNOWN) for note in answer.get("notes", ()))
