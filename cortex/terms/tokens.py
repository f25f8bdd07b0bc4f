"""Words, their parts and their stems, the same for indexing, queries and highlights. Pure except
for the memo tables.

A word is a run of letters, digits and underscores. Its parts are the pieces between underscores,
changes of case and digits (getHTTPResponse2 → get http response 2); its joined form is the parts
without separators. Scripts without spaces between words (Chinese, Japanese, Korean) give one word
for each character.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import Stemmer

#: tantivy's simple tokenizer splits at "_" and is four times as fast as its regex tokenizer, so
#: identifiers pass through it with "_" replaced by a letter that no identifier holds: one byte in
#: Python, one token in Rust
UNDERSCORE = "\u00aa"

#: longest indexed word, in bytes: longer ones are encoded data, which nobody types
WORD_BYTES_MAX = 240

#: entries of a memo table before it is cleared, some 30 MB; a project of 60 000 chunks has 200 000
#: distinct words
_MEMO_MAX = 200_000

WORD = re.compile(r"\w+")
#: each byte → itself if it belongs to words, else a space
_ASCII_WORDS = bytes(at if chr(at).isalnum() or at == ord("_") else 32 for at in range(128)) + bytes(128)
_INDEXED_WORD = re.compile(r"[^\W_]+")
#: pattern of the camel-case parts of ASCII letters
CAMEL = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+"
_WORD_PART = re.compile(rf"{CAMEL}|[0-9]+")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")

#: words of questions that carry no meaning about code
STOP_WORDS = frozenset(
    "a an and any are as at be been but by can could did do does for from had has have how i if in into is "
    "it its "
    "me my of on or our out should so some such that the their them then there these they this those to up us was "
    "we were what when where which while who why will with would you your".split()
)


class Memo(dict[str, str]):
    """word → a derived string. Most words were met before, so this gives most of the speed."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, word: str) -> str:
        if len(self) >= _MEMO_MAX:
            self.clear()
        self[word] = derived = self._make(word)
        return derived

    def join(self, words: Iterable[str]) -> str:
        # map over the bound method: four times as fast as subscripting, which looks for an override
        # each time
        return " ".join(map(self.__getitem__, words))


def parts_of(word: str) -> list[tuple[int, int]]:
    """Return the spans of the parts inside `word`."""
    if word.isascii():
        return [match.span() for match in _WORD_PART.finditer(word)]
    return list(_parts_of_any(word))


def _parts_of_any(word: str) -> Iterator[tuple[int, int]]:
    """As `parts_of`, for words with letters beyond ASCII: the same rule, by character classes."""
    kinds = "".join(map(_kind, word))
    for match in re.finditer(r"c|U+(?=Ul)|U?l+|U+|d+", kinds):
        yield match.span()


def _kind(character: str) -> str:
    if character == "_":
        return "_"
    if _UNSPACED_CHARACTER.match(character):
        return "c"
    if character.isdigit():
        return "d"
    return "U" if character.isupper() else "l"


def _split_parts(word: str) -> str:
    if _is_one_part(word):
        return word
    if word.isascii():
        return " ".join(_WORD_PART.findall(word))
    word = plain_letters(word)
    return " ".join([word[start:end] for start, end in _parts_of_any(word)])


def _is_one_part(word: str) -> bool:
    """Return whether a word is ASCII letters of one case, or of lower case behind a capital."""
    return word.isascii() and word.isalpha() and (word.islower() or word.istitle() or word.isupper())


def _joined_form(word: str) -> str:
    """Return the joined form if it differs from the word in lower case, else ""."""
    return lowered(word.replace("_", "")) if "_" in word.strip("_") else ""


_stem = Stemmer.Stemmer("english", 0).stemWord


def _lane_form(word: str) -> str:
    """Return the stems of the parts and, for an identifier with several parts, the joined form."""
    if _is_one_part(word):
        return _STEMS[word.lower()]
    parts = _SPLITS[word].lower().split()
    terms = " ".join([_STEMS[word_part] for word_part in parts])
    if len(parts) > 1 and not word[0].isdigit() and len(word) <= WORD_BYTES_MAX:
        terms += " " + lowered(word.replace("_", ""))
    return terms


_SPLITS = Memo(_split_parts)
_STEMS = Memo(_stem)
_JOINED = Memo(_joined_form)
_LANES = Memo(_lane_form)


def forget() -> None:
    """Clear the memo tables: up to a hundred bytes of memory for each word."""
    for memo in (_SPLITS, _STEMS, _JOINED, _LANES):
        memo.clear()


def words(text: str) -> list[str]:
    """Return the words of `text` as written."""
    if text.isascii():  # three times as fast as the regular expression
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return WORD.findall(text)


def lowered(text: str) -> str:
    """Return `text` in lower case, letter by letter, so that offsets in both are the same."""
    return text.lower() if text.isascii() else plain_letters(text).lower()


def plain_letters(text: str) -> str:
    """Return `text` with I for its form with a dot, the only letter that becomes longer in lower
    case: `istanbul` is the word that Turkish texts begin with it.
    """
    return text.replace("\u0130", "I")


def spaced(text: str) -> str:
    """Return `text` for the analyzer: `_` replaced, characters of unspaced scripts spaced."""
    hidden = text.replace("_", UNDERSCORE)
    return hidden if text.isascii() else _UNSPACED_CHARACTER.sub(r" \g<0> ", plain_letters(hidden))


def split_text(word_list: list[str]) -> str:
    """Return the parts of the words, for the analyzer of parts."""
    return _SPLITS.join(word_list)


def split_name(name: str) -> str:
    """As `split_text`, for a name, which is mostly one word."""
    return _SPLITS[name] if name.isidentifier() else split_text(words(name))


def joined_text(word_list: list[str]) -> str:
    """Return the joined forms of words in snake case; camel case words are their own."""
    return _JOINED.join([word for word in word_list if "_" in word])


def lane_terms(word: str) -> list[str]:
    """As `lane_text`, for one word, as a list."""
    return _LANES[word].split()


def lane_text(word_list: list[str]) -> str:
    """Return stems and joined forms of the words with spaces: tokens of the ranking lanes."""
    return _LANES.join(word_list)


#: prefix of a term of the word table that is a part or a joined form; and the term of rows with
#: words that are not ASCII or too long to be indexed
DERIVED, ODD = "\x01", "\x02"


def terms_of(word: str) -> set[str]:
    """Return a word's terms: itself in lower case, with underscores, and its derived terms."""
    lower = lowered(word)
    if word.isascii() and len(word) <= WORD_BYTES_MAX:
        if _is_one_part(word):
            return {lower}
        terms = {lower}
    else:
        terms = {ODD, *(term.replace(UNDERSCORE, "_") for term in whole_words(word))}
    derived = {*_SPLITS[word].lower().split(), _JOINED[word]} - {"", lower}
    if len(word) > WORD_BYTES_MAX // 4:
        derived = {term for term in derived if len(term.encode()) <= WORD_BYTES_MAX}
    return terms.union(DERIVED + term for term in derived)


def whole_words(text: str) -> list[str]:
    """Return the terms of the field of whole words, in order: the query side of `spaced`."""
    indexed_words = _INDEXED_WORD.findall(spaced(text))
    return [word.lower() for word in indexed_words if len(word.encode()) <= WORD_BYTES_MAX]


def part_words(text: str) -> list[str]:
    """Return the terms of the field of parts, in order."""
    return split_text(words(text)).lower().split()


def lane_words(text: str) -> list[str]:
    """Return a question's terms for a lane, each once, stop words only if there are no others."""
    distinct_words = list(dict.fromkeys(words(text)))  # most words of a long text repeat
    telling = [word for word in distinct_words if word.lower() not in STOP_WORDS] or distinct_words
    return list(dict.fromkeys(lane_text(telling).split()))
