"""The reading of one file as text: decoded, with line feeds as line ends. Returns a reason instead
of raising.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from cortex.indexer.syntax import documents
from cortex.terms.text.encodings import HEAD_BYTES, Text, read_text

#: line length above which a file counts as minified or encoded data
LINE_CHARS_MAX = 20_000

#: average line length of a script or style sheet that a program wrote for browsers
MINIFIED_CHARS_MIN = 250
SCRIPTS = (".js", ".mjs", ".cjs", ".css")
#: notebooks hold pictures in long lines, which the chunkers leave out
NOTEBOOK = ".ipynb"

#: the reason for leaving out a file whose bytes are no text
BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text. `lines` have no line ends, and are empty when the file is blank. `remark`
    describes an encoding that is not UTF-8, `encoding` is its codec.
    """

    path: str
    lines: tuple[str, ...]
    remark: str = ""
    encoding: str = ""

    def text(self, start: int, end: int) -> str:
        """Return lines `start` to `end`, 1-based and inclusive."""
        return "\n".join(self.lines[start - 1 : end])


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def decode(path: str, raw: bytes, named: Callable[[str], str] = lambda _path: "") -> Source | str:
    """Return the text of `raw`, or the reason for leaving it out, a short phrase.

    PDF and office files give their extracted text. A byte order mark is dropped; CRLF and CR become
    LF. `named` returns the encoding that the project names for a file (`read_text`).
    """
    if documents.suffix_of(path):
        text, why = documents.read_document(path, raw)
        if why:
            return why
        read: Text | None = Text(text)
    else:
        read = read_text(raw, lambda: named(path))
    if read is None:
        return BINARY
    if not read.text.strip():
        return Source(path, (), "", read.encoding)
    lines = read.lines()
    if not lines[-1]:
        lines.pop()
    size, longest = len(read.text), max(map(len, lines))
    if longest > LINE_CHARS_MAX and not path.endswith(NOTEBOOK):
        return f"minified: a line of {longest} characters"
    if size > MINIFIED_CHARS_MIN * len(lines) and path.endswith(SCRIPTS) and size > HEAD_BYTES:
        return f"minified: {size // len(lines)} characters a line"
    return Source(path, tuple(lines), read.remark, read.encoding)
