"""A clone of Cortex with two commits of the files that a build reads."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: the paths that a build reads
SOURCES = (
    "cortex",
    "workers",
    "ipc",
    "scripts/packaging/commit_hook.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)


def git(folder, *words):
    """Return the output of a git command in `folder`."""
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.check_output(("git", "-C", folder, *settings, *words), text=True).strip()


def make_clone(folder, *patterns):
    """Make a repository in `folder` from the files of this one, without those of these patterns."""
    ignored = shutil.ignore_patterns("__pycache__", *patterns)
    for name in SOURCES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=ignored)
        else:
            shutil.copy(ROOT / name, target)
    git(folder.parent, "init", "-q", folder.name)
    for message in ("one", "two"):
        commit_change(folder, message)
    return folder


def commit_change(folder, message):
    """Commit one more change."""
    (folder / "CHANGELOG.md").write_text(message)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
