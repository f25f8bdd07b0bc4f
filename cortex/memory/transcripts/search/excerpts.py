"""The excerpt of a text that matches a query best, with the query's words marked. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cortex.terms import tokens

#: mark before and after a matching word
MARK = "**"
#: characters of the excerpt, and before its first match
SHOWN_CHARS, BEFORE_CHARS = 320, 80
#: characters of a text that are searched; words that are compared
LOOKED_CHARS, COMPARED = 200_000, 1_000
#: characters of a word before and after the match
WORD_CHARS = 60
#: letters at the end of a stem that may differ in a word: happi, happy
_ENDING_CHARS = 1


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The excerpt; `share`: weight of the words in the whole text, as a share of the query's."""

    text: str
    share: float


def mark(prompt: str, reply: str, worth: Mapping[str, float]) -> Excerpt:
    """The best excerpt of an exchange for words with these weights."""
    text = f"{prompt}\n{reply}" if reply else prompt
    matches = _find(text[:LOOKED_CHARS], worth)
    total = sum(worth.values())
    share = sum(worth[word] for word in {word for _, _, word in matches}) / total if total else 0.0
    start = max(0, _best_start(matches, worth) - BEFORE_CHARS)
    end = min(len(text), start + SHOWN_CHARS)
    pieces, at = ["…" if start else ""], start
    for first, last, _ in matches:
        if at <= first and last <= end:
            pieces += [text[at:first], MARK, text[first:last], MARK]
            at = last
    pieces += [text[at:end], "…" if end < len(text) else ""]
    return Excerpt("".join(pieces).strip(), share)


def _find(text: str, worth: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """(begin, end, word of the query) of each match, in their order."""
    if not worth:
        return []
    stems = "|".join(re.escape(word[: max(3, len(word) - _ENDING_CHARS)]) for word in worth)
    matches: list[tuple[int, int, str]] = []
    fitting: dict[str, str] = {}
    end = compared = 0
    for match in re.finditer(stems, tokens.lowered(text)):
        if match.start() < end:
            continue  # inside the word before
        start, end = _word_bounds(text, match.start(), match.end())
        written = text[start:end]
        if written not in fitting:
            terms = [term for term in tokens.lane_text(tokens.words(written)).split() if term in worth]
            fitting[written] = max(terms, key=worth.__getitem__, default="")
        if fitting[written]:
            matches.append((start, end, fitting[written]))
        compared += 1
        if compared >= COMPARED:
            break
    return matches


def _word_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = max(0, start - WORD_CHARS), min(len(text), end + WORD_CHARS)
    while start > first and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < last and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def _best_start(matches: list[tuple[int, int, str]], worth: Mapping[str, float]) -> int:
    """The start of the excerpt with the greatest weight of words."""
    best, place = 0.0, 0
    for at, (start, _, _) in enumerate(matches):
        words = {
            word for first, _, word in matches[at : at + 40] if first < start + SHOWN_CHARS - BEFORE_CHARS
        }
        value = sum(worth[word] for word in words)
        if value > best:
            best, place = value, start
    return place
