"""A person's consent that sessions from before memory was first used in their project are read. A
file in memory's folder, which `cortex install` and `cortex memory past-sessions` write.
"""

from pathlib import Path

from cortex.system import files

#: name of the file, and its contents
FILE, YES, NO = "past-sessions", "yes", "no"


def consent(folder: Path) -> str:
    """The answer that a person gave: YES, NO, or "" for none."""
    try:
        word = files.read_plain(folder / FILE, 8).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return word if word in (YES, NO) else ""


def give(folder: Path, word: str) -> None:
    """Store the answer. Raises OSError."""
    files.make_private(folder)
    files.replace(folder / FILE, f"{word}\n".encode())
