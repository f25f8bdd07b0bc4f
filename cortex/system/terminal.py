"""Text of others as a log, a terminal and a store may have it: no command to any of them."""

from __future__ import annotations

import logging
import re
import sys
from types import TracebackType

#: what a terminal obeys or hides: controls but line feed and tab, marks that turn the direction of
#: writing, separators of lines, halves of characters
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_BREAKS = re.compile("[\t\n]")
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """`text` with what a terminal would obey written out, as numbers; lines stay lines."""
    return _OBEYED.sub(_escape_sequence, text.replace("\r\n", "\n"))


def escape_in_line(text: str) -> str:
    """As `shown`, on one line."""
    return _BREAKS.sub(_escape_sequence, escape_controls(text))


def clean(text: str) -> str:
    """Without what no text holds: NUL, other control characters, halves of surrogate pairs."""
    return _UNSTORABLE.sub("", text)


def _escape_sequence(match: re.Match[str]) -> str:
    code = ord(match[0])
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )


class LogFormat(logging.Formatter):
    """A record is one line, whatever ids, paths and questions are in it; that of an exception is
    followed by its trace, each line of it indented.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        record.message = escape_in_line(record.message)
        return super().formatMessage(record)

    def formatException(  # noqa: N802 - logging's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        return "\n".join(f"  {line}" for line in escape_controls(super().formatException(ei)).split("\n"))


def log_to_stderr(form: str, level: int) -> None:
    """Write the log of this process to its standard error, and what ends it as well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormat(form))
    logging.basicConfig(handlers=[handler], level=level)

    def ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        logging.getLogger("cortex").critical("ended by an error", exc_info=(kind, error, trace))

    sys.excepthook = ended
