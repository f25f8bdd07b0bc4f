"""Translation of paths for a folder that the index of the project around it serves.

Arguments have paths relative to the folder and become relative to the project; answers are
translated back. Files outside of the folder are `../…` both ways: a search for uses before a
deletion must show those outside as well.
"""

import json
import posixpath
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import orjson

from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.front.empty_answers import LEFT_S, count_of
from cortex.system.errors import CortexError
from cortex.terms.text.spelling import read_globs, read_list, read_pattern

#: repeats the call for the whole project
Ask = Callable[[], Awaitable[dict[str, Any]]]

#: arguments that are one path, place or name; that are lists of them; that are globs
_NAMES = frozenset(("file", "file_path", "path", "symbol", "target", "to"))
_LISTS = frozenset(("files", "anchors", "files_read", "files_modified", "places", "tags"))
_GLOBS = frozenset(("paths", "exclude_paths", "exclude_patterns", "scope"))
#: fields of an answer with a path or a path and a line alone
_PATHS = frozenset(("file", "file_path", "path", "at", "defined", "from", "files", "pending", "more"))
#: fields of an answer that Cortex fills with places: paths, ids of symbols, names before a place.
#: All others may quote a file (`text`, `comment_text`, `doc`, `variables`): they stay unchanged
_PLACES = _PATHS | frozenset(
    (
        "calls", "callers", "candidates", "candidates_of", "defines", "id", "moved", "not_indexed", "places",
        "symbol", "target", "tests", "twins", "via",
    )
)  # fmt: skip
#: fields of an answer with a sentence of Cortex, which may name places
_SENTENCES = frozenset(("message", "next", "note", "notes", "suggestion", "why"))
#: fields of an answer of memory with places
_OF_NOTES = _PATHS | {"anchors", "changed", "gone", "moved", "files_read", "files_modified"}
#: a word of a sentence: spaces, quotes, commas and brackets end it
_WORD = re.compile(r"[^\s\"'`,;()\[\]{}]+")
#: characters with a meaning in gitignore patterns; leading `../` of a glob
_SPECIAL, _UPWARD = re.compile(r"([\\*?\[\]!#{}])"), re.compile(r"(?:\.\./)+|\.\.$")


@dataclass(frozen=True)
class Subfolder:
    """The folder `folder` (relative, with `/`) of the project in `root`, for one call."""

    folder: str
    root: str
    freshness: Freshness

    @classmethod
    def of(cls, context: QueryContext) -> Self | None:
        """Return the subfolder that `context` is limited to; None for the whole project."""
        config = context.config
        return cls(config.subfolder, str(config.root), context.freshness) if config.subfolder else None

    async def suggest_elsewhere(
        self, answer: dict[str, Any], ask: Ask, left_s: float, *, explained: bool
    ) -> dict[str, Any]:
        """Return `answer`; an empty one with a "suggestion" that counts hits elsewhere.

        `ask` repeats the call for the whole project. `explained`: the answer already says why it is
        empty, and keeps its suggestion if there are no hits elsewhere.
        """
        if count_of(answer) != 0 or not answer["index"]["generation"] or left_s < LEFT_S:
            return answer
        try:
            project_answer = await ask()
        except CortexError:
            return answer
        if count := count_of(project_answer):
            upward = "../" * (self.folder.count("/") + 1)
            suggestion = f'Nothing in this folder; elsewhere in the project there would be {count}: paths ["{upward}**"].'
        elif explained:
            return answer
        else:
            suggestion = str(project_answer.get("suggestion", ""))
        return answer | {"suggestion": suggestion}

    def to_project(
        self, tool: str, arguments: Mapping[str, Any], *, of_notes: bool = False
    ) -> dict[str, Any]:
        """Return a tool's arguments with paths relative to the project.

        `of_notes`: a tool of memory. Its tags are free words, and `file` is a file to import or
        export: both stay.
        """
        places = _NAMES | {"query"} if tool == "cortex_explore" else _NAMES
        meant = _LISTS - {"tags"} if of_notes else arguments.keys()
        return {
            name: self._argument(name, value, places) if name in meant else value
            for name, value in arguments.items()
        }

    def to_folder(self, answer: Mapping[str, Any], *, of_notes: bool = False) -> dict[str, Any]:
        """Return an answer with paths relative to the folder. `of_notes`: only the fields with
        places are translated, for all others are free text.
        """
        plain = orjson.loads(orjson.dumps(answer))
        converted: dict[str, Any] = (
            self._convert_notes(plain, "") if of_notes else self._convert_value(plain, "")
        )
        return converted

    def _argument(self, name: str, value: Any, places: frozenset[str]) -> Any:
        if name == "path" and value == "":
            return self.folder
        if not value:
            return value
        if isinstance(value, str):
            if name in _GLOBS:
                return json.dumps(
                    [glob for element in read_list(value) for glob in self._project_globs(str(element))]
                )
            if name in _LISTS:
                return ",".join(self._project_name(element.strip(), name) for element in value.split(","))
            return self._project_name(value, name) if name in places else value
        if isinstance(value, tuple) and name in _GLOBS:
            return tuple(glob for element in value for glob in self._project_globs(element))
        if isinstance(value, tuple) and name in _LISTS:
            return tuple(self._project_name(element, name) for element in value)
        return value

    def _project_name(self, text: str, argument: str) -> str:
        """Translate the name of a file, folder or definition in this folder, or with `../`.

        Any other text stays: the graph looks up names in this folder first (`GraphSearch.within`).
        """
        bare = text.strip().strip("\"'`")
        if not bare or bare.startswith("/") or not bare.isprintable() or " " in bare:
            return text
        path, mark, tail = _split_place(bare)
        full_path = posixpath.normpath(posixpath.join(self.folder, path))
        if _is_above(full_path):
            return text
        outward = _UPWARD.match(path) is not None
        if outward or path in (".", "./") or self._is_here(full_path, path, mark, argument):
            return f"{'' if full_path == '.' else full_path}{mark}{tail}"
        return text

    def _is_here(self, full_path: str, path: str, mark: str, argument: str) -> bool:
        if full_path in self._listed:
            return True
        if argument == "tags":  # the name of a folder is already a tag
            return False
        if "/" in path or mark == ":":
            return full_path in self._stems or ("/" in path and self.freshness.is_there(full_path))
        return argument in ("path", "places") and self.freshness.is_there(full_path)

    def _project_globs(self, glob: str) -> tuple[str, ...]:
        bare = glob.strip().strip("\"'`")
        mark, bare = ("!", bare[1:]) if bare.startswith("!") else ("", bare)
        if f"{bare.removeprefix('file://')}/".startswith(f"{self.root}/"):
            return (glob,)  # absolute: already a glob of the whole project
        globs = read_globs(bare, "") or (("**",) if bare else ())
        if f"{self.folder}/{bare.lstrip('/')}" not in self._listed:
            globs = tuple(reading for pattern in globs for reading in read_pattern(pattern))
        return tuple(f"{mark}{self._project_glob(pattern)}" for pattern in globs)

    def _project_glob(self, glob: str) -> str:
        upward = _UPWARD.match(glob)
        folder = posixpath.normpath(posixpath.join(self.folder, upward[0] if upward else ""))
        if _is_above(folder):
            return glob  # leads out of the project, and matches no file
        tail = glob[upward.end() :] if upward else glob.lstrip("/")
        tail = "**" if tail in ("", "*", "**", "**/*") else tail
        if folder == ".":
            base, tail = "", "**/*" if tail == "**" else tail  # "**" alone would mean no filter
        else:
            base = "/" + _SPECIAL.sub(r"\\\1", folder)
        is_name = "/" not in tail.rstrip("/") and tail != "**" and not glob.startswith("/")
        return f"{base}/{'**/' if is_name else ''}{tail}"

    def _convert_value(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self._rendered(value, key)
        if isinstance(value, list):
            return [self._convert_value(element, key) for element in value]
        if isinstance(value, dict) and value.get("source") == "memory":
            return self._convert_notes(value, key)
        if isinstance(value, dict):
            if key == "notes":
                value = {self._convert_text(path, "path"): entry for path, entry in value.items()}
            return {name: self._convert_value(element, name) for name, element in value.items()}
        return value

    def _rendered(self, text: str, key: str) -> str:
        """Return the value of one field: only places are translated, never the text of a file."""
        if key == "title":  # a path, then a symbol or a heading of the file
            path, space, name = text.partition(" ")
            return f"{self._convert_word(path, 'path')}{space}{name}"
        return self._convert_text(text, key) if key in _PLACES or key in _SENTENCES else text

    def _convert_notes(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self._convert_text(value, key) if key in _OF_NOTES else value
        if isinstance(value, list):
            return [self._convert_notes(element, key) for element in value]
        if isinstance(value, dict):
            return {name: self._convert_notes(element, name) for name, element in value.items()}
        return value

    @cached_property
    def _listed(self) -> Collection[str]:
        return self.freshness.listed()

    @cached_property
    def _stems(self) -> Collection[str]:
        return self.freshness.stems()

    def _convert_text(self, text: str, key: str) -> str:
        """Translate a path, or the paths in a sentence."""
        converted = self._convert_word(text, key)
        if converted != text or not text:
            return converted
        return _WORD.sub(lambda word: self._convert_word(word[0], key), text)

    def _convert_word(self, word: str, key: str) -> str:
        """Translate a path, or a place that begins with a path; any other word stays."""
        bare = word.rstrip(".") or word
        path, mark, tail = _split_place(bare)
        if path.startswith(f"{self.folder}/"):
            path = path.removeprefix(f"{self.folder}/")
        elif path == self.folder and (key in _PATHS or "/" in path) and not mark:
            path = "."
        elif self._is_elsewhere(path, mark, key):
            path = posixpath.relpath(f"/{path}", f"/{self.folder}")
        return f"{path}{mark}{tail}{word[len(bare) :]}"

    def _is_elsewhere(self, path: str, mark: str, key: str) -> bool:
        if ("/" in path or "." in path or key in _PATHS) and path in self._listed:
            return True
        return ("/" in path or mark == ":") and path in self._stems


def _is_above(path: str) -> bool:
    """Whether a path relative to the root leads out of the project."""
    return path == ".." or path.startswith("../")


def _split_place(text: str) -> tuple[str, str, str]:
    """Split a place into path, separator (":" or "#", or "") and tail: a line or a name."""
    at = next((at for at, letter in enumerate(text) if letter in ":#"), len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]
