"""Detection of generated and vendored files, by path and first lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.terms.paths import has_generated_name, vendored_folder
from cortex.terms.records import GENERATED, VENDORED

#: lines at the top of a file where generators leave a signature
HEAD_LINES = 12
#: characters to read of such a line
HEAD_CHARS = 300

#: signatures of generators; each counts only after a comment marker
_SIGNATURE = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|<auto-?generated"
    r"|\b(?:code|file|source|module|content) (?:is|was|has been) (?:automatically |auto-?)generated\b"
    r"|\b(?:automatically|auto-?) ?generated (?:by|from|with|using|file|code)\b|^\W*generated (?:by|from|with) ",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|\{-|\.\.\s|'{3})")


def origin(path: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return (GENERATED, VENDORED or "", the reason)."""
    if folder := vendored_folder(path):
        return VENDORED, f"below {folder}/"
    if has_generated_name(path):
        return GENERATED, f"named {path.rpartition('/')[2]}"
    for number, line in enumerate(lines[:HEAD_LINES], 1):
        head = line[:HEAD_CHARS]
        if _COMMENT.match(head) and _SIGNATURE.search(head):
            return GENERATED, f"says so on line {number}"
    return "", ""
