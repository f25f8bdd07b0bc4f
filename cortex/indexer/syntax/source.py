"""The reading of one file as text: decoded, with line feeds as line ends. Returns a reason instead
of raising.
"""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass

from cortex.indexer.syntax import documents

#: bytes to check for NUL, which means binary, as in git
HEAD_BYTES = 8000
#: line length above which a file counts as minified or encoded data
LINE_CHARS_MAX = 20_000

#: average line length of a script or style sheet that a program wrote for browsers
MINIFIED_CHARS_MIN = 250
SCRIPTS = (".js", ".mjs", ".cjs", ".css")
#: notebooks hold pictures in long lines, which the chunkers leave out
NOTEBOOK = ".ipynb"

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text. `lines` have no line ends, and are empty when the file is blank. `remark`
    describes a guess.
    """

    path: str
    lines: tuple[str, ...]
    remark: str = ""

    def text(self, start: int, end: int) -> str:
        """Return lines `start` to `end`, 1-based and inclusive."""
        return "\n".join(self.lines[start - 1 : end])


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def decode(path: str, raw: bytes) -> Source | str:
    """Return the text of `raw`, or the reason for leaving it out, a short phrase.

    PDF and office files give their extracted text. A byte order mark is dropped; CRLF and CR become
    LF; text that is not UTF-8 is read as Latin-1, which fits any bytes.
    """
    remark = ""
    if documents.suffix_of(path):
        text, why = documents.read_document(path, raw)
        if why:
            return why
    elif raw.startswith(_UTF16):
        try:
            text = raw.decode("utf-16")
        except UnicodeDecodeError:
            return "binary"
    elif b"\0" in raw[:HEAD_BYTES]:
        return "binary"
    else:
        text, remark = _decode_text(raw)
        if remark and b"\0" in raw:  # a picture or a document with a long head of text
            return "binary"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return Source(path, ())
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    longest = max(map(len, lines))
    if longest > LINE_CHARS_MAX and not path.endswith(NOTEBOOK):
        return f"minified: a line of {longest} characters"
    if len(text) > MINIFIED_CHARS_MIN * len(lines) and path.endswith(SCRIPTS) and len(text) > HEAD_BYTES:
        return f"minified: {len(text) // len(lines)} characters a line"
    return Source(path, tuple(lines), remark)


def _decode_text(raw: bytes) -> tuple[str, str]:
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8"), ""
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "not UTF-8: read as Latin-1"
