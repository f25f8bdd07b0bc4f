"""Random queries of the keyword language: by its grammar, and near misses."""

from __future__ import annotations

import random

WORDS = (
    "getUserById", "foo", "Foo", "_x", "auth", "error", "handling", "sync.RWMutex", "std::vector<int>", "x->next", "größe", "中文注释",
    "TODO:", "@decorator", "#include", "a", "0x1F", "1e9", "İ", "e\u0301", "user", "ticket_store", "shared", "value",
)  # fmt: skip
FIELDS = (
    "text", "title", "symbols", "file_path", "tags", "chunk_type", "language", "start_line", "case", "nosuch", "TEXT", "lane_body",
)  # fmt: skip
#: pieces with a meaning in the language, and others
PIECES = (
    " ", "  ", "AND", "OR", "NOT", "TO", "(", ")", '"', "'", "+", "-", "~", "~1", "~2", "~99", "^", "^2", "^1e400", "*", "?", ":",
    "::", "[", "]", "{", "}", "[1 TO 5]", "[* TO *]", ">", "<=3", "/", "\\", "\\n", "\\x{110000}", "&&", "||", "!", "#", "@", "\x1f",
    "\u2028", "\0", "\n", ".*", "(?i)", "(?P<a>", "{1000}", "{2,1}", "[z-a]", "[[:digit:]]", "\\b", "\\1", "$", "|", "%", ",",
)  # fmt: skip
PATTERNS = (
    "get\\w+", "[a-z]{2,5}", "(foo|bar)+", "^package", "x$", ".", "a*?", "[^\\s]+", "\\w+\\s*\\(", "(a|b|c){1,8}d", "(?i)todo", "x{0,900}",
    "\\p{Greek}", "[", "(", "*", "(?=a)", "\\", "", "((((a))))", ".*.*.*.*b",
)  # fmt: skip
#: pieces to repeat, in search of a bound
LONG = (
    "a ",
    "NOT ",
    "-",
    "(",
    "NOT (",
    "a OR ",
    "+a ",
    '"a" ',
    "*",
    "a* ",
    "/a/ ",
    "a~2 ",
    "[",
    "a AND ",
    "\\",
    "~",
    "tags:(a ",
    "text:",
    "中",
    "aB",
    "q" * 200 + "~2 ",
)
#: numbers of repetitions: mostly few, because each costs time
REPEATS = (3, 30, 300, 3_000)


def draw_query(draws: random.Random) -> str:
    """Draw a query; one in a hundred is long."""
    kind = draws.random()
    if kind < 0.01:
        return draws.choice(LONG) * draws.choice(REPEATS) + draws.choice(("", "a", ")" * 300))
    if kind < 0.35:
        return "".join(draws.choices(PIECES + WORDS, k=draws.randrange(1, 14)))
    query = _condition(draws, 3)
    return _spoil(query, draws) if kind < 0.6 else query


def _condition(draws: random.Random, depth: int) -> str:
    parts = []
    for _ in range(draws.randrange(1, 4)):
        term = f"({_condition(draws, depth - 1)})" if depth and draws.random() < 0.3 else _clause(draws)
        parts.append(draws.choice(("", "", "", "NOT ", "+", "-")) + term)
    return draws.choice((" ", " AND ", " OR ", " && ", " || ")).join(parts)


def _clause(draws: random.Random) -> str:
    field = f"{draws.choice(FIELDS)}:" if draws.random() < 0.25 else ""
    boost = f"^{draws.choice((2, 0.5, 0, 10**6))}" if draws.random() < 0.1 else ""
    return field + _atom(draws) + boost


def _atom(draws: random.Random) -> str:
    word = draws.choice(WORDS)
    match draws.randrange(8):
        case 0:
            return f'"{" ".join(draws.choices(WORDS, k=draws.randrange(1, 5)))}"' + draws.choice(
                ("", "~3", "~1000")
            )
        case 1:
            return word[: draws.randrange(1, len(word) + 1)] + "*" + draws.choice(("", "e", "?d"))
        case 2:
            return f"{word}~{draws.choice(('', 1, 2, 3))}"
        case 3:
            return f"/{draws.choice(PATTERNS)}/"
        case 4:
            return draws.choice(("[1 TO 9]", ">=5", "{* TO 3}", "[b TO a]", "<99999999999999999999"))
        case _:
            return word


def _spoil(query: str, draws: random.Random) -> str:
    """Change a place of the query: cut it, double it, or insert a piece."""
    at = draws.randrange(len(query) + 1)
    return draws.choice(
        (
            query[:at],
            query[at:],
            query[:at] + draws.choice(PIECES) + query[at:],
            query[:at] + query[at // 2 :],
        )
    )
