"""Search for keys, tokens and passwords in a text by their formats, and their removal. Pure."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import re2

from cortex.system.terminal import clean
from cortex.terms.text.secret_formats import FORMATS, IS

_KINDS = tuple(FORMATS)
_ANY = re2.compile("|".join(f"({pattern})" for pattern in FORMATS.values()))
#: placeholders for a password in examples and code
_NO_PASSWORD = re2.compile(
    r"(?i)[:=>]\s*['\"]?(?:\$|<|\{|\[|~?/|\.{1,2}/|os\.|process\.|env|getenv|config|self\.|settings|none|null|true|false"
    r"|str\b|string|x{4,}|\*{3,}|\.{3}|your|example|changeme|redacted|required|optional|missing|invalid|incorrect"
    r"|expired|hashed|encrypted|the\b|[a-z_.]+\()"
)
#: an assignment to a name like `key`, and the value that makes it a secret: a length of IBM's keys,
#: or one of their names. Searched last: a value that is no such key may hold another kind of secret
_NAMING = r"(?i:\b[A-Za-z0-9_-]*(?:key|token|pass|pwd|pw|password))" + IS + r"['\"]?[A-Za-z0-9_-]{24,}"
_NAMED_KEY = re2.compile(_NAMING)
#: a run of the length and alphabet of AWS's secret keys, which have no mark of their own; and the
#: least changes between small letters, capitals, digits and signs in it: names and paths have fewer
_RUN, _CHANGES_MIN = r"[A-Za-z0-9/+]{40}", 16
_ALONE_RUN = re.compile(rf"(?<![\w/+=-]){_RUN}(?![\w/+=-])")
#: matches a text that may hold a secret
_GATE = re2.compile("|".join(f"(?:{pattern})" for pattern in (*FORMATS.values(), _NAMING, _RUN)))
_KEY = re.compile(
    r"(?:.*\W)?(?:(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{44}|[0-9a-f]{48})"
    r"|(?i:cloudant|clou|cl|softlayer|sl)[_-]?(?:api)?(?i:key|pwd|pw|password|pass|token)\W.*?(?:[0-9a-z]{64}|[a-z]{24})"
)


def remove_secrets(text: str) -> tuple[str, list[str]]:
    """Return (`text` with `[removed: kind]` in the place of each secret, the kinds found).

    Control characters go first: removed later, they would join the halves of a secret.
    """
    kinds: list[str] = []

    def mark_removed(kind: str) -> str:
        kinds.append(kind)
        return f"[removed: {kind}]"

    def replace_format(match: Any) -> str:
        kind = _KINDS[match.lastindex - 1]
        secret: str = match.group()
        if kind == "password" and (no := _NO_PASSWORD.search(secret)):
            tail: str = _ANY.sub(replace_format, secret[no.end() :])
            return secret[: no.end()] + tail
        return mark_removed(kind)

    def replace_key(match: Any) -> str:
        assignment: str = match.group()
        return mark_removed("key") if _KEY.fullmatch(assignment) else assignment

    def replace_run(match: Any) -> str:
        return mark_removed("AWS key") if _is_random(match.group()) else str(match.group())

    named = _NAMED_KEY.sub(replace_key, _ANY.sub(replace_format, clean(text)))
    return _ALONE_RUN.sub(replace_run, named), kinds


def _is_random(run: str) -> bool:
    """Whether small letters, capitals and digits alternate in the text as in random bytes."""
    kinds = ["a" if c.islower() else "A" if c.isupper() else "0" if c.isdigit() else "/" for c in run]
    changes = sum(first != second for first, second in pairwise(kinds))
    return changes >= _CHANGES_MIN and {"a", "A", "0"} <= set(kinds)


def remove_secrets_in(value: Any) -> tuple[Any, list[str]]:
    """As `remove_secrets`, in all strings of a JSON value, field names included."""
    # most values hold none: one search over all strings is ten times as fast as a search in each
    texts: list[str] = []
    _gather(value, texts)
    joined_texts = "\n".join(texts)
    # a NUL is removed in any case: no database server accepts it
    return _remove_nested(value) if "\0" in joined_texts or _GATE.search(clean(joined_texts)) else (value, [])


def _gather(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, Mapping):
        texts += map(str, value)
        for child in value.values():
            _gather(child, texts)
    elif isinstance(value, list | tuple):
        for child in value:
            _gather(child, texts)


def _remove_nested(value: Any) -> tuple[Any, list[str]]:
    if isinstance(value, str):
        return remove_secrets(value)
    if isinstance(value, Mapping):
        pairs = [(remove_secrets(str(name)), _remove_nested(child)) for name, child in value.items()]
        cleaned = {name: child for (name, _), (child, _) in pairs}
        return cleaned, [kind for (_, first), (_, second) in pairs for kind in (*first, *second)]
    if isinstance(value, list | tuple):
        parts = [_remove_nested(child) for child in value]
        return type(value)(child for child, _ in parts), [kind for _, kinds in parts for kind in kinds]
    return value, []
