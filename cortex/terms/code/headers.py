"""Recognition of C++ in a `.h` file by its text: the name does not tell, and C's grammar breaks C++
types into pieces. Pure.
"""

import functools
import re

#: strings and comments; a comment may span lines
NO_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)')
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)(.*(?:\\\n.*)*)", re.MULTILINE)

#: line starts that only C++ has, also in the part of a header that is for C++ alone
_CPP_LINE = re.compile(
    r"^[ \t]*(?:class\s+\w|(?:inline\s+)?namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:)",
    re.MULTILINE,
)
#: signs of C++ outside of the part for C++ alone
_SIGNS = re.compile(
    r"""
      ^\#include\s*<[\w/]+>                           # of the standard library, whose names have no end
    | \w::~?\w                                        # names in names: std::string
    | \bconst\s+[\w:]+(?:\s+\w+)?\s*&\s*[\w,)]        # const T& x
    | [(,]\s*\w+&\s+\w+\s*[,)=]                       # f(T& x)
    | ^[ \t]*virtual\s+[\w~]
    | ^[ \t]*explicit\s+\w+\s*\(
    | ^[ \t]*friend\s+(?:class|struct)\s
    | ^[ \t]*~\w+\s*\(\s*\)
    | \boperator\s*(?:[^\w\s(.,;]{1,3}|\(\s*\)|bool)\s*\(
    | \)\s*const\s*(?:override\b|noexcept\b|=\s*0|[;{])
    | \)\s*(?:noexcept|override)\b
    | \)\s*=\s*(?:default|delete)\s*;
    | \b(?:static|const|dynamic|reinterpret)_cast\s*<
    | \benum\s+(?:class|struct)\s+\w
    | \bextern\s*""                                   # of what C alone reads it could not stand here
    | \bstruct\s+\w+\s*(?:final\s*)?:\s*(?:(?:public|private|protected|virtual)\s+)*[A-Za-z_][^;{}()]{0,200}\{
    """,
    re.MULTILINE | re.VERBOSE,
)
#: the start of a struct, a brace, and a possible function name at the start of a statement
_STRUCTURE = re.compile(
    r"\bstruct\s+(?:[A-Z_]+\s+)?(\w+)\s*\{|([{}])|(?:^|(?<=[;{}]))[ \t]*(\w+)[ \t]*\(", re.MULTILINE
)


@functools.lru_cache(maxsize=1)
def is_cpp(text: str) -> bool:
    """Whether a header with this text is written in C++; cached for the next reader of the file."""
    text = NO_CODE.sub(lambda match: '""' if match[0][0] == '"' else " ", text)
    bare = _DIRECTIVE.sub("", text)
    if _CPP_LINE.search(bare):
        return True
    shared = _DIRECTIVE.sub(_included, _remove_guarded(text))
    return bool(_SIGNS.search(shared)) or _has_constructor(shared)


def _included(directive: re.Match[str]) -> str:
    return f"#include {directive[2].strip()}" if directive[1] == "include" else ""


def _remove_guarded(text: str) -> str:
    """Return `text` without the parts that C skips: `#ifdef __cplusplus` up to its end or `#else`.
    Headers of C use them to be readable for C++.
    """
    pieces, depth, hidden, start = [], 0, 0, 0  # hidden: nesting depth of the skipped part
    for match in _DIRECTIVE.finditer(text):
        word, condition = match[1], match[2]
        if word.startswith("if"):
            depth += 1
            negated = word == "ifndef" or "!" in condition
            if not hidden and "__cplusplus" in condition and not negated:
                pieces.append(text[start : match.start()])
                hidden = depth
        elif hidden and hidden == depth and word in ("else", "elif", "endif"):
            hidden, start = 0, match.end()
        if word == "endif":
            depth = max(0, depth - 1)
    if not hidden:
        pieces.append(text[start:])
    return "".join(pieces)


def _has_constructor(text: str) -> bool:
    """Whether a struct has a function with its name, which C does not allow."""
    open_blocks: list[str] = []  # names of open structs, "" for other blocks
    for match in _STRUCTURE.finditer(text):
        struct, brace, called = match.groups()
        if called and open_blocks and open_blocks[-1] == called:
            return True
        if struct or brace == "{":
            open_blocks.append(struct or "")
        elif brace and open_blocks:
            open_blocks.pop()
    return False
