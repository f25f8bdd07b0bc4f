"""Repositories at a revision: finds a mirror, and writes the files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tasks.records import Repository

#: seconds for a git command
GIT_S = 300


def mirror_of(repos: Path, repository: Repository) -> Path | None:
    """Return the folder with its history; None if it, or the revision, is missing."""
    owner_name = repository.owner_name
    for path in (
        f"{owner_name.replace('/', '+')}/repo",
        repository.name,
        f"{repository.name}.git",
        owner_name,
    ):
        folder = repos / path
        done = subprocess.run(
            ["git", "-C", folder, "cat-file", "-e", f"{repository.revision}^{{commit}}"],
            check=False,
            capture_output=True,
            timeout=GIT_S,
        )
        if done.returncode == 0:
            return folder
    return None


def check_out(mirror: Path, repository: Repository, folder: Path) -> Path:
    """Write the repository's files at its revision, once; return the folder.

    Files whose objects the mirror lacks are left out.
    """
    if folder.exists():
        return folder
    making = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    git = ["git", "--git-dir", _git_dir(mirror), "--work-tree", making, "-c", "core.bare=false"]
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as scratch:
        environment = os.environ | {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        for arguments in (["read-tree", repository.revision], ["checkout-index", "--all", "--force"]):
            subprocess.run(
                [*git, *arguments], check=False, capture_output=True, timeout=GIT_S, env=environment
            )
    if not any(making.iterdir()):
        raise SystemExit(f"{repository.name}: nothing could be checked out of {mirror}")
    making.rename(folder)
    return folder


def _git_dir(mirror: Path) -> Path:
    return mirror / ".git" if (mirror / ".git").exists() else mirror
