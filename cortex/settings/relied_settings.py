"""The settings that the processes of a set depend on, as flat texts: for one hash over them, and
for a sentence on the difference between two sets.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

#: fields that may hold a password: no other process gets their values, or addresses
SECRET_FIELDS = frozenset(("token", "lease"))
#: differences in a sentence; the others are a number
NAMED_MAX = 3


def flatten(body: Mapping[str, Any]) -> dict[str, str]:
    """Return name (`section.field`) → value as JSON, or a digest of a value that may be secret."""
    return dict(_leaves(orjson.loads(orjson.dumps(body)), ""))


def hash_of(settings: Mapping[str, str]) -> str:
    """Return 12 hex digits over all settings."""
    return hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def say_differences(theirs: object, ours: Mapping[str, str]) -> str:
    """Return settings that differ, with both values; "" for none. `theirs`: another process's."""
    if not isinstance(theirs, dict):
        return ""
    names = [name for name in sorted({*theirs, *ours}) if theirs.get(name) != ours.get(name)]
    sentences = [_say(name, theirs.get(name), ours.get(name)) for name in names[:NAMED_MAX]]
    more = [f"{len(names) - NAMED_MAX} more"] if len(names) > NAMED_MAX else []
    return ", ".join([*sentences, *more])


def _say(name: str, their_value: object, our_value: str | None) -> str:
    values = [str(value) if value else "not set" for value in (their_value, our_value)]
    if any(value.startswith("#") for value in values):
        return f"{name} (not shown)"
    return f"{name} ({values[0]} there, {values[1]} here)"


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else key)
        return
    text = orjson.dumps(value).decode()
    is_secret = name.rpartition(".")[2] in SECRET_FIELDS or "://" in text
    yield name, f"#{hashlib.sha256(text.encode()).hexdigest()[:12]}" if is_secret else text
