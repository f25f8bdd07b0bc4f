"""Commits that were made in a session, from git's log: the session's tools only give their
hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cortex.settings.folders.own_commits import ask_history
from cortex.terms.text.secrets import remove_secrets_in

#: git's format: hash, seconds since the epoch, first line, rest; then the files
_FORMAT = "--format=%H%x00%ct%x00%s%x00%b%x00"
#: seconds and bytes of git's output, commits of one portion
ANSWER_S, ANSWER_BYTES_MAX, COMMITS_MAX = 2.0, 200_000, 20


def commits(folder: Path, parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The commits named in the parts of a session that exist in the repository of `folder`."""
    names = [name for piece in parts for name in piece["commits"]][:COMMITS_MAX]
    answers = [_commit(folder, name) for name in dict.fromkeys(names)]
    clean: list[dict[str, Any]] = remove_secrets_in([answer for answer in answers if answer])[0]
    return clean


def _commit(folder: Path, name: str) -> dict[str, Any]:
    output = ask_history(
        folder, ["log", "-1", _FORMAT, "--name-only", name, "--"], ANSWER_S, ANSWER_BYTES_MAX
    )
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
