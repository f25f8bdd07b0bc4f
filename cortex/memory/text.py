"""The searchable texts of a note, and the words of a query. Pure."""

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime

import re2

from cortex.memory.note import OPEN, Note
from cortex.terms import tokens

#: remains of contractions and possessives, and pronouns
_LEFTOVERS = frozenset("s t d m ll re ve he she her hers him his himself herself themselves".split())
#: further words of questions that say nothing about a note; without them six of a hundred questions
#: more find their turn of a conversation
_ASKING = frozenset(
    "about after again all also always am anything before being both did during each ever every everything few "
    "first get getting give going got just know last like long made make many may might more most much need new now "
    "often one only other own people person please recent recently said same say see since someone something tell "
    "than thing things think time used using usually very want way well went whom whose yet kind type sort likely "
    "happen happened mention mentioned".split()
)

#: words for a time, in UTF-8: matching text instead of bytes is half as fast
_TIME = re2.compile(
    rb"(?i)\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|last|next|(?:week|month|year|day|weekend|morning|night"
    rb"|evening|hour|minute)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
    rb"|august|september|october|november|december|(?:19|20)\d\d)\b"
)
#: questions about a time
_WHEN = re.compile(
    r"(?i)\b(?:when|how (?:long|recently|old)|(?:what|which) (?:day|date|time|week|month|year)|since when)\b"
)
#: a speaker's name before the text
_SPEAKER = re.compile(r"\s*([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}):\s")
#: words of the longest name of a speaker
_SPEAKER_WORDS = 3
#: length of a text's end in which a question mark makes it a question
_QUESTION_CHARS = 60


def cut(text: str, chars: int) -> str:
    """The text, or its beginning and a mark for the rest, in at most `chars` characters."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def speaker_of(title: str) -> str:
    """The speaker of a note like "Ada: we meet on Monday", in lower case; "" for none."""
    speaker = _SPEAKER.match(title) if ":" in title else None
    return speaker[1].lower() if speaker else ""


def names_in(query: str) -> set[str]:
    """All possible names of speakers in a query, in lower case."""
    words = re.findall(r"[^\W\d_][\w.-]*", query.lower().replace("'s", "").replace("’s", ""))
    return {
        " ".join(words[at : at + count])
        for count in range(1, _SPEAKER_WORDS + 1)
        for at in range(len(words) - count + 1)
    }


def mentions_time(text: str) -> bool:
    """Whether a note mentions a time."""
    return bool(_TIME.search(text.encode()))


def asks_about_time(query: str) -> bool:
    return bool(_WHEN.search(query))


def is_question(text: str) -> bool:
    """Whether a note ends with a question."""
    return "?" in text[-_QUESTION_CHARS:]


def is_open(title: str, labels: Iterable[str]) -> bool:
    """Whether a note is an open question."""
    return OPEN in labels or title.rstrip().endswith("?")


def embedded_text(note: Note) -> str:
    """The text that is embedded, in the form that the model of sentences learnt."""
    body = "" if note.body.strip() == note.title.strip() else note.body.strip()
    text = ". ".join(filter(None, (note.title.strip(), body)))
    labels = f"\ntags: {', '.join(note.labels)}" if note.labels else ""
    labels += f"\ntopic: {note.topic}" if note.topic else ""
    facts = "".join(f"\n{fact}" for fact in note.facts)
    return f"{text}{facts}{labels}"


def title_words(note: Note) -> list[str]:
    """Stems and joined forms of the title, the labels, the topic and the names of its files."""
    names = (path.rpartition("/")[2] for path in note.files)
    return _stems((note.title, note.subtitle, *note.labels, note.topic, *names))


def text_words(note: Note) -> list[str]:
    """Stems and joined forms of the text below the title, with its date written out."""
    return _stems((note.body, *note.facts, *note.files, format_date(note.occurred_at)))


def question_words(query: str) -> list[str]:
    """The words of a query that may occur in a note, each once; all words if none is left."""
    content_words = _drop_words(tokens.words(query), tokens.STOP_WORDS | _LEFTOVERS | _ASKING)
    return list(dict.fromkeys(tokens.lane_text(content_words).split()))


def gist(query: str, names: Iterable[str] = ()) -> str:
    """The query without stop words, and without these names."""
    return " ".join(_drop_words(tokens.words(query), tokens.STOP_WORDS | _LEFTOVERS | set(names)))


def _drop_words(words: list[str], others: Collection[str]) -> list[str]:
    """The words that are not in `others`; all if none is left."""
    return [word for word in words if word.lower() not in others] or words


def format_date(moment: int) -> str:
    """The day of a moment as people write it; "" for none."""
    if not moment:
        return ""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%A %d %B %Y %Y-%m-%d")


def _stems(texts: Iterable[str]) -> list[str]:
    return tokens.lane_text(tokens.words(" ".join(texts))).split()
