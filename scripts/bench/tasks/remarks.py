"""Questions from files that hold no code of the project: a comment or a heading asks for its file.

Its line is blank in the copy that is searched. Pure but for `read`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cortex.terms.languages import language_of
from cortex.terms.paths import is_foreign, is_record, is_test

#: words of a remark that becomes a question, and of a heading, which is shorter
WORDS, HEADING_WORDS = range(5, 21), range(3, 21)
#: questions about one file, and about one kind in a repository
FILE_MAX, KIND_MAX = 2, 10
#: letters that identify a remark: a text of several files asks for none of them
COPIED = 24

#: names of files that build, check, pack and release a project
_BUILD = re.compile(
    r"^(?:[Mm]akefile|GNUmakefile|CMakeLists\.txt|Dockerfile.*|Containerfile|Jenkinsfile|Rakefile|Gemfile|Procfile|Podfile"
    r"|BUILD|WORKSPACE|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|build\.(?:zig|rs|sbt|xml)|pom\.xml|mix\.exs|Package\.swift"
    r"|(?:pyproject|Cargo)\.toml|requirements.*\.txt|.*\.(?:gradle|gradle\.kts|mk|cmake|gemspec|cabal|csproj|props)"
    r"|(?:rollup|webpack|vite|gulpfile|gruntfile)[\w.]*\.[cm]?[jt]s)$",
    re.IGNORECASE,
)
_BUILD_FOLDERS = (".github/workflows/", ".ci/", ".circleci/", "ci/", "build/")
_CONFIGURATION = re.compile(
    r"^\..+rc(?:\.\w+)?$|^\.\w[\w-]+$|\.(?:conf|config\.\w+|ini|cfg|toml|ya?ml|properties|xml\.dist)$"
)

_REMARK = re.compile(r"^\s*(?:#+|//+!?|;+|--+|\*|dnl|\"\"\")\s+(\w.*?)\s*(?:\"\"\"|\*/)?$")
_WORD = re.compile(r"[^\W_][\w'-]*")
#: text that describes nothing: code that was commented out, marks, licences
_REFUSED = re.compile(
    r"[{}<>=$|@\\\[\]]|https?:|;$|\w\(|^[-*#]|\b(?:todo|fixme|noqa|copyright|licen[cs]ed?|spdx|warrant\w+|distributed)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Remark:
    """A question for `path`; its `line` must be blank."""

    kind: str
    query: str
    path: str
    line: int


def kind_of(path: str) -> str:
    """Return the purpose of a file: "build", "configuration", "tests", "documents"; "" for code."""
    name, language = path.rpartition("/")[2], language_of(path)
    if is_foreign(path) or is_record(path):
        return ""
    if is_test(path):
        return "tests" if language.kind == "code" and language.grammar else ""
    if _BUILD.search(name) or path.startswith(_BUILD_FOLDERS):
        return "build"
    if language.kind == "document":
        return "documents"
    return "configuration" if _CONFIGURATION.search(name) else ""


def remarks_of(path: str, text: str) -> list[Remark]:
    """Return the lines of a file that could be questions; of a comment only the first line."""
    kind = kind_of(path)
    words = HEADING_WORDS if kind == "documents" else WORDS
    remarks, before = [], False
    for number, line in enumerate(text.split("\n"), 1):
        match = _REMARK.match(line) if kind else None
        if kind == "documents" and not line.startswith("#"):
            match = None
        sentence = match[1].rstrip(".:!").replace("`", "") if match and not before else ""
        before = match is not None
        if (
            sentence
            and sentence.isascii()
            and not _REFUSED.search(sentence)
            and len(_WORD.findall(sentence)) in words
        ):
            remarks.append(Remark(kind, sentence, path, number))
    return remarks


def read(root: Path) -> dict[str, str]:
    """Return path → text of the files below `root` that questions may ask for."""
    texts = {}
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if kind_of(path) and file.is_file() and not file.is_symlink():
            try:
                texts[path] = file.read_text("utf-8")
            except UnicodeDecodeError:
                continue
    return texts


def choose(texts: Mapping[str, str]) -> list[Remark]:
    """Choose FILE_MAX of each file and KIND_MAX of each kind: evenly, and always the same.

    A text of two files asks for neither.
    """
    candidates = [remark for path, text in texts.items() for remark in remarks_of(path, text)]
    begin_counts = Counter(begin_of(remark.query) for remark in candidates)
    order = sorted(candidates, key=lambda remark: sha256(f"{remark.path}\0{remark.query}".encode()).digest())
    of_file: Counter[str] = Counter()
    remarks_by_kind: dict[str, list[Remark]] = defaultdict(list)
    for remark in order:
        kind_remarks = remarks_by_kind[remark.kind]
        alone = begin_counts[begin_of(remark.query)] == 1
        if alone and of_file[remark.path] < FILE_MAX and len(kind_remarks) < KIND_MAX:
            of_file[remark.path] += 1
            kind_remarks.append(remark)
    return [remark for kind in sorted(remarks_by_kind) for remark in remarks_by_kind[kind]]


def begin_of(query: str) -> str:
    return query[:COPIED].lower()


def blank_lines(text: str, lines: Iterable[int]) -> str:
    """Return a text with empty `lines`; all other lines keep their numbers."""
    parts = text.split("\n")
    for line in lines:
        parts[line - 1] = ""
    return "\n".join(parts)
