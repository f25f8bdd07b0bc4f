"""Types that C and C++ declare for the receivers of members: of variables and parameters in the
same function, of fields, and of initialisers. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")

#: characters of the head of an initialiser, and of a declaration before its name
HEAD_CHARS = 400
_QUALIFIERS = (
    r"(?:(?:const|volatile|static|register|extern|constexpr|inline|thread_local|restrict|mutable)\s+)*"
)
#: a type before a name: `const struct cell *`, `app::Cell &`, `QPointer<Cell> `
_TYPE = rf"{_QUALIFIERS}(?P<tag>(?:struct|union|class|enum)\s+)?(?:\w+::)*(?P<type>[A-Za-z_]\w*)(?:\s*<(?P<given>[^<>;]*)>)?"
_BEFORE_NAME = re.compile(rf"\s*{_TYPE}(?:\s|[*&]|\bconst\b)+\Z")
#: the end of a declaration behind its name
_ENDS = r"(?=\s*(?:[,;=)\[{(]|:(?!:)))"
_NAME = re.compile(rf"(?<![\w.>])[A-Za-z_]\w*{_ENDS}")
#: names that are searched one by one
SEARCHES_MAX = 60
#: endings of another name for a type
_ENDING = re.compile(r"(?:_t|_s|_T|_ptr|Ptr|Ref)$")
#: the beginning of a statement that declares several names: `struct cell *one, `
_BEFORE_LIST = re.compile(rf"\s*{_TYPE}(?:\s|[*&]|\bconst\b)+[A-Za-z_]\w*\b[^;(){{}}]*,[\s*&]*\Z")
#: words that stand before a name like a type
_NO_TYPE = frozenset(
    "return else goto case new delete throw sizeof typename using namespace operator typedef auto if while not"
    " struct union class enum public private protected".split()
)
_LAST_WORD = re.compile(r"\w+")
#: the name of a method of C++ outside of its type
_METHOD = re.compile(
    r"^(?![ \t#/])[^;{}()=\n]{0,200}?\b(\w+)(?:<[^<>\n]*>)?::~?(?:operator\b[^\n(]*|\w+)\s*\(", re.MULTILINE
)
#: the head of an initialiser: `struct cell one[] = `, `(struct cell)`
_INITIALISED = re.compile(
    rf"(?:\A|[;{{}}(])(?:\s*#[^\n]*\n)*\s*{_TYPE}(?:[\s*]+\w+\s*(?:\[[^\[\]]*\]\s*)*=|\s*\))\s*\Z"
)
_FIELD = re.compile(
    rf"(?m)^[ \t]*{_TYPE}(?:[\s*&]+)(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)?(?:=[^;]*)?;"
)
_BRACKET = re.compile(r"[{}]")


class Declared(NamedTuple):
    """A declared type. `tagged`: with `struct`, so that it is no other name for a type."""

    name: str
    tagged: bool = False


class Functions:
    """The functions in the code of a file: the variables that they declare, of `names` alone, the
    types that methods of C++ outside of their types belong to, and initialisers.
    """

    def __init__(self, code: str, names: Collection[str]) -> None:
        self._code, self._names = code, names
        self._ends = [match.start() for match in re.finditer(r"\n\}", code)]

    @cached_property
    def _variables(self) -> dict[str, list[tuple[int, Declared]]]:
        code = self._code
        if len(self._names) <= SEARCHES_MAX:  # searches for names are much faster than one for all
            patterns = (rf"{name}(?<![\w.>]{name}){_ENDS}" for name in map(re.escape, self._names))
            matches: Iterable[re.Match[str]] = chain.from_iterable(
                re.finditer(pattern, code) for pattern in patterns
            )
        else:
            matches = (match for match in _NAME.finditer(code) if match[0] in self._names)
        variables: dict[str, list[tuple[int, Declared]]] = {}
        for match in matches:
            if (declared := _read_type(code, match)) is not None:
                variables.setdefault(match[0], []).append((match.start(), declared))
        return variables

    @cached_property
    def _methods(self) -> list[tuple[int, str]]:
        return [(match.start(), match[1]) for match in _METHOD.finditer(self._code)]

    @cached_property
    def _brackets(self) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """(index of each bracket with that of the one which is open behind it, -1 for none; the one
        around each).
        """
        opened: list[tuple[int, int]] = []
        around: dict[int, int] = {}
        inside = -1
        for bracket in _BRACKET.finditer(self._code):
            if bracket[0] == "{":
                around[bracket.start()] = inside
            inside = bracket.start() if bracket[0] == "{" else around.get(inside, -1)
            opened.append((bracket.start(), inside))
        return opened, around

    def find_declared(self, name: str, at: int) -> Declared | None:
        """Return the type of the nearest declaration of a variable before the index `at` in the
        same function; None for none.
        """
        return self._find_before(self._variables.get(name, ()), at)

    def find_owner(self, at: int) -> str | None:
        """Return the type of the method around the index `at`; None if it is not outside of it."""
        return self._find_before(self._methods, at)

    def find_initialised(self, at: int) -> Declared | None:
        """Return the type that the initialiser around the index `at` makes, `struct cell one = {`;
        None for none.
        """
        opened, around = self._brackets
        row = bisect_left(opened, at, key=itemgetter(0)) - 1
        bracket = opened[row][1] if row >= 0 else -1
        before = self._head(bracket)
        if before.endswith(("{", ",")):  # an element: `struct cell all[] = {{.flags = 1}}`
            before = self._head(around.get(bracket, -1))
            before = before if before.endswith("=") and "[" in before.rpartition(";")[2] else ""
        return _to_declared(_INITIALISED.search(before))

    def _head(self, bracket: int) -> str:
        return self._code[max(0, bracket - HEAD_CHARS) : max(0, bracket)].rstrip()

    def _find_before(self, rows: Sequence[tuple[int, _T]], at: int) -> _T | None:
        before = bisect_left(rows, at, key=itemgetter(0)) - 1
        ended = bisect_left(self._ends, at) - 1
        if before < 0 or (ended >= 0 and rows[before][0] < self._ends[ended]):
            return None
        return rows[before][1]


def _read_type(code: str, name: re.Match[str]) -> Declared | None:
    """Return the type of the declaration of a name; None if it is none."""
    before = code[max(0, name.start() - HEAD_CHARS) : name.start()]
    statement = before[max(map(before.rfind, ";{}("), default=-1) + 1 :]
    match = _BEFORE_NAME.match(statement[statement.rfind(",") + 1 :]) or _BEFORE_LIST.match(statement)
    return _to_declared(match)


def _to_declared(match: re.Match[str] | None) -> Declared | None:
    if match is None or match["type"] in _NO_TYPE:
        return None
    arguments = _LAST_WORD.findall(match["given"] or "")
    return Declared(arguments[-1] if arguments else match["type"], bool(match["tag"]))


def is_spelled_like(name: str, other: str) -> bool:
    """Whether a name may be an alias of a type by its ending: `cell_t` of `cell`."""
    return _ENDING.sub("", name).lower() == _ENDING.sub("", other).lower()


def find_fields(code: str) -> Mapping[str, frozenset[str]]:
    """Return the types that the fields of each name have in a file."""
    fields: dict[str, set[str]] = {}
    for match in _FIELD.finditer(code):
        if (declared := _to_declared(match)) is not None:
            fields.setdefault(match["name"], set()).add(declared.name)
    return {name: frozenset(types) for name, types in fields.items()}


def find_aliases(code: str, name: str) -> frozenset[str]:
    """Return the other names that a file gives a type: `typedef struct cell cell_t;`."""
    rows = re.findall(
        rf"\btypedef\s+(?:struct\s+|union\s+|enum\s+)?{re.escape(name)}\b\s*\**\s*(\w+)\s*;"
        rf"|\btypedef\s+(?:struct|union|enum)\s+{re.escape(name)}\s*\{{[^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*\}}\s*\**\s*(\w+)\s*[,;]"
        rf"|\busing\s+(\w+)\s*=\s*(?:\w+::)*{re.escape(name)}\s*[;*]",
        code,
    )
    return frozenset(alias for row in rows for alias in row if alias)
