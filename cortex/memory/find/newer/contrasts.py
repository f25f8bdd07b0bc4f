"""What speaks against a newer note that shares words with an older one: it has another or a
narrower subject, it tells what others say or what was not done, or it holds for a while. Pure.
"""

from __future__ import annotations

import re

from cortex.memory.find.newer.statements import Question, Statement, is_number

#: words of hearsay, of plans that were given up, and of times long ago
_HEARSAY = re.compile(
    r"(?i)[\"“”„«»]|\b(?:heard|read that|rumou?rs?|wiki|propos(?:al|als|ed|es)|suggest\w*|discuss\w*|consider\w*|ideas?"
    r"|would like|ask(?:s|ed) (?:whether|if)|said no|refus\w+|reject\w+|declin\w+|vot(?:e|ed) (?:down|against)|lost the vote"
    r"|binned|thrown away|never (?:merged|happened)|tried|looked at|usually|out of date|last year|years? ago|there was"
    r"|(?:before|in|of) (?:19|20)\d\d)\b"
)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
#: the end of a time for which something holds, or a condition
_BOUNDED = re.compile(
    rf"(?i)\b(?:until|till|to)\s+(?:the end of\s+)?(?:\d{{1,2}}(?:\.|st|nd|rd|th)?\s+)?{_MONTH}\b|\bfor {_MONTH}\b"
    r"|\b(?:when|whenever|if|unless) (?:it|they|we|you|he|she|one|a|an|the)\b"
)
#: a question whose answer is mostly a number
_QUANTITY = re.compile(
    r"(?i)\bhow\s+(?:many|much|long|often|old|far|big|large|soon|fast|early|late)\b|\bwhen\b|\bcosts?\b|\bport\b"
    r"|\b(?:what|which)\s+(?:time|price|(?:week)?day)\b"
)


def is_hearsay(text: str) -> bool:
    return bool(_HEARSAY.search(text))


def is_bounded(text: str) -> bool:
    """Whether a text names the end of the time for which it holds, or a condition."""
    return bool(_BOUNDED.search(text))


def asks_for_number(question: str) -> bool:
    return bool(_QUANTITY.search(question))


def has_other_subject(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note has a subject of new words, and lacks a word of the older one's
    subject that the question names.
    """
    subject = newer.subject or {newer.head}
    lost = (question.words & (older.subject or {older.head})) - newer.words
    return bool(lost) and not subject & (older.words | question.words)


def lacks_number(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note lacks a number or letter of the question that the older one has."""
    lost = (question.words | question.subjects) & older.words - newer.words
    return any(len(stem) == 1 or is_number(stem) for stem in lost)


def share_of_form(newer: Statement, older: Statement) -> float:
    """The share of the shorter title's pairs of words that the other one has, too."""
    return len(newer.pairs & older.pairs) / (min(len(newer.pairs), len(older.pairs)) or 1)


def is_narrower(newer: Statement, older: Statement, question: Question) -> bool:
    """Whether the newer note has two new phrases with words of the older one between them: one
    narrows the subject, the other one is the value ("Admin sessions expire after 10 minutes"). All
    between a light verb with its preposition and a condition is one value.
    """
    old, phrases, is_open, is_value = older.words | question.words, 0, False, False
    for of_word, follows, begins in newer.order:
        if not of_word or of_word & old:
            is_value = begins != "condition" and (is_value or (begins == "value" and not phrases))
            is_open = is_open and is_value
        elif is_open or not follows or any(map(is_number, of_word)):
            phrases, is_open = phrases + (not is_open), True
    return phrases > 1
