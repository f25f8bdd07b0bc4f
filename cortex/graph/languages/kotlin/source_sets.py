"""Visibility between source sets of a multiplatform Kotlin project. Common code sees only common
code, and no platform's code sees another platform's.

Their folders show the set: `src/commonMain/kotlin` or `common/src`. Pure.
"""

import functools
import re
from collections.abc import Iterable

from cortex.graph.facts.tables import Ref

_FOLDERS = (
    re.compile(r"(?:^|/)src/(\w+?)(?:Main|Test)/"),
    re.compile(r"(?:^|/)(\w+)/(?:src|test)/(?!(?:main|test|java)/)"),
)
_WORD = re.compile(r"[A-Za-z][a-z]*")
_COMMON, _NATIVE = "common", frozenset({"native"})
_JVM, _JS, _WASM = frozenset({"jvm"}), frozenset({"js"}), frozenset({"wasm"})
#: words in the names of sets → their target systems
_SYSTEMS = {
    "jvm": _JVM,
    "android": _JVM,
    "js": _JS,
    "wasm": _WASM,
    "web": _JS | _WASM,
    **dict.fromkeys(
        "native linux mingw windows macos ios apple darwin tvos watchos unix posix nix".split(), _NATIVE
    ),
}
#: sets for all systems but one
_BUT = {f"non{name.capitalize()}": name for name in ("jvm", "js", "wasm", "native")}


@functools.lru_cache(maxsize=20_000)
def systems_of(path: str) -> frozenset[str] | None:
    """The target systems of a file: empty for common code, None if its folders do not tell."""
    folder_match = next((match for pattern in _FOLDERS if (match := pattern.search(path)) is not None), None)
    if folder_match is None:
        return None
    if folder_match[1] == _COMMON:
        return frozenset()
    if folder_match[1] in _BUT:
        return (_JVM | _JS | _WASM | _NATIVE) - {_BUT[folder_match[1]]}
    words = [word.lower() for word in _WORD.findall(folder_match[1])]
    if "native" in words:  # `androidNative`
        return _NATIVE
    if "and" in words:  # `jvmAndNix`
        word_systems = [_SYSTEMS.get(word) for word in words if word != "and"]
        return (
            frozenset().union(*(systems for systems in word_systems if systems))
            if all(word_systems)
            else None
        )
    return _SYSTEMS.get(words[0]) if words else None


def sees(path: str, other: str) -> bool:
    """Return True if code in `path` can see definitions in `other`."""
    own_systems, other_systems = systems_of(path), systems_of(other)
    return own_systems is None or not other_systems or not own_systems.isdisjoint(other_systems)


def visible_refs(path: str, refs: Iterable[Ref]) -> list[Ref]:
    """Return those of `refs` that `path` sees."""
    return [ref for ref in refs if sees(path, ref[0])]
