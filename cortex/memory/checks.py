"""Warnings about notes that will be hard to find or to trust. They never prevent storing. Pure."""

import re

from cortex.memory.note import Note

_ALONE = re.compile(r"\s*(?:\w+|https?://\S+|[\d:.TZ/ -]+)\s*")
_DECIDES = re.compile(
    r"(?i)\b(decid|chos|choose|pick|select|adopt|use|prefer|will|instead|over|because|reject|keep)"
)
_GUESS = re.compile(r"(?i)\s*(i think|maybe|probably|perhaps|i guess|not sure)\b")
_ALWAYS = re.compile(r"(?i)\b(when|whenever|always|never|usually|often|each|every|if|before|after|must)\b")
_POINTS = re.compile(r"(?i)\s*(it|this|that|they|these|those|he|she)\b")
_RELATIVE = re.compile(
    r"(?i)\b(yesterday|today|tomorrow|last (?:week|month|year)|next (?:week|month)|recently|just now)\b"
)

#: characters below which a title or a body says hardly anything
TITLE_CHARS_MIN, BODY_CHARS_MIN = 10, 20
#: (importance, characters): a body of that length is expected from that importance on
WEIGHTY = ((0.9, 100), (0.8, 50))
TAGGED = 0.7


def warnings_of(note: Note) -> list[str]:
    """Sentences, empty if nothing is amiss."""
    title, body = note.title.strip(), note.body.strip()
    text = f"{title} {body}"
    chars = next((chars for least, chars in WEIGHTY if note.importance >= least), 0)
    amiss = (
        (len(title) < TITLE_CHARS_MIN, "The title is very short: say in it what was learned."),
        (bool(_ALONE.fullmatch(title)), "The title is a single word, address or date: say what about it."),
        (0 < len(body) < BODY_CHARS_MIN, "The body is very short: say why, and where it applies."),
        (
            note.kind == "decision" and not _DECIDES.search(text),
            "A decision: say what was chosen, over what, and why.",
        ),
        (
            note.kind == "fact" and bool(_GUESS.match(text)),
            "A guess is no fact: store it as an observation, or check it.",
        ),
        (note.kind == "pattern" and not _ALWAYS.search(text), "A pattern: say when it applies."),
        (
            bool(_POINTS.match(title)),
            "The title begins with a word that points elsewhere: name what it is about.",
        ),
        (
            bool(_RELATIVE.search(text)) and not note.occurred_at,
            "A relative date will be wrong later: pass occurred_at.",
        ),
        (len(body) < chars, "Something so important deserves a body that says why."),
        (note.importance >= TAGGED and not note.labels, "Tags would help to find something so important."),
    )
    return [sentence for is_so, sentence in amiss if is_so]
