"""Decorators and annotations of a definition: a framework may call what they register, and no line
names it. Pure.
"""

import re
from typing import Any

from cortex.ask.lines.code_words import names_in_code
from cortex.ask.lines.current_lines import CurrentSpan, Span
from cortex.ask.reading.meanings import Meaning
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import language_of

#: lines that the decorators of a definition are sought in, from its first one and above it, and the
#: decorators that are listed
HEAD_LINES, ABOVE_LINES, SHOWN = 24, 6, 4
#: languages whose methods begin below their decorators
_DECORATED_ABOVE = frozenset(("javascript", "typescript", "tsx"))
#: the end of a line before a decorator
_END = re.compile(r"[;{}]\s*$|\*/\s*$")
_DECORATED = frozenset(("python", "javascript", "typescript", "tsx", "java", "kotlin", "swift"))
_DECORATOR = re.compile(r"\s*@(?!interface\b)(?:[a-z]+:)?([A-Za-z_][\w.]*)(\()?")
#: decorators of tests, and last words of those that change, check or describe a definition and call
#: it from nowhere
_OF_TESTS = re.compile(r"(?:^|\.)(?:mark|patch)(?:\.|$)")
_PLAIN = frozenset(
    "property cached_property reify setter getter deleter staticmethod classmethod abstractmethod abstractproperty "
    "override overload final wraps contextmanager asynccontextmanager lru_cache cache singledispatch "
    "singledispatchmethod total_ordering dataclass dataclass_transform runtime_checkable no_type_check unique verify "
    "coroutine deprecated skip skipif skipUnless skipIf expectedFailure "
    "Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface Native Nullable NonNull Nonnull NotNull "
    "CheckForNull CheckReturnValue CanIgnoreReturnValue VisibleForTesting Generated GuardedBy Beta "
    "Singleton Suppress JvmStatic JvmOverloads JvmField JvmName JvmInline Throws OptIn Composable ReadOnlyComposable "
    "Serializable Parcelize Immutable Stable Keep RequiresApi SuppressLint MainThread WorkerThread UiThread AnyThread "
    "Synchronized discardableResult MainActor available inlinable usableFromInline frozen nonobjc ViewBuilder "
    "Observable ObservationIgnored Sendable preconcurrency escaping propertyWrapper dynamicMemberLookup resultBuilder".split()
)


def head_of(meaning: Meaning) -> Span | None:
    """Return the first lines of a definition that may be decorated; None for another."""
    may_be = meaning.kind in CALLABLE_KINDS | TYPE_KINDS and language_of(meaning.file).name in _DECORATED
    first = meaning.start - _above(meaning)
    return Span(meaning.file, first, meaning.start + HEAD_LINES) if may_be else None


def _above(meaning: Meaning) -> int:
    """Return the number of lines above a definition that may hold its decorators."""
    is_above = language_of(meaning.file).name in _DECORATED_ABOVE
    return min(ABOVE_LINES, meaning.start - 1) if is_above else 0


def find_decorators(meaning: Meaning, head: CurrentSpan) -> list[dict[str, Any]]:
    """Return the text and the line of each decorator above the name of a definition, in order;
    equal ones once, without those of the language that register nothing.
    """
    word = meaning.name.rpartition(".")[2]
    decorators: dict[str, int] = {}
    lines = list(enumerate(head.lines, head.start))
    above = lines[: _above(meaning)]
    ends = [at for at, (_, line) in enumerate(above, 1) if not line.strip() or _END.search(line)]
    lines = lines[ends[-1] if ends else 0 :]
    if not lines or not _DECORATOR.match(lines[0][1]):
        return []
    for number, line in lines:
        rest = line
        while match := _DECORATOR.match(rest):
            name = match[1]
            if name.rpartition(".")[2] not in _PLAIN and not _OF_TESTS.search(name):
                decorators.setdefault(f"@{name}{'(…)' if match[2] else ''}", number)
            rest = "" if match[2] else rest[match.end() :]
        if names_in_code(meaning.file, rest, word, as_function=False):
            break
    return [{"text": text, "line": line} for text, line in decorators.items()][:SHOWN]
