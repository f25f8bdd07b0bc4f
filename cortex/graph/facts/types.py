"""Declared types as text → the named types a value may be of. Wrappers are looked through,
containers say so with `*`.

`Optional[Foo]`, `*pkg.Foo`, `Box<dyn Foo>` → `Foo`; `list[Foo]`, `[]Foo`, `Map<K, Foo>` → `Foo*`:
elements are Foo.
"""

from __future__ import annotations

import functools
import re

from cortex.graph.facts.links import module_link

#: generic types whose value acts as their first argument
WRAPPERS = frozenset(
    "Optional Union Annotated Final ClassVar Required NotRequired ReadOnly Awaitable Coroutine "
    "Promise Readonly Partial NonNullable Option Result Box Rc Arc Ref RefCell Mutex RwLock Cow "
    "Pin Weak CachePadded ManuallyDrop MutexGuard RwLockReadGuard RwLockWriteGuard RefMut unique_ptr shared_ptr weak_ptr reference_wrapper optional NiceMock NaggyMock StrictMock Task ValueTask Lazy CompletableFuture Future "
    "Self Type Awaited Pick Omit".split()
)
#: generic types that hold elements of their last argument (tuple and Generator: of their first)
CONTAINERS = frozenset(
    "list List set Set frozenset tuple Tuple dict Dict Sequence Iterable Iterator Collection "
    "Mapping MutableMapping MutableSequence Generator AsyncIterator AsyncIterable deque Deque "
    "defaultdict OrderedDict FrozenSet AbstractSet Array ReadonlyArray Map Record Vec VecDeque "
    "HashMap BTreeMap HashSet vector map unordered_map array ArrayList LinkedList IEnumerable "
    "IList Dictionary ICollection MutableList MutableMap Queue Stack Seq Stream "
    "MutableSet MutableCollection LinkedHashMap LinkedHashSet TreeMap TreeSet ArrayDeque ConcurrentHashMap "
    "stack queue priority_queue unordered_set multimap span initializer_list".split()
)
#: begins what is no type's name but a chain, whose value itself is meant: TypeScript's `typeof x`
ITSELF = "="
#: generic types whose value is of any of their arguments
UNIONS = frozenset({"Union"})


def _result_of(name: str) -> list[str]:
    return [f"{name}()"] if name.startswith(ITSELF) else []


def _instance_of(name: str) -> list[str]:
    return [name.removeprefix(ITSELF)] if name.startswith(ITSELF) else []


#: TypeScript's types that are made of what a value is: `ReturnType<typeof make>`
_OF_FUNCTIONS = {"ReturnType": _result_of, "InstanceType": _instance_of}
_WORDS = re.compile(
    r"\b(?:const|mut|dyn|impl|ref|readonly|final|volatile|struct|class|enum|typename|inout|out|unique|keyof)\b"
)
_LIFETIME = re.compile(r"'[a-z_]\w*\b(?!')")
_NAME = re.compile(r"[A-Za-z_$\\][\w$\\]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
#: names in types that are never a project's
_NO_TYPES = frozenset(
    "None str int float bool bytes object list dict set tuple Any Optional Union string error byte "
    "rune int64 int32 uint64 float64 uint8 const struct class".split()
)
_WRAPPED = re.compile(r"(?:\w+::)*(?:Result|Option|Box)<(.*)>", re.DOTALL)
_TUPLE = re.compile(r"(?:typing\.)?[tT]uple\[(.*)\]", re.DOTALL)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
_OUTER = re.compile(r"<[^<>]*>(?=::)")
#: TypeScript's type of one member, `Disk["save"]`
_MEMBER_OF = re.compile(r"""\[\s*["']([a-z_$][\w$]*)["']\s*\]$""")
#: TypeScript's type of what holds values by names, `{ [name: string]: Disk }`
_BY_NAME = re.compile(r"\{\s*\[[^\]]{1,80}\]\s*\??:\s*([^;{}]{1,200})[;,]?\s*\}")
#: a type of another module by its whole name, `import("./disk").Disk`
_OF_MODULE = re.compile(r"""(typeof\s+)?import\(\s*["']([^"']{1,200})["']\s*\)\s*\.\s*""")
_OPEN, _CLOSE = "[<(", "]>)"


def result(text: str, number: int) -> str:
    """One of the types that a function gives, `(int, error)`, `Result<(Disk, u8), Error>`,
    `tuple[Disk, int]`; "" when there are not so many.
    """
    text = text.strip()
    while wrapped := _WRAPPED.fullmatch(text):
        text = next(iter(split_top(wrapped[1], ",")), "")
    if (many := _TUPLE.fullmatch(text)) is not None:
        text = f"({many[1]})"
    types = split_top(text[1:-1], ",") if text.startswith("(") and text.endswith(")") else [text]
    return types[number] if number < len(types) else ""


@functools.lru_cache(maxsize=20_000)
def alternatives(text: str) -> tuple[str, ...]:
    """The chains that a declared type stands for, `*` at the end for each level of container,
    ITSELF before one that is a value; () when it says nothing.
    """
    if text.startswith("keyof "):
        return ()
    text = text.strip().strip("\"'") if text[:1] in "\"'" else text.strip()
    text = _LIFETIME.sub("", _WORDS.sub(" ", text)).strip()
    if len(text) > 400:
        return ()
    if text.startswith("{"):
        values = _BY_NAME.fullmatch(text)
        return tuple(_star(list(alternatives(values[1])))) if values is not None else ()
    found: list[str] = []
    for some in split_top(text, "|"):
        for part in split_top(some, "+") if "+" in some else (some,):
            found += _one(part.strip().strip("\"'"))
    return tuple(dict.fromkeys(name for name in found if name not in ("None", "null", "undefined", "void")))[
        :6
    ]


def _one(text: str) -> list[str]:
    while ">::" in text and (bare := _OUTER.sub("", text)) != text:  # C++'s `List<Key>::Iterator`
        text = bare
    text = text.strip().lstrip("&*~? ").rstrip("&*?! ")
    if text.startswith("[") and "]" in text:  # Go's []T, [n]T; Rust's [T; n]; Swift's [T]
        inside, _, rest = text[1:].partition("]")
        if rest:
            return _star(_one(rest))
        first = split_top(inside.replace(";", ","), ",")[:1]  # none in an empty tuple
        return _star([found for one in first for part in split_top(one, ":")[-1:] for found in _one(part)])
    if text.startswith("map["):
        return _star(_one(text[_closing(text, 3) + 1 :]))
    if text.startswith(("chan ", "<-chan ")):
        return _star(_one(text.partition("chan ")[2]))
    if text.startswith("..."):
        return _star(_one(text[3:]))
    if text.startswith("(") and text.endswith(")"):  # Go's results, parentheses
        return [found for one in split_top(text[1:-1], ",")[:1] for found in _one(one)]
    if text.endswith("[]"):
        return _star(_one(text[:-2]))
    if module := _OF_MODULE.match(text):
        place = f"{ITSELF if module[1] else ''}{module_link(module[2])}"
        return [f"{place}.{one}" for one in _one(text[module.end() :]) if not one.startswith(ITSELF)]
    if text.startswith("typeof "):
        named = _NAME.fullmatch(text[7:].partition("<")[0].strip())  # `typeof make<Disk>`
        return [f"{ITSELF}{named[0]}"] if named else []
    match = _NAME.match(text)
    if match is None:
        return []
    name = match[0].replace("::", ".").replace("\\", ".").strip(".")
    rest = text[match.end() :].lstrip()
    last = name.rpartition(".")[2]
    if rest[:1] in ("[", "<"):
        if member := _MEMBER_OF.search(rest):
            whole = not rest[: member.start()] or _closing(rest, 0) == member.start() - 1
            return [f"{ITSELF}{name}().{member[1]}"] if whole else []
        arguments = split_top(rest[1 : _closing(rest, 0)], ",")
        if last in UNIONS:
            return [found for one in arguments for found in _one(one)]
        if last in ("type", "Type"):
            return []
        if last in _OF_FUNCTIONS:
            given = arguments[:1]  # none of what was cut off
            return [made for text in given for one in _one(text) for made in _OF_FUNCTIONS[last](one)]
        if last in WRAPPERS:
            return list(alternatives(arguments[0])) if arguments else []
        if last in CONTAINERS and arguments:
            chosen = arguments[0] if last in ("tuple", "Tuple", "Generator") else arguments[-1]
            return _star(list(alternatives(chosen)))
        return [name]
    if rest and not rest.startswith(("=", "{", "where")):  # Go parameter lists: "name Type"
        second = _NAME.match(rest)
        if second is not None and rest[0] not in "(,":
            return _one(rest)
    return [name]


@functools.lru_cache(maxsize=20_000)
def held_by(text: str) -> tuple[str, ...]:
    """The names of WRAPPERS and CONTAINERS that a declared type gives arguments to: a project may
    have a type of such a name itself.
    """
    found = []
    for one in split_top(text.strip("\"' "), "|"):
        name = _NAME.match(one)
        if name is not None and one[name.end() : name.end() + 1] in ("[", "<"):
            chain = name[0].replace("::", ".").replace("\\", ".").strip(".")
            if chain.rpartition(".")[2] in WRAPPERS | CONTAINERS:
                found.append(chain)
    return tuple(found)


@functools.lru_cache(maxsize=20_000)
def parameter_of(text: str, number: int) -> str:
    """The declared type of one parameter of a script's type of functions, `(a: A, b?: B) => C`; ""
    where it is no such type.
    """
    for some in split_top(text, "|"):
        one = some
        while one.startswith("(") and one.endswith(")") and _closing(one, 0) == len(one) - 1:
            one = one[1:-1].strip()
        if one.startswith("<"):
            one = one[_closing(one, 0) + 1 :].strip()
        end = _closing(one, 0) if one.startswith("(") else len(one)
        if not one[end + 1 :].lstrip().startswith("=>"):
            continue
        parts = [part for part in split_top(one[1:end], ",") if not part.startswith("this:")]
        if number < len(parts):
            name, colon, said = parts[number].partition(":")
            return said.strip() if colon and not name.startswith("{") else "" if colon else parts[number]
    return ""


def _star(names: list[str]) -> list[str]:
    return [f"{name}*" for name in names]


def _closing(text: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`; the text's end when there is
    none.
    """
    depth = 0
    for position in range(at, len(text)):
        if text[position] in _OPEN:
            depth += 1
        elif text[position] in _CLOSE:
            depth -= 1
            if depth == 0:
                return position
    return len(text)


def split_top(text: str, separator: str) -> list[str]:
    """The parts of a type between separators that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE and not (character == ">" and text[position - 1 : position] in ("-", "=")):
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def names_in(text: str) -> list[str]:
    """Every name that a declared type speaks of, without those that are never a project's."""
    return [name.replace("::", ".") for name in _DOTTED.findall(text) if name not in _NO_TYPES]
