"""Pieces of text to insert, and text at the end of a file."""

from collections.abc import Sequence
from dataclasses import dataclass

Keys = Sequence[str]


class NotUnderstoodError(ValueError):
    """The text is invalid in its form, or has no place for the entry; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to insert before the character at index `at`."""

    at: int
    text: str

    def apply_to(self, text: str) -> str:
        return text[: self.at] + self.text + text[self.at :]


def section(text: str, body: str, begin: str) -> Piece | None:
    """Return the piece that adds a section (its first line is `begin`) at the end; None if it is
    there.

    Raises NotUnderstoodError if the text has an older one.
    """
    if body.replace("\n", newline_of(text)) in text:
        return None
    if begin in text:
        raise NotUnderstoodError("it has another section of ours already")
    return paragraph(text, body)


def paragraph(text: str, body: str) -> Piece:
    """Return the piece that adds `body` at the end, after an empty line."""
    newline = newline_of(text)
    before = "" if not text else newline if text.endswith("\n") else newline * 2
    return Piece(len(text), before + body.replace("\n", newline))


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
