"""What a text must hold for an expression to match it: trigrams; how texts are folded. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_LOWER = bytes(range(256)).lower()
#: the one letter that a search in any case finds and that has no ASCII letter as its lower case
#: (KELVIN SIGN has)
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
    """UTF-8 `text` as its trigrams are made: in lower case, each run of white space one space, and
    one at either end.

    A quarter of the code is indentation: without it there is a quarter less to index.
    """
    if text.isascii():
        text = text.translate(_LOWER)
    else:
        text = text.decode(errors="replace").lower().encode().replace(_LONG_S, b"s")
    return b" %b " % b" ".join(text.split())
