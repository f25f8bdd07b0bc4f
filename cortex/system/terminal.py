"""Text from outside, made safe for logs, terminals and stores: no character acts as a command. The
standard streams, made safe for any text.
"""

import codecs
import logging
import os
import re
import sys
from types import TracebackType
from typing import TextIO

#: characters that a terminal obeys or hides: controls except line feed and tab, direction marks,
#: line separators, surrogates
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BREAKS = re.compile("[\t\n]")
#: name of the handler of characters that a stream's encoding lacks
_UNENCODABLE = "cortex.escape"
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """Return `text` with characters that a terminal obeys written as numbers; line breaks stay."""
    return _OBEYED.sub(_escape_sequence, text.replace("\r\n", "\n"))


def print_text(text: str, file: TextIO | None = None) -> None:
    """Print a text with its control characters escaped; `file`: standard output."""
    print(escape_controls(text), file=file)


def escape_in_line(text: str) -> str:
    """As `escape_controls`, on one line: tabs and line breaks are escaped too."""
    return _BREAKS.sub(_escape_sequence, escape_controls(text))


def clean(text: str) -> str:
    """Return `text` without NUL, other control characters and surrogates."""
    return _UNSTORABLE.sub("", text)


def _escape_sequence(match: re.Match[str]) -> str:
    code = ord(match[0])
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )


def open_standard_streams() -> None:
    r"""Make standard input, output and error usable whatever the caller gave.

    A closed one becomes the null device: else the next file opened would get its number, and a
    message to standard error would be written into it. A character that the encoding of an output
    lacks is written as in JSON, `\\u2026`.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    codecs.register_error(_UNENCODABLE, _escape_unencodable)
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, stream := os.fdopen(number, mode, encoding="utf-8", closefd=False))
        if mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_UNENCODABLE)


def _escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def read_utf8(argument: str) -> str:
    """Return a command line's argument with bytes that an ASCII locale left read as UTF-8."""
    return os.fsencode(argument).decode("utf-8", "surrogateescape") if not argument.isascii() else argument


class LogFormat(logging.Formatter):
    """Format each log record as one line, whatever ids, paths and queries it holds. The trace of an
    exception follows it, each line indented.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        record.message = escape_in_line(record.message)
        return super().formatMessage(record)

    def formatException(  # noqa: N802 - logging's name
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return "\n".join(f"  {line}" for line in escape_controls(super().formatException(ei)).split("\n"))


def log_to_stderr(form: str, level: int) -> None:
    """Write the log of this process to standard error, uncaught exceptions included."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormat(form))
    logging.basicConfig(handlers=[handler], level=level)

    def ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        logging.getLogger("cortex").critical("ended by an error", exc_info=(kind, error, trace))

    sys.excepthook = ended
