"""Conditions on trigrams that a text must fulfil to match an expression; folding of texts. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_LOWER = bytes(range(256)).lower()
#: the only letter that matches an ASCII letter in any case, but has no ASCII lower case (KELVIN
#: SIGN has one)
_LONG_S = "\u017f".encode()


@dataclass(frozen=True, slots=True)
class Every:
    """All of `trigrams` (three bytes each) and each of `parts`. Without either: no condition."""

    trigrams: tuple[bytes, ...] = ()
    parts: tuple[Needs, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of `parts`."""

    parts: tuple[Needs, ...]


Needs = Every | Either
ANYTHING = Every()


def fold(text: bytes) -> bytes:
    """Return UTF-8 `text` in the form that trigrams are made of: in lower case, each run of white
    space as one space, and a space at either end.

    A quarter of the code is indentation: without it there is a quarter less to index.
    """
    if text.isascii():
        text = text.translate(_LOWER)
    else:
        text = text.decode(errors="replace").lower().encode().replace(_LONG_S, b"s")
    return b" %b " % b" ".join(text.split())
