"""Code names in a question, and the lines of files that contain them."""

import re
from collections.abc import Sequence

from cortex.ask.exploring.functions import Function, look_up, parse_functions
from cortex.ask.query_context import Turn
from cortex.ranking import read_question
from cortex.ranking.traces import KNOWN_ENDINGS, find_frames
from cortex.terms.text.spelling import means_file, path_below, read_file_lines
from ipc.messages import Locate, Located, Place

#: names that are searched, and cited places that are looked up
NAMES_MAX, PLACES_MAX = 4, 8
#: letters of a pasted trace that are read
TRACE_CHARS_MAX = 24_000

#: a name with its owner: `Config.load`, `Handler::handle()`, `Store#save`, `store->save`
_QUALIFIED = r"(?<![\w./#@:-])[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+(?![\w/\\@-]|\.\w)"
#: the same for a name in backquotes, which may also be a single one
_QUOTED = r"`([A-Za-z_]\w{2,}|[A-Za-z_][\w.:#>-]+\w)(?:\(\))?`"
#: a name of a file or of a page, and an abbreviation: no name with its owner
_FILE = re.compile(rf"[\w.-]+\.(?:{KNOWN_ENDINGS}|com|org|net|io|dev)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
#: words of a question about the users of a function: it asks, or it tells of a change to come. A
#: report of a fault says "changes" and "removing", too
_USERS = re.compile(
    r"\b(?:who|what|where|which)\b[^.?!]{0,60}\b(?:breaks?|affected|calls?|called|uses?|used|impact)\b"
    r"|\b(?:callers?|usages?|uses|users|impact) of\b|\b(?:called|used) by\b|\bwho (?:calls|uses)\b"
    r"|\b(?:if|when|before) (?:i|we|you)\b[^.?!]{0,40}\b(?:renam|remov|delet|chang)\w*"
    r"|\bif\b[^.?!]{0,80}\b(?:is renamed|is removed|is deleted|changes|is changed|gets)\b"
    r"|^\W*(?:rename|remove|delete|change)\b",
    re.IGNORECASE,
)
#: begins a sentence that asks, or asks somebody to list, also politely: `I need to find`
_ASKS = re.compile(
    r"\W*(?:(?:please|also|now|then|i|we|i'd|we'd|want|need|like|trying|to|help|me|us|let)\b\W*)*"
    r"(?:who|whom|whose|what|where|which|how|why|is|are|do|does|did|can|could|may|will|would|list|show|find|give|tell"
    r"|see|know|identify|locate|get|all|every|each|callers?|usages?|uses|users|impact|(?:if|when|before) (?:i|we|you))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n")
#: words of a query up to which it asks, however it is worded: `remove Store.save`
SHORT_WORDS = 8
#: a route: `POST /orders`
ROUTE = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY)\s+/[^\s`\"',?]*")
#: a query that is an operator: as languages define it, or the sign alone
OPERATOR = re.compile(
    r"\s*(?:(?:\w+\s+){0,3}(?:operator|func|fun|def|fn)\s*(\(\)|\[\]=?|[-+*/%<>=!&|^~]{1,3})"
    r"|([-+*/%<>=!&|^~]{1,3}))\s*(?:\(.*)?"
)
#: sign → the method that defines it in Python
_PYTHON = dict(
    zip(
        "< <= > >= == != () [] + - * / %".split(),
        "__lt__ __le__ __gt__ __ge__ __eq__ __ne__ __call__ __getitem__ "
        "__add__ __sub__ __mul__ __truediv__ __mod__".split(),
        strict=True,
    )
)
#: a query that is the path of a file, or the end of one
_PATH = re.compile(r"(?:[\w@+~()\[\]$.-]*/)*[\w@+~()\[\]$.-]+")
_IS_PATH = re.compile(r"[/.]")
_SEPARATOR = re.compile(r"\.|::|#|->")
#: snake case, camel case, several capitals before small letters, and words in backquotes
_NAME = re.compile(
    rf"{_QUOTED}|({_QUALIFIED})"
    r"|(?<![\w.])(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+)(?!\w)"
)


def names_in(query: str) -> list[str]:
    """Return the first NAMES_MAX names and routes in a query, with their owners as written; of a
    query that is an operator the names that languages give its definition.
    """
    if (operator := OPERATOR.fullmatch(query)) is not None:
        sign = operator[1] or operator[2]
        return [f"operator{sign}", sign, *filter(None, [_PYTHON.get(sign)])]
    routes = [match[0] for match in ROUTE.finditer(query)]
    matches = (match[1] or match[0] for match in _NAME.finditer(query))
    names = (name for name in matches if not (_FILE.fullmatch(name) or _ABBREVIATION.fullmatch(name)))
    return list(dict.fromkeys((*routes, *names)))[:NAMES_MAX]


def asks_for_users(query: str) -> bool:
    """Whether a query asks for the callers of a function, or for the effects of a change of it. A
    description of a change may say "used by" and begin with "Remove", too: it asks for code.
    """
    if _USERS.search(query) is None or len(query.split()) <= SHORT_WORDS:
        return _USERS.search(query) is not None
    sentences = _SENTENCE_END.split(query)
    return any(_USERS.search(text) and (text.endswith("?") or _ASKS.match(text)) for text in sentences)


async def find_named(turn: Turn, names: Sequence[str]) -> list[Function]:
    """Return the function of each name; none for an ambiguous or unknown one. Raises NotReady."""
    named: dict[str, Function] = {}
    for name, answer in zip(names, await look_up(turn, names, bare=True), strict=True):
        for function in parse_functions(answer):
            # the graph also reads names that are only similar
            same = function.name.rpartition(".")[2] == _SEPARATOR.split(name)[-1]
            if same and function.file and function.callable:
                named.setdefault(function.id, function)
    return list(named.values())


async def find_files(turn: Turn, query: str) -> list[str]:
    """Return the files of which a query is the path, or the end of the path, also with a line; of a
    word, `Gemfile`, the file in the root alone. Raises NotReady.
    """
    match = _PATH.fullmatch(read_file_lines(query.strip().strip("`")).path)
    if match is None or not (_IS_PATH.search(match[0]) or match[0] in turn.context.freshness.listed()):
        return []
    name = path_below(match[0], str(turn.context.config.root))
    request = Locate((Place(name),), generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    spots = located.spots if located is not None else ()
    paths = dict.fromkeys(spot.hit.path for spot in spots)
    if not _IS_PATH.search(match[0]):
        return [path for path in paths if path == name]
    return [path for path in paths if means_file(name, path)]


async def find_cited(turn: Turn, query: str) -> dict[str, list[int]]:
    """Return file → its lines that a pasted trace names, in the trace's order. Raises NotReady."""
    named = [place for place in read_question(query).places if place.line]
    frames = [Place(frame.path, frame.line) for frame in find_frames(query[:TRACE_CHARS_MAX]) if frame.line]
    places = tuple(dict.fromkeys((*named, *(frames if named else ()))))[:PLACES_MAX]
    if not places:
        return {}
    request = Locate(places, generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    lines: dict[str, list[int]] = {}
    for spot in located.spots if located is not None else ():
        if spot.whole:
            lines.setdefault(spot.hit.path, []).append(places[spot.place].line)
    return lines
