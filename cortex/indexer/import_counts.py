"""Which files others refer to most, before anything is parsed: how many name them in a line that
imports, includes or requires. A guess: names that many files share count for none of them much.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from cortex.system.files import read_plain
from cortex.terms.paths import EMPTY_STEMS

#: bytes of a file that are looked at: imports stand at its top
HEAD_BYTES = 4_096
#: seconds that the look may take; what was counted until then decides
LOOK_S = 1.0
#: files that refer to one below which that says nothing
REFERRED_MIN = 2.0

#: what follows the words that import in most languages; and a line of Go's list of imports
_IMPORT = re.compile(
    rb"^[ \t]*(?:(?:#[ \t]*include|@?import|from|use|using|require\w*|mod|load|alias|open|extern crate"
    rb"|export[^\n]{0,200}\bfrom|(?:const|let|var|local)\b[^\n=]{0,200}=[^\n]{0,40}\brequire)\b([^\n]{1,300})"
    rb"|(?:\w+[ \t]+)?\"([\w./-]+/[\w.-]+)\"[ \t]*$)",
    re.MULTILINE,
)
_WORD = re.compile(rb"[a-z_][a-z0-9_-]*")


def most_referred(root: Path, paths: Collection[str]) -> list[str]:
    """Those of `paths` that others of them name, the most often named first."""
    names = {path: _import_name(path) for path in paths}
    sharing = Counter(names.values())
    mentions: Counter[bytes] = Counter()
    until = time.monotonic() + LOOK_S
    for path in paths:
        with contextlib.suppress(OSError):
            head = read_plain(root / path, HEAD_BYTES)
            mentions.update(_imported_words(head).intersection(sharing) - {names[path]})
        if time.monotonic() >= until:
            break
    scores = {path: mentions[name] / sharing[name] for path, name in names.items()}
    referred = [path for path in paths if scores[path] >= REFERRED_MIN]
    return sorted(referred, key=lambda path: (-scores[path], path))


def _import_name(path: str) -> bytes:
    """What an import calls a file: its stem; its folder where the stem says nothing, and in Go."""
    *folders, file = path.lower().split("/")
    stem, _, suffix = file.partition(".")
    if folders and (stem in EMPTY_STEMS or suffix == "go"):
        stem = folders[-1]
    return stem.encode(errors="surrogateescape")


def _imported_words(head: bytes) -> set[bytes]:
    """The words, in small letters, of the lines that import."""
    return {
        word for match in _IMPORT.finditer(head) for word in _WORD.findall((match[1] or match[2]).lower())
    }
