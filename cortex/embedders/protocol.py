"""The protocol of embedders, without an implementation."""

from collections.abc import Sequence
from typing import Protocol

from cortex.system.arrays import Array
from ipc.messages import Mode


class Embedder(Protocol):
    """Turns texts into vectors, comparable only between embedders of equal `identity`."""

    @property
    def identity(self) -> str:
        """`name@content-hash`."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        """Return float32 [len(texts), dimensions], each row of unit length, or zero for a text
        without any known word.

        Raises Unavailable when a model server does not answer.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the count of this model's tokens in `text`; 0 for blank text. The count of a text
        is never more than the sum over its lines.
        """
        ...


def estimate_tokens(text: str) -> int:
    """Return a quarter of the characters that are not blanks, rounded up: the usual token count of
    code in sub-word models.
    """
    blanks = text.count(" ") + text.count("\t") + text.count("\n")
    return (len(text) - blanks + 3) // 4
