"""Training sources, read from git folders: the list of repositories, licences, files and commits.

No file is checked out and no program of a repository runs. Every amount is bounded by a count,
never by time, so that two runs over the same revisions read the same.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: endings of the file names to read, by language
LANGUAGES = {
    "bash": ["sh", "bash", "zsh"],
    "c": ["c", "h"],
    "cpp": ["cc", "cpp", "cxx", "hpp", "hh", "hxx"],
    "csharp": ["cs"],
    "elixir": ["ex", "exs"],
    "go": ["go"],
    "haskell": ["hs"],
    "java": ["java"],
    "javascript": ["js", "jsx", "mjs", "cjs"],
    "kotlin": ["kt"],
    "lua": ["lua"],
    "php": ["php"],
    "python": ["py"],
    "ruby": ["rb"],
    "rust": ["rs"],
    "scala": ["scala"],
    "swift": ["swift"],
    "typescript": ["ts", "tsx"],
    "zig": ["zig"],
}
LANGUAGE_OF = {ending: language for language, endings in LANGUAGES.items() for ending in endings}

#: folders and files that hold tests, copies of other projects, or generated code
REFUSED_PATH = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testdata|fixtures?|vendor|vendored|third_party|thirdparty|node_modules|deps|dist|"
    r"external|extern|locales?|i18n|generated|snapshots?)/|"
    r"[._-](test|spec)s?\.\w+$|(^|/)test_|Tests?\.\w+$|\.min\.js$|\.pb\.|_pb2|\.d\.ts$|_generated|\.g\.",
    re.IGNORECASE,
)
#: bytes of the smallest and largest file that is read
FILE_BYTES = (200, 80_000)
#: files to read of a repository
FILES_MAX = 300
#: commits to read of a repository, newest first, and bytes of their text
COMMITS_MAX, LOG_BYTES_MAX = 900, 40_000_000

#: accepted licences, each with words of its text; the first match names the licence
LICENCES = (
    ("refused", ("gnu general public", "gnu lesser general", "gnu affero", "mozilla public license")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("BSD", ("redistribution and use in source and binary forms", "redistributions")),
    ("Zlib", ("this software is provided 'as-is'", "altered source versions must be plainly marked")),
    ("MIT", ("permission is hereby granted, free of charge", "the above copyright notice")),
    (
        "ISC",
        ("permission to use, copy, modify, and/or distribute this software", "and this permission notice"),
    ),
    ("ISC", ("permission to use, copy, modify, and distribute this software", "and this permission notice")),
    ("0BSD", ("permission to use, copy, modify, and/or distribute this software",)),
)
_LICENCE_FILE = re.compile(
    r"^(mit-)?(licen[cs]e|copying|unlicense)([-._](md|txt|rst|markdown|mit|apache|apache2))?$", re.IGNORECASE
)


@dataclass(frozen=True)
class Source:
    """A line of the list: `name` is owner/name, `revision` a commit, `licence` its identifier."""

    name: str
    revision: str
    licence: str

    def folder(self, clones: Path) -> Path:
        """Return the git folder: `<clones>/<owner>+<name>/repo`, or `<clones>/<owner>+<name>`."""
        place = clones / self.name.replace("/", "+")
        return place / "repo" if (place / "repo").is_dir() else place


def read_list(path: Path) -> list[Source]:
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [Source(*row) for row in rows]


def read_excluded(path: Path) -> set[str]:
    """Return owner/name, in lower case, of each repository that must not be trained on."""
    return {line.strip().lower() for line in path.read_text().splitlines() if line.strip() and line[0] != "#"}


def git(folder: Path, *arguments: str) -> str:
    """Return the output of a git command that reads. A git folder's own configuration runs no
    helpers.
    """
    done = subprocess.run(
        ["git", "--git-dir", str(folder), *arguments],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.decode("utf-8", "replace")


def find_licence(folder: Path, revision: str) -> str:
    """Return the identifier of the licence in the revision's root, "" if none is accepted.

    A repository that offers several licences in separate files is named after the first accepted
    licence; a copyleft text beside it (as in "MIT and GPL parts") refuses the repository.
    """
    files = sorted(
        n for n in git(folder, "ls-tree", "--name-only", revision).splitlines() if _LICENCE_FILE.match(n)
    )
    licences = [name_licence(git(folder, "show", f"{revision}:{name}")) for name in files]
    if "refused" in licences:
        return ""
    return next((name for name in licences if name), "")


def name_licence(text: str) -> str:
    """Return the identifier of a licence text, "refused" for copyleft, "" for an unknown text."""
    folded = " ".join(text.lower().split()).replace("‘", "'").replace("’", "'")
    # Apache-2.0's appendix and some MIT files mention other licences far below: the head decides on
    # copyleft.
    for name, words in LICENCES:
        place = folded[:2000] if name == "refused" else folded
        if (any if name == "refused" else all)(word in place for word in words):
            return name
    return ""


def list_files(folder: Path, revision: str) -> list[tuple[str, str]]:
    """Return (path, blob) of up to FILES_MAX source files, spread evenly over the sorted paths."""
    rows = []
    for line in git(folder, "ls-tree", "-r", "-l", revision).splitlines():
        details, _, path = line.partition("\t")
        mode, _, blob, size = details.split()
        wanted = PurePosixPath(path).suffix[1:].lower() in LANGUAGE_OF and not REFUSED_PATH.search(path)
        wanted = wanted and mode != "120000" and size.isdigit()  # no links, submodules or missing blobs
        if wanted and FILE_BYTES[0] <= int(size) <= FILE_BYTES[1]:
            rows.append((path, blob))
    rows.sort()
    step = max(1.0, len(rows) / FILES_MAX)
    return [rows[int(at * step)] for at in range(min(len(rows), FILES_MAX))]


def read_blobs(folder: Path, blobs: list[str]) -> Iterator[str]:
    """Yield the text of each blob, in order."""
    done = subprocess.run(
        ["git", "--git-dir", str(folder), "cat-file", "--batch"],
        input="".join(f"{blob}\n" for blob in blobs).encode(),
        check=True,
        capture_output=True,
    )
    at, data = 0, done.stdout
    while at < len(data):
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        yield data[end + 1 : end + 1 + size].decode("utf-8", "replace")
        at = end + size + 2


def read_log(folder: Path, revision: str) -> Iterator[tuple[str, str]]:
    """Yield (subject, patch with 6 lines of context) of up to COMMITS_MAX commits that touch source
    files.
    """
    command = [
        "git", "--git-dir", str(folder), "log", "--no-merges", f"-n{COMMITS_MAX}", "-p", "-U6", "--no-color",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--diff-filter=AM", "--format=%x00%s%x01", revision, "--",
        *(f"*.{ending}" for ending in LANGUAGE_OF),
    ]  # fmt: skip
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as log:
        assert log.stdout
        text = log.stdout.read(LOG_BYTES_MAX).decode("utf-8", "replace")
        log.kill()
    for entry in text.split("\0")[1:-1]:
        subject, _, patch = entry.partition("\1")
        yield subject, patch
