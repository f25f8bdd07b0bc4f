"""The stems of the content words of a text. Pure."""

from __future__ import annotations

from functools import lru_cache

from cortex.memory.text import question_words
from cortex.terms import tokens

#: characters of a body that are read: the change is at the start
BODY_CHARS = 400
#: forms of irregular verbs → the base form
_IRREGULAR = {
    "written": "write", "wrote": "write", "rewrote": "write", "held": "hold", "built": "build", "sent": "send", "kept": "keep",
    "made": "make", "drawn": "draw", "drew": "draw", "done": "do", "ran": "run", "chosen": "choose",
    "chose": "choose", "bought": "buy", "sold": "sell", "paid": "pay", "given": "give", "gave": "give",
    "taken": "take", "took": "take", "found": "find", "shown": "show", "spoken": "speak", "spoke": "speak",
    "went": "go", "gone": "go", "began": "begin", "begun": "begin", "fed": "feed", "decided": "decide",
}  # fmt: skip


@lru_cache(4_096)
def stems(text: str) -> frozenset[str]:
    """The stems of the content words, irregular verbs in their base form."""
    words = tokens.words(text)
    return frozenset(
        question_words(" ".join(_IRREGULAR.get(word.lower(), word) for word in words)) if words else ()
    )
