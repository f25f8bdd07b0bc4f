"""Kinds of lines that match a query: definition, call, import, type, comment, test, or text. Known
from the chunk's syntax tree where possible, else guessed from the line.
"""

import re
import string
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import orjson

from cortex.engines.text.matches.line_matches import Body, Marked
from cortex.generation.read import read_definitions
from cortex.system.arrays import Array
from cortex.terms.code import inline_tests
from cortex.terms.kinds import DATA_KINDS, NAMED_TYPE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.paths import is_test
from ipc.messages import Hit

Kind = Literal["definition", "call", "import", "type", "text", "comment", "test"]

#: in the order of the groups
KINDS: tuple[Kind, ...] = ("definition", "call", "import", "type", "text", "comment", "test")
NUMBERS = {kind: at for at, kind in enumerate(KINDS)}
#: lines from the beginning of a definition in which its name may be
HEAD_LINES = 6
#: characters before a match in which its word may begin
WORD_CHARS = 200
#: matched words, above which the names that a chunk defines are compared with all of them at once
NAMES_MAX = 12

#: the beginning of a comment line in any language
_COMMENT = re.compile(r"[^\S\n]*(?://|/\*|\*(?=[\s/*])|#(?=[\s#:]|$)|<!--|\"\"\")")
#: the same after the mark of a language's comments
_OWN_COMMENT = {mark: re.compile(rf"[^\S\n]*{mark}") for mark in ("--", ";", "%")}
_IMPORT = re.compile(
    r"[^\S\n]*(?:import|from|#[^\S\n]*include|using|use|require(?:_relative)?|export\s.*\bfrom|@import)\b"
)
_REQUIRE = re.compile(r".*\brequire\(")
_CALLED = re.compile(r"[^\S\n]*(?:<[^<>()]*>|::<[^<>()]*>|!)?\(")
#: a keyword before a name that is defined there, even without a definition in the syntax tree
_DEFINING = re.compile(
    r"(?:^|[^\w.$])(?:function|def|func|fn|fun|sub|defp|macro_rules!|#[^\S\n]*define)\s*\*?\s+$"
)
#: a quotation mark to the end of its string or line; a group is not empty if the string ends there
_STRING = re.compile(r"""(?:"(?:\\.|[^"\\\n])*("?)|'(?:\\.|[^'\\\n])*('?)|`(?:\\.|[^`\\\n])*(`?))""")
_DOUBLE = re.compile(r'"(?:\\.|[^"\\\n])*("?)')
_LETTERS = f"{string.ascii_letters}{string.digits}_"
_WORD_END = re.compile(r"\w*")
#: the name of a definition in the JSON of a chunk
_DEFINED = re.compile(rb'"name":("(?:[^"\\]|\\.)*+")')
#: in the JSON of a chunk that is a test
_IS_TEST = b'"is_test":true'
_DOCSTRING = ('"""', "'''")
#: what precedes the beginning of a string on its line
_BEFORE_STRING = re.compile(
    r"(?:^|[=(\[{,:+%\\]|\b(?:return|yield|in|not|and|or|assert|await|else|if))\s*[A-Za-z]{0,2}$"
)


class Definition(NamedTuple):
    """A definition: its first line, its name, and its kind in the syntax tree."""

    start: int
    name: str
    kind: str


class _Definitions:
    """Definitions of the matched names in the chunks. `chunk_jsons`: the JSON of each."""

    def __init__(self, names: set[str], chunk_jsons: Sequence[bytes]) -> None:
        self._chunk_jsons, self._names = chunk_jsons, names
        self._by_chunk: dict[int, list[Definition]] = {}
        wanted = {orjson.dumps(name) for name in names if name}
        kinds: dict[str, set[str]] = {}
        for chunk, raw in enumerate(chunk_jsons):
            if len(wanted) > NAMES_MAX:
                may_define = not wanted.isdisjoint(_DEFINED.findall(raw))
            else:
                may_define = any(map(raw.__contains__, wanted))
            if may_define:
                for definition in self._of_chunk(chunk):
                    kinds.setdefault(definition.name, set()).add(definition.kind)
        #: name → the kinds of its definitions
        self.kinds: Mapping[str, set[str]] = kinds

    def find(self, chunk: int, number: int, name: str) -> Definition | None:
        """The definition of the name that begins on this line or a few lines above, in a chunk that
        defines a matched name.
        """
        for definition in self._by_chunk.get(chunk, ()):
            if definition.name == name and definition.start <= number < definition.start + HEAD_LINES:
                return definition
        return None

    def gives_value(self, chunk: int, number: int, before: str) -> bool:
        """Whether the text `before` holds a constant or variable that is defined on this line."""
        near = [
            definition
            for definition in self._of_chunk(chunk)
            if definition.start <= number < definition.start + HEAD_LINES and definition.name in before
        ]
        latest = {definition.name: definition for definition in reversed(near)}
        return any(definition.kind in DATA_KINDS for definition in latest.values())

    def _of_chunk(self, chunk: int) -> list[Definition]:
        """The relevant definitions of a chunk, the last line first; of several with the same name
        and line the last one.
        """
        if chunk not in self._by_chunk:
            entries = read_definitions(self._chunk_jsons[chunk])[0]
            latest = {
                (entry["start_line"], str(entry.get("name"))): str(entry.get("kind") or "")
                for entry in entries
                if isinstance(entry, dict)
                and (entry.get("name") in self._names or entry.get("kind") in DATA_KINDS)
                and isinstance(entry.get("start_line"), int)
            }
            definitions = [Definition(start, name, kind) for (start, name), kind in latest.items()]
            definitions.sort(key=lambda definition: -definition.start)
            self._by_chunk[chunk] = definitions
        return self._by_chunk[chunk]


def find_kinds(body: Body, marked: Marked, chunk_jsons: Sequence[bytes]) -> Array:
    """The kind of each marked line, as an index in KINDS, i64. `chunk_jsons`: the JSON of each
    chunk, without its text.
    """
    chunk_kinds = list(map(_chunk_kind, body.hits, body.files, chunk_jsons))
    kinds: list[Kind | None] = [chunk_kinds[chunk] for chunk in marked.chunks.tolist()]
    unsure = [at for at, kind in enumerate(kinds) if kind is None]
    classifier = _LineClassifier(body, marked, unsure, chunk_jsons)
    columns = (
        column[unsure].tolist() for column in (marked.chunks, marked.numbers, marked.begins, marked.starts)
    )
    for at, line in zip(unsure, zip(*columns, classifier.words, strict=True), strict=True):
        kinds[at] = classifier.classify(*line)
    definition_lines = {text for kind, text in zip(kinds, marked.texts, strict=True) if kind == "definition"}
    for at, text in enumerate(marked.texts):  # equal lines get the same kind, in a copy of the file, too
        if text in definition_lines and kinds[at] in ("text", "type"):
            kinds[at] = "definition"
    return np.array([NUMBERS[kind] for kind in kinds if kind is not None], np.int64)


def _chunk_kind(hit: Hit, path: str, chunk_json: bytes) -> Kind | None:
    """The kind of all lines of a chunk, if it does not depend on the line."""
    if is_test(path) or (path.endswith(inline_tests.ENDING) and _IS_TEST in chunk_json):
        return "test"
    return "text" if hit.chunk_type == "documentation" else None


def begins_inside(text: str, mark: str) -> bool:
    """Whether the first `mark` of a docstring in a part of a file ends the string: there is text
    before it; or it is alone on its line, below text, and the marks are odd in number.
    """
    above, marked, below = text.partition(mark)
    if not marked:
        return False
    above, _, before = above.rpartition("\n")
    if before.strip():
        return _BEFORE_STRING.search(before) is None
    after = below.partition("\n")[0].strip()
    above = above.rstrip()
    is_open = (after and after[0] not in ")]},.:%") or not above or above[-1] in ":([{,=+%\\"
    return not is_open and not below.count(mark) % 2


class _LineClassifier:
    """Classifies the marked lines of a body at `places`, in order."""

    def __init__(
        self, body: Body, marked: Marked, places: Sequence[int], chunk_jsons: Sequence[bytes]
    ) -> None:
        self._text, self._starts = body.text, body.texts.starts.tolist()
        self._requires = "require(" in body.text
        self._languages = [language_of(path) for path in body.files]
        spans = zip(marked.starts[places].tolist(), marked.ends[places].tolist(), strict=True)
        #: bounds of the word with the first match of each line
        self.words = [self._word_bounds(*span) for span in spans]
        names = {self._text[first:last] for first, last in self.words}
        self._definitions = _Definitions(names, chunk_jsons)
        #: (chunk, mark) → whether the chunk begins inside of a docstring with this mark
        self._begun: dict[tuple[int, str], bool] = {}
        #: definitions with a name seen already: further lines of their heads are uses
        self._visited: set[tuple[int, str, int]] = set()

    def classify(self, chunk: int, number: int, begin: int, start: int, word: tuple[int, int]) -> Kind:
        text, (first, last) = self._text, word
        if self._in_value(chunk, begin):
            return "text"
        if self._is_comment(chunk, begin, start):
            return "comment"
        if self._defines(chunk, number, text[first:last]) or (
            text[first - 1 : first].isspace() and _DEFINING.search(text[begin:first])
        ):
            return "definition"
        if _IMPORT.match(text, begin) or (self._requires and _REQUIRE.match(text, begin)):
            return "import"
        if self._in_string(chunk, begin, start):
            values = self._definitions.gives_value(chunk, number, text[begin:first])
            return "definition" if values else "text"
        if _CALLED.match(text, last):
            return "call"
        return self._classify_use(text[first:last])

    def _classify_use(self, name: str) -> Kind:
        """The kind of a name that is neither defined nor called here: by its definition, if that is
        among the chunks, else by its spelling.
        """
        if kinds := self._definitions.kinds.get(name):
            return "type" if kinds & NAMED_TYPE_KINDS else "text"
        return "type" if name[:1].isupper() and not name.isupper() else "text"

    def _defines(self, chunk: int, number: int, name: str) -> bool:
        definition = self._definitions.find(chunk, number, name)
        if definition is None:
            return False
        key = (chunk, name, definition.start)
        if key in self._visited and definition.start != number:
            return False
        self._visited.add(key)
        return True

    def _word_bounds(self, start: int, end: int) -> tuple[int, int]:
        text = self._text
        if start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            before = text[max(0, start - WORD_CHARS) : start]
            start -= len(before) - len(before.rstrip(_LETTERS))
            while start > 0 and text[start - 1].isalnum():  # letters beyond ASCII
                start -= 1
        word_end = _WORD_END.match(text, end)
        return start, word_end.end() if word_end else end

    def _is_comment(self, chunk: int, begin: int, start: int) -> bool:
        text, language = self._text, self._languages[chunk]
        if _COMMENT.match(text, begin):
            return True
        mark = ";" if language.name == "ini" else language.comment  # ini has both
        if (comment := _OWN_COMMENT.get(mark)) and comment.match(text, begin):
            return True
        if language.comment == "#":
            return self._in_docstring(chunk, begin) or self._follows_mark(begin, start, "#", chunk)
        return self._in_block(chunk, start) or self._follows_mark(begin, start, "//", chunk)

    def _in_block(self, chunk: int, start: int) -> bool:
        """Whether a place is in a comment of several lines, perhaps begun before the chunk."""
        text, first = self._text, self._starts[chunk]
        opened, closed = text.rfind("/*", first, start), text.rfind("*/", first, start)
        if opened > closed:
            return not self._is_quoted(opened, chunk)
        if closed >= 0:
            return False
        end = self._starts[chunk + 1] if chunk + 1 < len(self._starts) else len(text)
        ends = text.find("*/", start, end)
        return ends >= 0 and text.find("/*", start, ends) < 0 and not self._is_quoted(ends, chunk)

    def _in_docstring(self, chunk: int, begin: int) -> bool:
        first = self._starts[chunk]
        return any(
            self._text.count(mark, first, begin) % 2 != self._begins_in_docstring(chunk, mark)
            for mark in _DOCSTRING
        )

    def _in_value(self, chunk: int, begin: int) -> bool:
        """Whether a line begins inside of a string of several lines that is a value, not a
        docstring: a message, a query.
        """
        text, first = self._text, self._starts[chunk]
        if self._languages[chunk].name != "python":
            return False
        for mark in _DOCSTRING:
            opened = text.rfind(mark, first, begin)
            before = text[text.rfind("\n", 0, opened) + 1 : opened] if opened >= first else ""
            is_value = before.strip(" \trRbBuUfF") and _BEFORE_STRING.search(before)
            if is_value and text.count(mark, first, begin) % 2 != self._begins_in_docstring(chunk, mark):
                return True
        return False

    def _begins_in_docstring(self, chunk: int, mark: str) -> bool:
        """Whether a chunk of Python begins inside of a docstring: its first mark ends one."""
        if self._languages[chunk].name != "python":
            return False
        if (chunk, mark) not in self._begun:
            end = self._starts[chunk + 1] if chunk + 1 < len(self._starts) else len(self._text)
            self._begun[chunk, mark] = begins_inside(self._text[self._starts[chunk] : end], mark)
        return self._begun[chunk, mark]

    def _follows_mark(self, begin: int, start: int, mark: str, chunk: int) -> bool:
        """Whether a comment `mark` precedes the place on its line, outside of strings."""
        at = self._text.find(mark, begin, start)
        while at >= 0:
            before = self._text[at - 1 : at]
            if not (before and before in ":\\$&") and not self._in_string(chunk, begin, at):
                return True
            at = self._text.find(mark, at + 1, start)
        return False

    def _is_quoted(self, place: int, chunk: int) -> bool:
        return self._in_string(chunk, self._text.rfind("\n", 0, place) + 1, place)

    def _in_string(self, chunk: int, begin: int, place: int) -> bool:
        """Whether `place` is in a string that begins and ends on its line."""
        text, quotes = self._text, _DOUBLE if self._languages[chunk].name == "rust" else _STRING
        end = text.find("\n", place)
        while quoted := quotes.search(text, begin, end if end >= 0 else len(text)):
            if quoted.start() >= place:
                return False
            is_string = any(quoted.groups())  # else an apostrophe or a lifetime
            if is_string and place < quoted.end():
                return True
            begin = quoted.end() if is_string else quoted.start() + 1
        return False
