"""Graph ids: their parts, what encloses them, the 64-bit keys that stand for names. Pure."""

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


def key_of(text: str) -> int:
    return int.from_bytes(_digest(text), "little")


def keys_of(texts: Iterable[str]) -> Array:
    """u64 [n], in the order of `texts`."""
    import numpy as np  # which fronts that only read an id do without

    return np.frombuffer(b"".join(map(_digest, texts)), "<u8")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=KEY_BYTES).digest()


def split_id(name: str) -> list[str]:
    """`app/store:Disk.save~2` → app, store, Disk, save."""
    return [piece for piece in _SEPARATOR.split(strip_overload(name)) if piece]


def split_short(name: str) -> list[str]:
    """As `split`, without the file's own name: Go's `package.Name` may be in any of its files."""
    path, colon, scope = name.partition(":")
    return split_id(path.rpartition("/")[0]) + split_id(scope) if colon else split_id(name)


def stem_of(path: str) -> str:
    """A path as ids of the graph begin: without what follows the last dot of its name."""
    return path[: path.rindex(".")] if "." in path.rpartition("/")[2][1:] else path


def strip_overload(name: str) -> str:
    """An id without the number of its overload."""
    return _COPY.sub("", name)


def enclosing_id(name: str) -> str:
    """The id of what encloses a node: a type, a module, a folder (`.` for the project's own)."""
    path, colon, scope = name.partition(":")
    if not colon:
        return path.rpartition("/")[0] or "."
    outer = scope.rpartition(".")[0]
    return f"{path}:{outer}" if outer else path


def depth(name: str) -> int:
    """How deep a definition lies in its file: 0 for a module, 1 at the top of it."""
    _, colon, scope = name.partition(":")
    return 1 + scope.count(".") if colon else 0
