"""Git's answers about the commits of a folder's own repository."""

from collections.abc import Sequence
from pathlib import Path

from cortex.settings.folders.identity import is_own_history
from cortex.system import git


def ask_history(
    root: Path, command: Sequence[str], answer_s: float, bytes_max: int = git.ANSWER_BYTES_MAX
) -> bytes:
    """As `git.ask`; empty also if the commits are of another repository, to which `.git` leads."""
    return git.ask(root, command, answer_s, bytes_max) if is_own_history(root) else b""
