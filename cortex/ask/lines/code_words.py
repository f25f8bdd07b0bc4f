"""Words in the code of a file, without its comments and strings: a scanner finds these by the
quotes and comment marks of the language. Pure.
"""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from cortex.ask.lines.receivers import Owner, Receivers
from cortex.terms.languages import language_of

_DOUBLE, _SINGLE = r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"
_TRIPLE = r'"""[\s\S]*?(?:"""|\Z)'
#: a literal of one character; `'a` alone is a lifetime or a part of a name
_CHARACTER = r"'(?<!\w')(?:\\[^'\n]+|[^'\\\n])'"
_BLOCK, _LINE, _HASH = r"/\*[\s\S]*?(?:\*/|\Z)", r"//[^\n]*", r"#(?<![^\s;(]#)[^\n]*"
_BACKTICKS = r"`(?:\\[\s\S]|[^`\\])*`"
_REGEX = (
    r"/(?:(?<=[(,=:\[!&|?{};]/)|(?<=[(,=:\[!&|?{};] /))(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"
)
_MARKUP = r"<!--[\s\S]*?(?:-->|\Z)"
_SCRIPT = (_BLOCK, _LINE, _BACKTICKS, _REGEX, _DOUBLE, _SINGLE)
_C = (_BLOCK, _LINE, r'R"(?P<raw>[^()\s]{0,16})\([\s\S]*?\)(?P=raw)"', _DOUBLE, _CHARACTER)
_JVM = (_BLOCK, _LINE, _TRIPLE, _DOUBLE, _CHARACTER)
_HASHED = (_HASH, _DOUBLE, _SINGLE)
_DASHED = (r"--\[\[[\s\S]*?\]\]", r"\{-[\s\S]*?-\}", r"--[^\n]*", _DOUBLE)
#: language → its comments and strings, the longest marks first; each begins with a character, so
#: that the scanner skips the others fast
_MARKS: dict[str, tuple[str, ...]] = {
    "python": (
        r"#[^\n]*",
        r'"""(?:\\[\s\S]|[^\\])*?(?:"""|\Z)',
        r"'''(?:\\[\s\S]|[^\\])*?(?:'''|\Z)",
        _DOUBLE,
        _SINGLE,
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": (_BLOCK, _LINE, r"`[^`]*`", _DOUBLE, _CHARACTER),
    "rust": (
        _BLOCK,
        _LINE,
        r'r(?P<raw>#+)"[\s\S]*?"(?P=raw)',
        r'r"[^"]*"',
        r'"(?:\\[\s\S]|[^"\\])*"',
        _CHARACTER,
    ),
    "c": _C,
    "cpp": _C,
    "csharp": (_BLOCK, _LINE, _TRIPLE, r'@[$]?"(?:""|[^"])*"', _DOUBLE, _CHARACTER),
    "java": _JVM,
    "kotlin": _JVM,
    "scala": _JVM,
    "swift": (_BLOCK, _LINE, _TRIPLE, _DOUBLE),
    "php": (_BLOCK, _LINE, r"#(?!\[)[^\n]*", r'"(?:\\[\s\S]|[^"\\])*"', r"'(?:\\[\s\S]|[^'\\])*'"),
    "ruby": (r"=begin(?<![^\n]=begin)[\s\S]*?\n=end", *_HASHED),
    "elixir": (_HASH, _TRIPLE, _DOUBLE),
    "haskell": _DASHED,
    "lua": (*_DASHED, r"\[\[[\s\S]*?\]\]", _SINGLE),
    "sql": (_BLOCK, r"--[^\n]*", _SINGLE),
    "html": (_MARKUP,),
    "vue": (_MARKUP, _BLOCK, r"//(?<!://)[^\n]*"),
    "svelte": (_MARKUP, _BLOCK, r"//(?<!://)[^\n]*"),
}
_OTHERS = {"//": _C, "#": _HASHED, "--": _DASHED, ";": (r";[^\n]*", _DOUBLE), "%": (r"%[^\n]*", _DOUBLE)}
#: language → code inside of its strings
_INSIDE: dict[str, str] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), r"(?<=[$])\{[^{}]*\}"),
    **dict.fromkeys(("scala", "kotlin"), r"(?<=[$])(?:[^\W\d]\w*|\{[^{}]*\})"),
    "shell": r"(?<!\\)[$](?:\w+|\{[^{}]*\}|\([^()]*\))",
    "php": r"\{[^{}]*\}",
    "python": r"(?<!\{)\{(?!\{)[^{}]*\}",
    "csharp": r"(?<!\{)\{(?!\{)[^{}]*\}",
    "ruby": r"(?<=#)\{[^{}]*\}",
    "elixir": r"(?<=#)\{[^{}]*\}",
    "swift": r"(?<=\\)\([^()]*\)",
}
#: language → the end of the text up to the first quote of a string that holds code
_HOLDS: dict[str, str] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), r"`\Z"),
    "python": r"(?<!\w)(?:[fFtT][rR]?|[rR][fFtT])[\"']\Z",
    "csharp": r"[$](?:@|\")\Z|[$]@\"\Z|@\Z",
    **dict.fromkeys(("kotlin", "scala", "shell", "php", "ruby", "elixir", "swift"), r'"\Z'),
}
#: the marks, strings and comments of a template of Elixir, which calls components and functions
_QUOTED_IN_TEMPLATE = re.compile(r'"""|<%!--[\s\S]*?--%>|<!--[\s\S]*?-->|"[^"\n]*"')
#: language → the heads of other parts of a type
_PART_HEADS = {
    "rust": r"impl\b(?:<[^{;\n]{0,200}>)?(?:[^{;\n]{0,200}\bfor\b)?",
    "swift": "extension",
    "ruby": "(?:class|module)",
    "scala": "object",
    "csharp": "partial[ ]+(?:class|struct|interface|record)",
    "typescript": "interface",
    "tsx": "interface",
}
#: languages with `$` in names; in others it marks a variable: `$size` of a shell, of SCSS, of a
#: store of Svelte
_DOLLAR_IN_NAMES = frozenset(("javascript", "typescript", "tsx", "html", "java", "php"))
#: language → names that it has behind `$` itself: runes are no stores
_DOLLAR_NAMES = {
    "svelte": frozenset("state derived effect props bindable inspect host".split()),
    "vue": frozenset(
        "t tc te d n i18n data props el options parent root slots refs attrs watch emit forceUpdate nextTick set delete "
        "on once off mount store route router style event".split()
    ),
}
#: languages whose methods name a field of their type alone
_IMPLIED = frozenset({"java", "kotlin", "csharp", "scala", "cpp", "swift"})
#: characters before the name of an argument in which its type is sought
MADE_CHARS = 400
#: the text behind the name of an argument or of a field
_KEY = re.compile(r"\s*(?:=(?![=>~])|:(?!:))")
#: the begin of an `enum` with constants that are names around it, up to one of them
_ENUM = r"\benum\b(?!\s+(?:class|struct)\b)[^;{}()]*\{(?:[^{}]*,)?(?:\s*#[^\n]*\n)*\s*"
_ANY_BUT_SPACES = re.compile(r"\S")
_BRACKET = re.compile(r"[(){}\[\]]")
_ACCESS = re.compile(r"(?:(?<!\.)\.|(?<=[\w)\]])->|::)\s*\Z")
#: the last word of a receiver that is an object or a module, not a type: `logs` in `logs.flush`
_RECEIVER = re.compile(r"(\w*)[^\w\s:.>-]*\s*(?:\.|->)\s*\Z")
#: two words that no code of Python has side by side, and its words that stand beside others
_WORDS = re.compile(r"(?<![\w.])([A-Za-z_]\w*) +(?=([A-Za-z_]\w*))")
_BETWEEN = frozenset((*keyword.kwlist, *keyword.softkwlist, "print", "exec"))


@functools.cache
def _marks_of(language: str, comment: str) -> re.Pattern[str]:
    marks = _MARKS.get(language) or _OTHERS.get(comment, _C)
    return re.compile("|".join(marks), re.MULTILINE)


def only_code(path: str, text: str) -> str:
    """Return the text of a file of the same length and lines, with spaces in place of its comments
    and strings; code inside of a string stays.
    """
    language = language_of(path)
    holds, inside = _HOLDS.get(language.name), _INSIDE.get(language.name)
    is_elixir = language.name == "elixir"

    def blank(match: re.Match[str]) -> str:
        literal = match[0]
        if is_elixir and text[max(0, match.start() - 2) : match.start()] == "~H":
            return _QUOTED_IN_TEMPLATE.sub(lambda part: _ANY_BUT_SPACES.sub(" ", part[0]), literal)
        if holds is None or inside is None:
            return _ANY_BUT_SPACES.sub(" ", literal)
        if re.search(holds, text[max(0, match.start() - 3) : match.start() + 1]) is None:
            return _ANY_BUT_SPACES.sub(" ", literal)
        blanked, at = "", 0
        for code in re.finditer(inside, literal):
            blanked += _ANY_BUT_SPACES.sub(" ", literal[at : code.start()]) + code[0]
            at = code.end()
        return blanked + _ANY_BUT_SPACES.sub(" ", literal[at:])

    return _marks_of(language.name, language.comment).sub(blank, text)


class WordLine(NamedTuple):
    """A line of code with a word. `accessed`: as an attribute; `unsure`: maybe that of a type that
    is not the owner.
    """

    number: int
    accessed: bool
    unsure: bool = False


def words_in_code(
    path: str, text: str, word: str, owner: Owner | None = None, modules: Collection[str] | None = None
) -> Iterator[WordLine]:
    """Yield the lines whose code holds the whole word.

    A member of `owner` counts behind a receiver that may be of this type, and alone inside of the
    type, in a file that names the type if the language needs no receiver, or as an argument of the
    type: `Owner(word=1)`. `modules`: the only receivers of a function that is no member; None for
    any receiver.
    """
    code = only_code(path, text)
    receivers = Receivers(path, code, owner, word) if owner else None
    lines: dict[int, WordLine] = {}
    number, counted = 1, 0
    for match in word_pattern(word, path).finditer(code):
        number += code.count("\n", counted, match.start())
        counted = match.start()
        accessed = _is_accessed(code, match.start())
        if code[max(0, match.start() - 3) : match.start()] == "</.":
            continue  # ends a component of Elixir
        if accessed and modules is not None and _is_of_another(code, match.start(), modules):
            continue
        unsure = False
        if receivers is not None and not receivers.owner.holds(path, number):
            means = receivers.mean_owner(match.start()) if accessed else _is_member(receivers, match)
            if means is False or (means is None and receivers.owner.by_name):
                continue
            unsure = means is None and not receivers.names_owner
        before = lines.get(number, WordLine(number, False, unsure))
        lines[number] = WordLine(number, before.accessed or accessed, before.unsure and unsure)
    yield from lines.values()


def _is_member(receivers: Receivers, match: re.Match[str]) -> bool:
    """Whether a word without a receiver is a member of the owner."""
    language = language_of(receivers.path)
    of_owner = receivers.means_enclosing(match.start()) if language.name == "cpp" else None
    if of_owner is not None:
        return of_owner
    implied = language.name in _IMPLIED and receivers.names_owner
    return implied or receivers.brings_members or _is_argument_of(receivers.code, match, receivers.owner.name)


def find_declaration(path: str, text: str, word: str, owner: Owner) -> int:
    """Return the line of a type, or of another part of it in its file, that declares a member, 0
    for none: `self.word = 1`, `word: int`, `int word;`, a variant of an enum, a component of a
    record.
    """
    language = language_of(path)
    mark = "[@$]" if language.name == "php" else "@"
    written = re.compile(rf"(?:self\.|this\.|{mark}|\s|\A){re.escape(word)}(?=\s*(?::(?!:)|=(?![=>])|;))")
    code = only_code(path, text)
    lines = code.split("\n")
    parts = [(max(0, owner.start - 1), owner.end), *_find_parts(language.name, code, owner)]
    for at, (first, last) in enumerate(parts):
        part = "\n".join(lines[first:last])
        has_brackets = language.comment != "#"
        # a variable of a method is written like a member
        declared = written.search(part) if at == 0 or not has_brackets else None
        if declared is None and language.headers:
            declared = _find_in_c(part, word)
        if declared is None and has_brackets:
            directly = _find_directly(part, word_pattern(word, path))
            declared = next((match for match in directly if not _is_accessed(part, match.start())), None)
        if declared:
            return first + part.count("\n", 0, declared.end()) + 1
    return 0


def _find_parts(language: str, code: str, owner: Owner) -> Iterator[tuple[int, int]]:
    """Yield (lines before, last line) of the other parts of a type in the code of its file: they
    begin with a head and end with its indent.
    """
    head = _PART_HEADS.get(language)
    if head is None or owner.namesakes:
        return
    name = rf"(?:\w+(?:::|\.))*{re.escape(owner.name)}\b(?![^{{;\n]*\sfor\s).*"
    for match in re.finditer(rf"^([ \t]*)(?:\w+[ \t]+){{0,4}}{head}\s+{name}", code, re.MULTILINE):
        outside = re.compile(rf"^(?!{match[1]}[ \t]|[ \t]*(?:\{{|$))", re.MULTILINE)
        end = outside.search(code, match.end())
        first = code.count("\n", 0, match.start())
        if first != owner.start - 1:
            yield first, code.count("\n", 0, end.start()) if end else code.count("\n") + 1


def _find_in_c(code: str, word: str) -> re.Match[str] | None:
    """Return the declaration of a pointer to a function, or of a constant of an `enum` whose names
    the type around it has, too.
    """
    written = re.escape(word)
    return re.search(
        rf"\(\s*(?:\w+\s+)?\*\s*(?:const\s+)?{written}\s*(?:\[[^\[\]]*\]\s*)?\)\s*\("
        rf"|{_ENUM}{written}(?![\w$])",
        code,
    )


def find_constant(path: str, text: str, word: str) -> int:
    """Return the line of a constant in an `enum` of C or C++, 0 for none."""
    if not language_of(path).headers:
        return 0
    code = only_code(path, text)
    match = re.search(rf"{_ENUM}{re.escape(word)}(?![\w$])", code)
    return code.count("\n", 0, match.end()) + 1 if match else 0


def _find_directly(code: str, word: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the whole words inside of one open bracket."""
    depth = counted = 0
    for match in word.finditer(code):
        for letter in _BRACKET.findall(code, counted, match.start()):
            depth += 1 if letter in "({[" else -1
        counted = match.start()
        if depth == 1:
            yield match


def names_in_code(path: str, line: str, name: str, *, as_function: bool) -> bool:
    """Whether the code of a line holds the name; `as_function`: as a call, an attribute or a value,
    not as the name of an argument or of a key.
    """
    code = only_code(path, line)
    matches = list(word_pattern(name, path).finditer(code))
    if not as_function:
        return bool(matches)
    return any(_is_accessed(code, at.start()) or not _KEY.match(code, at.end()) for at in matches)


def is_prose(path: str, line: str) -> bool:
    """Whether a line is text in a string of several lines, in a docstring say (Python)."""
    if language_of(path).name != "python" or not _has_prose(line):
        return False
    return _has_prose(only_code(path, line))


def _has_prose(code: str) -> bool:
    return any(_BETWEEN.isdisjoint(match.groups()) for match in _WORDS.finditer(code))


def word_pattern(word: str, path: str) -> re.Pattern[str]:
    """Return the pattern of a whole word, as letters, digits and `_` make it, `$` in languages with
    `$` in names, and hyphens if the word has one: `is-loading` is no part of `is-loading-small`. A
    closing tag is no use of its own.
    """
    language = language_of(path).name
    has_dollar = language in _DOLLAR_IN_NAMES or word in _DOLLAR_NAMES.get(language, ())
    return _word_pattern(word, ("$" if has_dollar else "") + ("-" if "-" in word else ""))


@functools.lru_cache(64)
def _word_pattern(word: str, letters: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w{letters}])(?<!</){re.escape(word)}(?![\w{letters}])")


def _is_accessed(code: str, at: int) -> bool:
    """Whether the word at `at` is an attribute: `.word`, `->word`, `Owner::word`, `@word`."""
    return _ACCESS.search(code, max(0, at - 80), at) is not None or code[at - 1 : at] == "@"


def _is_of_another(code: str, at: int, modules: Collection[str]) -> bool:
    """Whether the attribute at `at` has a receiver that is none of the modules."""
    receiver = _RECEIVER.search(code, max(0, at - 80), at)
    return receiver is not None and receiver[1] not in modules


def _is_argument_of(code: str, match: re.Match[str], owner: str) -> bool:
    """Whether a word is the name of an argument or of a field where the type `owner` is made."""
    if not _KEY.match(code, match.end()):
        return False
    before = code[max(0, match.start() - MADE_CHARS) : match.start()]
    constructions = list(re.finditer(rf"(?<!\w){re.escape(owner)}\s*[({{]", before))
    depth = 1 if constructions else 0
    for letter in before[constructions[-1].end() :] if constructions else "":
        depth += (letter in "({[") - (letter in ")}]")
        if not depth:
            break
    return depth > 0
