"""Declared types as text → the named types of a value. Wrappers are replaced by their content;
containers are marked by `*`.

`Optional[Foo]`, `*pkg.Foo`, `Box<dyn Foo>` → `Foo`; `list[Foo]`, `[]Foo`, `Map<K, Foo>` → `Foo*`:
elements are Foo.
"""

import functools
import re

from cortex.graph.facts.facts import module_link

#: generic types that act as their first argument
WRAPPERS = frozenset(
    "Optional Union Annotated Final ClassVar Required NotRequired ReadOnly Awaitable Coroutine "
    "Promise Readonly Partial NonNullable Option Result Box Rc Arc Ref RefCell Mutex RwLock Cow "
    "Pin Weak CachePadded ManuallyDrop MutexGuard RwLockReadGuard RwLockWriteGuard RefMut unique_ptr shared_ptr weak_ptr reference_wrapper optional QPointer QScopedPointer QSharedPointer QWeakPointer scoped_ptr intrusive_ptr NiceMock NaggyMock StrictMock Task ValueTask Lazy CompletableFuture Future "
    "Self Type Awaited Pick Omit".split()
)
#: generic types that hold elements, mostly of their last argument
CONTAINERS = frozenset(
    "list List set Set frozenset tuple Tuple dict Dict Sequence Iterable Iterator Collection "
    "Mapping MutableMapping MutableSequence Generator AsyncIterator AsyncIterable deque Deque "
    "defaultdict OrderedDict FrozenSet AbstractSet Array ReadonlyArray Map Record Vec VecDeque "
    "HashMap BTreeMap HashSet vector map unordered_map array ArrayList LinkedList IEnumerable "
    "IList Dictionary ICollection MutableList MutableMap Queue Stack Seq Stream "
    "MutableSet MutableCollection LinkedHashMap LinkedHashSet TreeMap TreeSet ArrayDeque ConcurrentHashMap "
    "stack queue priority_queue unordered_set multimap span initializer_list forward_list multiset "
    "unordered_multiset unordered_multimap SortedMap NavigableMap ConcurrentMap SortedSet NavigableSet EnumMap EnumSet "
    "PriorityQueue BlockingQueue LinkedBlockingQueue ConcurrentLinkedQueue CopyOnWriteArrayList Vector "
    "SortedDictionary ConcurrentDictionary ConcurrentBag ConcurrentQueue IReadOnlyList IReadOnlyCollection "
    "IReadOnlyDictionary IDictionary ISet SortedList ObservableCollection ImmutableArray ImmutableList "
    "ReadonlyMap ReadonlySet IterableIterator AsyncGenerator BTreeSet BinaryHeap IndexMap iterable".split()
)
#: those that hold elements of their first argument, and of their second
_BY_FIRST = frozenset(
    "tuple Tuple Generator AsyncGenerator vector deque set unordered_set list stack queue priority_queue span forward_list "
    "multiset unordered_multiset std.array".split()
)
_BY_SECOND = frozenset({"map", "unordered_map", "multimap", "unordered_multimap"})
#: begins a chain that means its value, in place of a type's name: TypeScript's `typeof x`
ITSELF = "="
#: generic types for a value of any of their arguments
UNIONS = frozenset({"Union"})


def _result_of(name: str) -> list[str]:
    return [f"{name}()"] if name.startswith(ITSELF) else []


def _instance_of(name: str) -> list[str]:
    return [name.removeprefix(ITSELF)] if name.startswith(ITSELF) else []


#: TypeScript's types derived from a value: `ReturnType<typeof make>`
_OF_FUNCTIONS = {"ReturnType": _result_of, "InstanceType": _instance_of}
_WORDS = re.compile(
    r"\b(?:const|mut|dyn|impl|ref|readonly|final|volatile|struct|class|enum|typename|inout|out|unique|keyof)\b"
)
_LIFETIME = re.compile(r"'[a-z_]\w*\b(?!')")
_NAME = re.compile(r"[A-Za-z_$\\][\w$\\]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
#: names in types that never belong to a project
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
#: TypeScript's type with an index signature, `{ [name: string]: Disk }`
_BY_NAME = re.compile(r"\{\s*\[[^\]]{1,80}\]\s*\??:\s*([^;{}]{1,200})[;,]?\s*\}")
#: a type of another module by its full name, `import("./disk").Disk`
_OF_MODULE = re.compile(r"""(typeof\s+)?import\(\s*["']([^"']{1,200})["']\s*\)\s*\.\s*""")
_OPEN, _CLOSE = "[<(", "]>)"


def result_type(text: str, number: int) -> str:
    """Return the type of result `number` of a function, or "".

    Examples: `(int, error)`, `Result<(Disk, u8), Error>`, `tuple[Disk, int]`.
    """
    text = text.strip()
    while wrapped := _WRAPPED.fullmatch(text):
        text = next(iter(split_top_level(wrapped[1], ",")), "")
    if (many := _TUPLE.fullmatch(text)) is not None:
        text = f"({many[1]})"
    types = split_top_level(text[1:-1], ",") if text.startswith("(") and text.endswith(")") else [text]
    return types[number] if number < len(types) else ""


@functools.lru_cache(maxsize=20_000)
def alternatives(text: str) -> tuple[str, ...]:
    """Return the chains of a declared type; () for a type without information.

    Each ends with a `*` for each level of container and begins with ITSELF if it is a value.
    """
    if text.startswith("keyof "):
        return ()
    text = text.strip().strip("\"'") if text[:1] in "\"'" else text.strip()
    text = _LIFETIME.sub("", _WORDS.sub(" ", text)).strip()
    if len(text) > 400:
        return ()
    if text.startswith("{"):
        values = _BY_NAME.fullmatch(text)
        return tuple(_mark_elements(list(alternatives(values[1])))) if values is not None else ()
    names: list[str] = []
    for member in split_top_level(text, "|"):
        for piece in split_top_level(member, "+") if "+" in member else (member,):
            names += _alternatives_of(piece.strip().strip("\"'"))
    return tuple(dict.fromkeys(name for name in names if name not in ("None", "null", "undefined", "void")))[
        :6
    ]


def _alternatives_of(text: str) -> list[str]:
    while ">::" in text and (bare := _OUTER.sub("", text)) != text:  # C++'s `List<Key>::Iterator`
        text = bare
    text = text.strip().lstrip("&*~? ").rstrip("&*?! ")
    if text.startswith("[") and "]" in text:  # Go's []T, [n]T; Rust's [T; n]; Swift's [T]
        inside, _, tail = text[1:].partition("]")
        if tail:
            return _mark_elements(_alternatives_of(tail))
        first = split_top_level(inside.replace(";", ","), ",")[:1]  # none in an empty tuple
        return _mark_elements(
            [
                chain
                for entry in first
                for piece in split_top_level(entry, ":")[-1:]
                for chain in _alternatives_of(piece)
            ]
        )
    if text.startswith("map["):
        return _mark_elements(_alternatives_of(text[_closing_position(text, 3) + 1 :]))
    if text.startswith(("chan ", "<-chan ")):
        return _mark_elements(_alternatives_of(text.partition("chan ")[2]))
    if text.startswith("..."):
        return _mark_elements(_alternatives_of(text[3:]))
    if text.startswith("(") and text.endswith(")"):  # Go's results, parentheses
        return [chain for entry in split_top_level(text[1:-1], ",")[:1] for chain in _alternatives_of(entry)]
    if text.endswith("[]"):
        return _mark_elements(_alternatives_of(text[:-2]))
    if module := _OF_MODULE.match(text):
        place = f"{ITSELF if module[1] else ''}{module_link(module[2])}"
        return [
            f"{place}.{chain}"
            for chain in _alternatives_of(text[module.end() :])
            if not chain.startswith(ITSELF)
        ]
    if text.startswith("typeof "):
        name_match = _NAME.fullmatch(text[7:].partition("<")[0].strip())  # `typeof make<Disk>`
        return [f"{ITSELF}{name_match[0]}"] if name_match else []
    match = _NAME.match(text)
    if match is None:
        return []
    name = match[0].replace("::", ".").replace("\\", ".").strip(".")
    tail = text[match.end() :].lstrip()
    last = name.rpartition(".")[2]
    if tail[:1] in ("[", "<"):
        if member := _MEMBER_OF.search(tail):
            is_whole = not tail[: member.start()] or _closing_position(tail, 0) == member.start() - 1
            return [f"{ITSELF}{name}().{member[1]}"] if is_whole else []
        arguments = split_top_level(tail[1 : _closing_position(tail, 0)], ",")
        if last in UNIONS:
            return [chain for argument in arguments for chain in _alternatives_of(argument)]
        if last in ("type", "Type"):
            return []
        if last in _OF_FUNCTIONS:
            first_arguments = arguments[:1]  # none if the text was cut off
            return [
                derived
                for text in first_arguments
                for chain in _alternatives_of(text)
                for derived in _OF_FUNCTIONS[last](chain)
            ]
        if last in WRAPPERS:
            return list(alternatives(arguments[0])) if arguments else []
        if last == "pair" and arguments:  # C++'s, as the values of a map: `x.second`
            return list(alternatives(arguments[-1]))
        if last in CONTAINERS and arguments:
            return _mark_elements(list(alternatives(_element_type(name, last, arguments))))
        return [name]
    if tail and not tail.startswith(("=", "{", "where")):  # Go parameter lists: "name Type"
        second = _NAME.match(tail)
        if second is not None and tail[0] not in "(,":
            return _alternatives_of(tail)
    return [name]


def _element_type(name: str, container: str, arguments: list[str]) -> str:
    """Return the type argument for the elements: allocators, orders and sizes follow in C++."""
    if container in _BY_FIRST or name in _BY_FIRST or arguments[-1][0].isdecimal():
        return arguments[0]
    return arguments[1] if container in _BY_SECOND and len(arguments) > 1 else arguments[-1]


@functools.lru_cache(maxsize=20_000)
def generic_names(text: str) -> tuple[str, ...]:
    """Return the names of WRAPPERS and CONTAINERS with arguments in a declared type.

    A project may define a type of the same name.
    """
    names = []
    for alternative in split_top_level(text.strip("\"' "), "|"):
        name = _NAME.match(alternative)
        if name is not None and alternative[name.end() : name.end() + 1] in ("[", "<"):
            chain = name[0].replace("::", ".").replace("\\", ".").strip(".")
            if chain.rpartition(".")[2] in WRAPPERS | CONTAINERS:
                names.append(chain)
    return tuple(names)


@functools.lru_cache(maxsize=20_000)
def parameter_type(text: str, number: int) -> str:
    """Return the type of one parameter in a script's function type, `(a: A, b?: B) => C`, or ""."""
    for member in split_top_level(text, "|"):
        function_type = member
        while (
            function_type.startswith("(")
            and function_type.endswith(")")
            and _closing_position(function_type, 0) == len(function_type) - 1
        ):
            function_type = function_type[1:-1].strip()
        if function_type.startswith("<"):
            function_type = function_type[_closing_position(function_type, 0) + 1 :].strip()
        end = _closing_position(function_type, 0) if function_type.startswith("(") else len(function_type)
        if not function_type[end + 1 :].lstrip().startswith("=>"):
            continue
        parts = [
            parameter
            for parameter in split_top_level(function_type[1:end], ",")
            if not parameter.startswith("this:")
        ]
        if number < len(parts):
            name, colon, declared = parts[number].partition(":")
            return declared.strip() if colon and not name.startswith("{") else "" if colon else parts[number]
    return ""


def _mark_elements(names: list[str]) -> list[str]:
    return [f"{name}*" for name in names]


def _closing_position(text: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`; the text's end if none does."""
    depth = 0
    for position in range(at, len(text)):
        if text[position] in _OPEN:
            depth += 1
        elif text[position] in _CLOSE:
            depth -= 1
            if depth == 0:
                return position
    return len(text)


def split_top_level(text: str, separator: str) -> list[str]:
    """Return the parts of a type between separators outside of brackets."""
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
    return [piece.strip() for piece in parts if piece.strip()]


def names_in(text: str) -> list[str]:
    """Return every name in a declared type, except names that never belong to a project."""
    return [name.replace("::", ".") for name in _DOTTED.findall(text) if name not in _NO_TYPES]
