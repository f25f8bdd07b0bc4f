"""A guess of the files that others refer to most, before anything is parsed: the number of files
that name them in a line of an import, include or require. A name that many files share counts
little for each of them.
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

#: bytes read of a file: imports are at its top
HEAD_BYTES = 4_096
#: time limit in seconds; the counts until then decide
LOOK_S = 1.0
#: fewest referring files that mean anything
REFERRED_MIN = 2.0

#: the text after the import keywords of most languages; and a line of Go's list of imports
_IMPORT = re.compile(
    rb"^[ \t]*(?:(?:#[ \t]*include|@?import|from|use|using|require\w*|mod|load|alias|open|extern crate"
    rb"|export[^\n]{0,200}\bfrom|(?:const|let|var|local)\b[^\n=]{0,200}=[^\n]{0,40}\brequire)\b([^\n]{1,300})"
    rb"|(?:\w+[ \t]+)?\"([\w./-]+/[\w.-]+)\"[ \t]*$)",
    re.MULTILINE,
)
_WORD = re.compile(rb"[a-z_][a-z0-9_-]*")


def most_referred(root: Path, paths: Collection[str]) -> list[str]:
    """Return those of `paths` that other files name, the most often named first."""
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
    """Return a file's name in imports: its stem, or its folder for a generic stem and in Go."""
    *folders, file = path.lower().split("/")
    stem, _, suffix = file.partition(".")
    if folders and (stem in EMPTY_STEMS or suffix == "go"):
        stem = folders[-1]
    return stem.encode(errors="surrogateescape")


def _imported_words(head: bytes) -> set[bytes]:
    """Return the words, in lower case, of the import lines."""
    return {
        word for match in _IMPORT.finditer(head) for word in _WORD.findall((match[1] or match[2]).lower())
    }
