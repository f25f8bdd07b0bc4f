"""Qt's words in C++, as pure text of the same length and lines.

* `emit changed(key);` reads as a variable of the type `emit`: the word is replaced by blanks
* `connect(disk, SIGNAL(saved(Disk*)), SLOT(close(Disk*)))` has types as arguments, an error of the
  parser that hides the statement: methods named by text are read as calls of their objects,
  `connect(disk->saved(_), close(_))`
"""

import re

_NO_NEWLINE = re.compile(r"[^\n]")
_EMIT = re.compile(r"(?m)(?:^|(?<=[;{}):]))[ \t]*(?:else[ \t]+)?(?:emit|Q_EMIT)(?=[ \t]+[\w:>.-]+\()")
#: an object as an argument, and a method that is named by text with the types of its parameters
_OBJECT = r"&?[A-Za-z_](?:[\w.:]|->|\(\))*"
_METHOD = re.compile(
    rf"(?:(?<=[(,])(?P<before>\s*)(?P<object>{_OBJECT})(?P<gap>\s*,\s*))?"
    r"\b(?P<kind>SIGNAL|SLOT)\(\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<types>[^()\n]*)\)\s*\)"
)
_BETWEEN = re.compile(r"\s*,\s*")
_VALUE = "0"


def read_qt(text: str) -> str:
    """Return C++ with Qt's words as the grammar reads them."""
    if "emit" in text or "Q_EMIT" in text:
        text = _EMIT.sub(_blank_emit, text)
    if "SIGNAL(" in text or "SLOT(" in text:
        parts: list[str] = []
        done = 0
        for match in _METHOD.finditer(text):
            between = text[done : match.start()]
            parts += between, _call_method(match, is_own=done > 0 and bool(_BETWEEN.fullmatch(between)))
            done = match.end()
        text = "".join((*parts, text[done:]))
    return text


def _blank_emit(match: re.Match[str]) -> str:
    return re.sub(r"emit|Q_EMIT", lambda word: " " * len(word[0]), match[0])


def _call_method(match: re.Match[str], *, is_own: bool) -> str:
    """Return a call of a method in place of its text. `is_own`: without an object it is one of the
    class around; else nothing tells whose it is.
    """
    types = match["types"]
    called = f"{match['name']}({','.join('_' for _ in types.split(',')) if types.strip() else ''})"
    if match["object"]:
        member = match["object"].removeprefix("&")
        sign = "." if match["object"] != member else "->"
        call = f"{match['before']}{member}{sign}{match['gap'].replace(',', '', 1)}{called}"
    else:
        call = called if is_own else _VALUE
    lines = match[0].count("\n") - call.count("\n")
    return call.ljust(len(match[0]) - lines) + "\n" * lines
