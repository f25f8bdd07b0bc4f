"""Graph ids: their parts, their enclosing ids, and 64-bit hashes of names. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cortex.system.arrays import Array

#: bytes of a key: among a million names two share one with a probability of 3 · 10⁻⁸
KEY_BYTES = 8

_SEPARATOR = re.compile(r"::|[:/.#\\]")
_COPY = re.compile(r"~\d+$")
#: an operator with a separator in it, at the end of an id: `Path./`, `Range...`
_OPERATOR = re.compile(r"(?<=\w)(?:::|[.#]|:(?!:))([^\w\s]*[/.#\\:][^\w\s]*)$")


def key_of(text: str) -> int:
    return int.from_bytes(_digest(text), "little")


def keys_of(texts: Iterable[str]) -> Array:
    """Return the key of each text, u64 [n]."""
    import numpy as np  # imported late: fronts that only read an id need no numpy

    return np.frombuffer(b"".join(map(_digest, texts)), "<u8")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=KEY_BYTES).digest()


def split_id(name: str) -> list[str]:
    """`app/store:Disk.save~2` → app, store, Disk, save; `lib/path:Path./` → lib, path, Path, /."""
    name = strip_overload(name)
    operator = _OPERATOR.search(name) if not name[-1:].isalnum() else None
    pieces = [piece for piece in _SEPARATOR.split(name[: operator.start()] if operator else name) if piece]
    return [*pieces, operator[1]] if operator else pieces


def split_short(name: str) -> list[str]:
    """As `split_id`, without the file's own name: Go's `package.Name` may be in any file."""
    path, colon, scope = name.partition(":")
    return split_id(path.rpartition("/")[0]) + split_id(scope) if colon else split_id(name)


def stem_of(path: str) -> str:
    """Return a path without its suffix: the beginning of its graph ids."""
    return path[: path.rindex(".")] if "." in path.rpartition("/")[2][1:] else path


def strip_overload(name: str) -> str:
    """Return an id without the number of its overload."""
    return _COPY.sub("", name)


def enclosing_id(name: str) -> str:
    """Return the id that encloses a node: a type, a module, a folder (`.`: the root)."""
    path, colon, scope = name.partition(":")
    if not colon:
        return path.rpartition("/")[0] or "."
    outer = "" if scope.startswith("<") else scope.rpartition(".")[0]  # `<GET /orders.json>`
    return f"{path}:{outer}" if outer else path


def depth(name: str) -> int:
    """Return the nesting depth of a definition: 0 for the module, 1 for its top level."""
    _, colon, scope = name.partition(":")
    if scope.startswith("<"):
        return 1
    return 1 + scope.count(".") if colon else 0
