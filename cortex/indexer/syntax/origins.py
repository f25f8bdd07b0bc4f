"""Whether a file was written by a program or belongs to somebody else: by its path and its first lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: folders that hold copies of other projects
VENDORED = frozenset(
    "vendor vendors vendored _vendor _vendored third_party third-party thirdparty 3rdparty godeps "
    "site-packages node_modules bower_components".split()
)
#: lines at the top of a file where programs sign
HEAD_LINES = 12
#: characters of such a line that are looked at
HEAD_CHARS = 300

#: names that generators give
_NAME = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.\w+)?\.(?:go|h|cc|swift|dart)|\.(?:g|gr|freezed)\.dart|\.(?:g|designer|generated)\.cs"
    r"|\.gen\.\w+|[._-]generated\.\w+|\.generated\.\w+)$|^zz_generated\.",
    re.IGNORECASE,
)
#: what they write at the top; each needs the marks of a comment before it
_SIGNATURE = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|<auto-?generated"
    r"|\b(?:code|file|source|module|content) (?:is|was|has been) (?:automatically |auto-?)generated\b"
    r"|\b(?:automatically|auto-?) ?generated (?:by|from|with|using|file|code)\b|^\W*generated (?:by|from|with) ",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|\{-|\.\.\s|'{3})")


def origin(path: str, lines: Sequence[str]) -> tuple[str, str]:
    """("generated" | "vendored" | "", why)."""
    *folders, name = path.split("/")
    for folder in folders:
        if folder.lower() in VENDORED:
            return "vendored", f"below {folder}/"
    if _NAME.search(name):
        return "generated", f"named {name}"
    for number, line in enumerate(lines[:HEAD_LINES], 1):
        head = line[:HEAD_CHARS]
        if _COMMENT.match(head) and _SIGNATURE.search(head):
            return "generated", f"says so on line {number}"
    return "", ""
