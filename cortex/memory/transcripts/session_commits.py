"""The commits that were made in a session, as git tells them: what a tool printed names them, and
nothing else of it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cortex.system import git
from cortex.terms.secrets import remove_secrets_in

#: how git tells a commit: hash, seconds since the epoch, first line and the others; then its files
_FORMAT = "--format=%H%x00%ct%x00%s%x00%b%x00"
#: seconds and bytes of git's answer, commits of one portion
ANSWER_S, ANSWER_BYTES_MAX, COMMITS_MAX = 2.0, 200_000, 20


def commits(folder: Path, parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that the parts of a session name and the repository of `folder` has."""
    names = [name for piece in parts for name in piece["commits"]][:COMMITS_MAX]
    answers = [_commit(folder, name) for name in dict.fromkeys(names)]
    clean: list[dict[str, Any]] = remove_secrets_in([answer for answer in answers if answer])[0]
    return clean


def _commit(folder: Path, name: str) -> dict[str, Any]:
    output = git.ask(folder, ["log", "-1", _FORMAT, "--name-only", name, "--"], ANSWER_S, ANSWER_BYTES_MAX)
    fields = output.decode(errors="replace").split("\0")
    if len(fields) < 5 or not fields[0].startswith(name) or not fields[2].strip():
        return {}
    full_hash, seconds, title, body, paths = fields[:5]
    return {
        "name": full_hash,
        "at": int(seconds) * 1000,
        "title": title.strip(),
        "body": body.strip(),
        "files": [path for path in paths.split("\n") if path],
    }
