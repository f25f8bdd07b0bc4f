"""Conversions between C++'s built-in and library types: how well an argument fits a parameter.
Pure.
"""

import functools
import re

#: the result if the project's types decide
UNDECIDED = -1.0
_WIDTHS = {
    **dict.fromkeys("int signed int32_t int16_t short int8_t".split(), "int"),
    **dict.fromkeys("unsigned uint32_t uint16_t uint8_t".split(), "unsigned"),
    **dict.fromkeys("long int64_t ptrdiff_t ssize_t intptr_t off_t".split(), "long"),
    **dict.fromkeys("size_t uint64_t uintptr_t size_type".split(), "unsigned long"),
}
_INTEGERS = frozenset(
    {"int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "char", "bool"}
)
NUMBERS = _INTEGERS | {"double", "float"}
#: string types, which also accept a literal
_TEXTS = frozenset({"string", "basic_string", "string_view", "StringPiece", "StringRef"})
#: types of values without a definition in any project
BUILT_IN = NUMBERS | _TEXTS | {"char*", "wchar_t*", "null", "fn"}
#: a type that the code names for its characters, `char_t`, `TCHAR`
_CHARACTER = re.compile(r"(?!wchar)(?:\w*_)?t?char(?:_t|_type)?", re.IGNORECASE)
#: kinds of texts: `L"…"`, and a macro with a text as its argument
WIDE_TEXT, MACRO_TEXT = "wide", "macro"
_WORDS = frozenset("const volatile struct class enum typename register constexpr".split())
#: the type of forwarded variadic arguments, for the variant of a function without `...`
ARGUMENT_LIST = "va_list"
#: fit of a template's parameter: below the exact type, above a pointer to it
_OF_TEMPLATE = 4.5
#: C++'s library containers
ELEMENTS = frozenset(
    "vector map set list deque array pair tuple unordered_map unordered_set optional".split()
)
#: the type of a template's parameter
FREE_TYPE = "T"


@functools.lru_cache(maxsize=10_000)
def bare_cpp_type(text: str) -> str:
    """A declared type without qualifiers, arguments and name spaces; a star for each pointer."""
    if text.rstrip("&* ").endswith("iterator"):
        return ""
    stars = "*" * text.count("*", text.rfind(">") + 1)
    if text.endswith("()") or text.startswith(("std::function", "function<")):
        return "fn"
    words = [
        word
        for word in text.partition("<")[0].replace("*", " ").replace("&", " ").split()
        if word not in _WORDS
    ]
    if not words:
        return ""
    name = words[-1].rpartition("::")[2].rpartition(".")[2]
    if "long" in words or "short" in words or "unsigned" in words:
        kind = next((word for word in ("char", "double") if word in words), "")
        name = kind or " ".join(word for word in sorted(words)[::-1] if word in ("unsigned", "long")) or "int"
    if "char" in name.lower() and _CHARACTER.fullmatch(name):
        name = "char"
    return _WIDTHS.get(name, name) + stars


def cpp_fit(wanted: str, actual: str) -> float | None:
    """Return how well an argument of type `actual` fits a parameter of type `wanted`.

    None if it does not; UNDECIDED if the project's types decide.
    """
    if wanted == actual:
        return 5.0
    if wanted.rstrip("*") == FREE_TYPE:  # before any conversion
        return 0.5 if wanted.endswith("*") else _OF_TEMPLATE
    if actual == "fn":
        return None if wanted in NUMBERS or wanted in _TEXTS or wanted.endswith("*") else 0.0
    if actual == "null":
        return 0.5 if wanted.endswith("*") else None if wanted in NUMBERS or wanted in _TEXTS else 0.0
    if actual in NUMBERS:
        if wanted in NUMBERS:
            return 2.0 if actual in _INTEGERS and wanted in _INTEGERS else 1.0
        if wanted.rstrip("*") == actual:
            return 4.0  # a pointer to it
        return None if wanted in _TEXTS or wanted.endswith("*") or wanted == "fn" else 0.0
    if actual == "wchar_t*":
        return None if wanted == "char*" or wanted in NUMBERS - {"bool"} or wanted in _TEXTS else 0.0
    if actual == "char*":
        return (
            2.0
            if wanted in _TEXTS
            else 1.0
            if wanted in ("bool", "void*")
            else None
            if wanted in NUMBERS or wanted == "wchar_t*"
            else 0.0
        )
    if actual in _TEXTS:
        if wanted.rstrip("*") in _TEXTS:
            return 4.0 if wanted.rstrip("*") == actual else 2.0
        return None if wanted in NUMBERS or wanted.endswith("*") else 0.0
    if wanted in NUMBERS or wanted in _TEXTS or wanted == "fn":
        return None if actual in ELEMENTS else 0.0
    if wanted.rstrip("*") == actual.rstrip("*"):
        return 4.0
    return UNDECIDED
