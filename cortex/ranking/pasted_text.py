"""Reader of pasted texts: stack traces, error messages, issue texts. Pure; an ordinary question is
returned unchanged.

A pasted text is mostly noise (frames of libraries, versions, greetings), and its first words are
rarely significant. This module extracts the significant parts: named files and lines, functions of
frames, error messages, quoted texts and code. docs/RANKING.md, "Pasted texts". traces.py parses
single frames.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.ranking import traces
from cortex.ranking.traces import ENDING, KNOWN_ENDINGS, START, Frame, clean_path, file_stem, is_foreign
from cortex.terms import tokens
from ipc.messages import Hit, Located, Place, Signals, signals_of

#: a text without any of these marks, and shorter than PASTED_CHARS_MIN, is not examined
_TELLS = re.compile(r"[\n`/\\]|\(\)|\.\w+[:(]\d")
PASTED_CHARS_MIN = 160
#: words from which on a text counts as pasted; the longest of 423 annotated questions has 16
PASTED_WORDS_MIN = 40
#: frames from which on a text in one line counts as a trace
TRACE_FRAMES_MIN = 2
#: characters of a text that are examined: its beginning and, where the last frames and messages
#: are, its end; and of a line
HEAD_CHARS, TAIL_CHARS, LINE_CHARS_MAX = 24_000, 8_000, 600
#: words of a pasted text in the query, besides its frames and code: the text worker looks up 64,
#: including parts
PROSE_WORDS_MAX = 40
#: places, names, messages and quoted texts that are used, at most
PLACES_MAX, NAMES_MAX, MESSAGES_MAX, QUOTES_MAX = 12, 6, 3, 4
#: words of a question that may be a literal of the code as a whole: three name a subject, "sort by
#: kind", unless "Error:" precedes them
LITERAL_WORDS_MIN, LITERAL_WORDS_MAX = 4, 24
#: score of a cited file by its rank: the first ones; any later one
_CITED, _CITED_LATER = (1.0, 0.6, 0.45, 0.4, 0.35), 0.3
#: score of the first name's definition, as a share of a query for the name alone; and most chunks
#: that may define a name, above which it is ignored
NAME_SHARE, DEFINITIONS_MAX = 0.6, 5
#: files that may match a path, from which on it is ignored; parts of two paths that have to agree
AMBIGUOUS, SHARED_MIN = 4, 2

# Every expression is linear in the text: it starts at the beginning of a word or a line only, and
# nothing is nested.
_BARE = re.compile(rf"(?P<path>{START}(?:[A-Za-z]:)?[\w./\\@+~-]*[/\\][\w.-]*\w\.{KNOWN_ENDINGS})(?![\w/])")
_TICKED_FILE = re.compile(rf"`(?P<path>[\w.-]*\w\.{KNOWN_ENDINGS})`")
_BLOB = re.compile(
    rf"https?://\S{{1,200}}?/(?:blob|blame|raw|src)/[^/\s]{{1,80}}/(?P<path>[\w./@+-]+\.{ENDING})(?:#L(?P<line>\d{{1,7}}))?"
)
_QUOTED = re.compile(
    r"`([^`\n]{3,120})`|\"([^\"\n]{3,120})\"|“([^”\n]{3,120})”|(?<!\w)'([^'\n]{3,120})'(?!\w)"
)
#: identifiers that are not a single plain word: dotted, with ::, snake or camel case, called
_CODE = re.compile(
    r"(?<![\w/.\\])(?:[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+(?:\(\))?|[A-Za-z_]\w*\(\)"
    r"|[A-Za-z]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)(?![\w/])"
)
_MARKED = re.compile(r"`([\w.:#>()-]{2,120})`|(?<![\w.:])([A-Za-z_][\w.:]*\(\))")
#: what a program puts before a message: `ValueError: `, `Error: `, `thread 'main' panicked at `
_BEFORE_MESSAGE = re.compile(
    r"\W*(?:[\w.$\\]*(?:error|exception|warning|failure|panic|fatal)\b[^:\n]{0,20}:\s*)+", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_URL = re.compile(r"\bhttps?://\S+")
_NUMBER = re.compile(r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d[\d.,:T+-]*)\b")
#: lines of issue templates
_TEMPLATE = re.compile(
    r"^[\s#*_>-]*(?:(?:steps )?to reproduce|reproduction|expected(?: behaviou?r| result)?|actual(?: behaviou?r| result)?|"
    r"describe the bug|environment|additional (?:context|information)|versions?|system info|screenshots?|checklist|what happened|"
    r"description|minimal (?:working |reproducible )?example|os|platform|browser|logs?|traceback \(most recent call last\)|"
    r"stack ?trace|stack backtrace)[\s*_]*(?::.*)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The search for a question: the lanes' `query`, the `places` that it names (the surest first),
    and `names` of code to look up definitions of. For an ordinary question `query` is its own text,
    without places and names.
    """

    query: str
    places: tuple[Place, ...] = ()
    names: tuple[str, ...] = ()


def read_question(question: str) -> Reading:
    """Read a question. Never raises; a text without recognised parts stays as it is."""
    if not _TELLS.search(question) and len(question) < PASTED_CHARS_MIN:
        return Reading(question)
    text = _bound_length(question)
    frames = traces.find_frames(text)
    places = _collect_places((*frames, *_mentioned_files(text)))
    messages = _error_messages(text) if "\n" in text else []
    lines = "\n" in text and (frames or messages)
    if not lines and len(frames) < TRACE_FRAMES_MIN and len(tokens.words(text)) < PASTED_WORDS_MIN:
        return Reading(question, places, _marked_names(text))
    names = list(dict.fromkeys(frame.name for frame in frames if frame.name))
    prose = _extract_prose(_FENCE.sub("", text))
    identifiers = [identifier for identifier in _identifiers(prose) if identifier not in names]
    parts = [
        *messages[:MESSAGES_MAX],
        *(f"{frame.name} {file_stem(frame.path)}" for frame in frames[: PLACES_MAX // 2]),
        *identifiers[: 2 * NAMES_MAX],
        *_quoted_texts(prose)[:QUOTES_MAX],
        *(file_stem(place.path) for place in places if not place.line),
        " ".join(tokens.words(prose)[:PROSE_WORDS_MAX]),
    ]
    query = " ".join(" ".join(filter(None, parts)).split())
    return Reading(query or question, places, tuple((names + identifiers)[:NAMES_MAX]))


def literal_texts(question: str) -> list[str]:
    """Return the texts of a question that may be in the code word for word: error messages without
    what precedes them, quoted texts, and a short question as a whole.
    """
    text = _bound_length(question)
    messages = _error_messages(text)[:MESSAGES_MAX]
    if "\n" not in text.strip() and LITERAL_WORDS_MIN <= len(tokens.words(text)) <= LITERAL_WORDS_MAX:
        messages.append(text)
    messages = [_BEFORE_MESSAGE.sub("", message, count=1) for message in messages]
    return list(dict.fromkeys((*_quoted_texts(text)[:QUOTES_MAX], *messages)))


def cite(places: Sequence[Place], located: Located) -> Signals | None:
    """Return the signals "cited" (score of a file that is named, 0-1) and "line" (1 for the chunk
    with a named line); None if the index holds no named place.
    """
    by_place: dict[int, list[tuple[Hit, bool]]] = {}
    for spot in located.spots:
        if spot.whole or spot.shared >= SHARED_MIN:
            by_place.setdefault(spot.place, []).append((spot.hit, places[spot.place].line > 0))
    best: dict[int, tuple[Hit, float, float]] = {}
    files: set[str] = set()
    for _, spots in sorted(by_place.items()):
        if len(spots) >= AMBIGUOUS:
            continue
        at = len(files)
        worth = (_CITED[at] if at < len(_CITED) else _CITED_LATER) / len(spots)
        for hit, has_line in spots:
            if hit.path not in files or has_line:
                best.setdefault(hit.key, (hit, 0.0 if hit.path in files else worth, float(has_line)))
        files |= {hit.path for hit, _ in spots}
    if not best:
        return None
    rows = [[worth for _, worth, _ in best.values()], [line for _, _, line in best.values()]]
    hits = tuple(hit for hit, _, _ in best.values())
    return signals_of(located.generation, hits, ("cited", "line"), np.array(rows, np.float32))


def define(signals: Signals, place: int) -> Signals | None:
    """Return "defx" of chunks that define name number `place`; None if none or too many."""
    values = signals.row("defx")
    defining = np.flatnonzero(values)
    if not 0 < len(defining) <= DEFINITIONS_MAX:
        return None
    hits = [signals.hit(at) for at in defining.tolist()]
    share = NAME_SHARE / (1 + place / 2)
    return signals_of(signals.generation, hits, ("defx",), (share * values[defining]).reshape(1, -1))


def _bound_length(text: str) -> str:
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    text = text.replace("\r\n", "\n")
    return "\n".join(line[:LINE_CHARS_MAX] for line in text.split("\n"))


def _mentioned_files(text: str) -> Iterator[Frame]:
    """Yield files named without a line: in a forge's link, with folders, alone in backquotes."""
    for match in _BLOB.finditer(text):
        yield Frame(match["path"], int(match["line"] or 0))
    plain = _URL.sub(" ", text)
    for pattern in (_BARE, _TICKED_FILE):
        for match in pattern.finditer(plain):
            path = clean_path(match["path"])
            if not is_foreign(path):
                yield Frame(path, 0)


def _collect_places(frames: Iterable[Frame]) -> tuple[Place, ...]:
    places: dict[str, Place] = {}
    for frame in frames:
        places.setdefault(frame.path, Place(frame.path, frame.line))
    return tuple(places.values())[:PLACES_MAX]


def _error_messages(text: str) -> list[str]:
    """Return the error messages, last first: that is mostly the cause of the others."""
    messages = [_NUMBER.sub(" ", match["message"]) for match in traces.ERROR.finditer(text)]
    return list(dict.fromkeys(" ".join(message.split()) for message in reversed(messages)))


def _extract_prose(text: str) -> str:
    """Return the text without frames, error lines, links, numbers and template lines."""
    prose_lines: list[str] = []
    behind = False  # the line before was a frame of Python, whose source line follows
    for line in _URL.sub(" ", text).split("\n"):
        indented = line[:1].isspace()
        frame = traces.is_python_frame(line)
        if behind and indented and not frame:
            behind = not line.strip(" \t~^")
            continue
        behind = frame
        if frame or traces.is_frame(line):
            if indented and prose_lines and traces.names_function(prose_lines[-1]):
                prose_lines.pop()  # the function of this frame
            continue
        if not (_TEMPLATE.match(line) or traces.ERROR.match(line)):
            prose_lines.append(_NUMBER.sub(" ", line))
    return "\n".join(prose_lines)


def _identifiers(text: str) -> list[str]:
    matches = (match[0].removesuffix("()") for match in _CODE.finditer(text))
    return [name for name in dict.fromkeys(matches) if len(name) > 2 and name.lower() not in ("e.g", "i.e")]


def _marked_names(question: str) -> tuple[str, ...]:
    """Return identifiers that a short question marks as code: backquoted, or before `()`."""
    marked = [match[1] or match[2] for match in _MARKED.finditer(question)]
    marked = [name.removesuffix("()") for name in marked if not _TICKED_FILE.fullmatch(f"`{name}`")]
    if len(tokens.words(question)) <= max((len(tokens.words(name)) for name in marked), default=0):
        return ()  # only an identifier: the text worker handles it
    return tuple(dict.fromkeys(marked))[:NAMES_MAX]


def _quoted_texts(text: str) -> list[str]:
    """Return quoted texts of several words, most likely literals of messages."""
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return [quote for quote in dict.fromkeys(quoted) if len(tokens.words(quote)) > 1]
