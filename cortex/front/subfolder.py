"""A folder that is served from the index of the project around it: what is asked in its paths is
asked in the project's, and what the project answers is told in those of the folder.

What lies outside of it is told as `../…`, and can be asked for so: who wants to delete something
has to see who uses it from there.
"""

from __future__ import annotations

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
from cortex.terms.spelling import read_globs, read_list

#: asks the same of the whole project
Ask = Callable[[], Awaitable[dict[str, Any]]]

#: arguments that are one path, place or name; that are several; that are globs
_NAMES = frozenset(("file", "file_path", "path", "target", "to"))
_LISTS = frozenset(("files", "anchors", "files_read", "files_modified", "tags"))
_GLOBS = frozenset(("paths", "exclude_paths", "exclude_patterns", "scope"))
#: fields of an answer that are a path, or a path and a line, and nothing else
_PATHS = frozenset(("file", "file_path", "path", "at", "defined", "from", "files", "pending", "more"))
#: fields of an answer that Cortex fills with places: paths, ids of symbols, names before a place.
#: All others may quote a file (`text`, `comment_text`, `doc`, `variables`): they stay unchanged
_PLACES = _PATHS | frozenset(
    (
        "calls", "callers", "candidates", "candidates_of", "defines", "id", "moved", "not_indexed", "symbol",
        "target", "tests", "twins", "via",
    )
)  # fmt: skip
#: fields of an answer that are a sentence of Cortex, which may name places
_SENTENCES = frozenset(("message", "next", "note", "suggestion", "why"))
#: what an answer of memory says of places
_OF_NOTES = _PATHS | {"anchors", "changed", "gone", "moved", "files_read", "files_modified"}
#: a word of a sentence: what stands between spaces, quotes, commas and brackets
_WORD = re.compile(r"[^\s\"'`,;()\[\]{}]+")
#: what gitignore gives a meaning; the ways out of the folder that a glob begins with
_SPECIAL, _UPWARD = re.compile(r"([\\*?\[\]!#{}])"), re.compile(r"(?:\.\./)+|\.\.$")


@dataclass(frozen=True)
class Subfolder:
    """The folder `folder` (relative, with `/`) of the project in `root`, for one call."""

    folder: str
    root: str
    freshness: Freshness

    @classmethod
    def of(cls, context: QueryContext) -> Self | None:
        """None where all of the project is asked about."""
        config = context.config
        return cls(config.subfolder, str(config.root), context.freshness) if config.subfolder else None

    async def suggest_elsewhere(
        self, answer: dict[str, Any], ask: Ask, left_s: float, *, explained: bool
    ) -> dict[str, Any]:
        """An answer; one that has found nothing here says whether there is something elsewhere in
        the project. `ask` asks all of it; `explained`: why nothing is here has been said.
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
        """The arguments of a tool, as they are written from here, as the project has them.
        `of_notes`: its tags are people's own words, and a `file` is one that is read or written.
        """
        places = _NAMES | {"query"} if tool == "cortex_explore" else _NAMES
        meant = _LISTS - {"tags"} if of_notes else arguments.keys()
        return {
            name: self._argument(name, value, places) if name in meant else value
            for name, value in arguments.items()
        }

    def to_folder(self, answer: Mapping[str, Any], *, of_notes: bool = False) -> dict[str, Any]:
        """An answer of the project in the paths from here; `of_notes`: all else in it is people's
        own words.
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
        """What names a file, a folder or a definition that is here, or begins with `../`; any other
        text as it is: names mean what is here first (`GraphSearch.within`).
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
        if argument == "tags":  # a folder's name is a tag by itself
            return False
        if "/" in path or mark == ":":
            return full_path in self._stems or ("/" in path and self.freshness.is_there(full_path))
        return argument == "path" and self.freshness.is_there(full_path)

    def _project_globs(self, glob: str) -> tuple[str, ...]:
        bare = glob.strip().strip("\"'`")
        mark, bare = ("!", bare[1:]) if bare.startswith("!") else ("", bare)
        if f"{bare.removeprefix('file://')}/".startswith(f"{self.root}/"):
            return (glob,)  # as it is written, of the whole project
        globs = read_globs(bare, "") or (("**",) if bare else ())
        return tuple(f"{mark}{self._project_glob(pattern)}" for pattern in globs)

    def _project_glob(self, glob: str) -> str:
        """A glob that is written from here, as the project has it."""
        upward = _UPWARD.match(glob)
        folder = posixpath.normpath(posixpath.join(self.folder, upward[0] if upward else ""))
        if _is_above(folder):
            return glob  # which means nothing
        tail = glob[upward.end() :] if upward else glob.lstrip("/")
        tail = "**" if tail in ("", "*", "**", "**/*") else tail
        if folder == ".":
            base, tail = "", "**/*" if tail == "**" else tail  # lest it is read as no filter
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
            fields = self._convert_keys(value) if key == "notes" else value
            return {name: self._convert_value(element, name) for name, element in fields.items()}
        return value

    def _rendered(self, text: str, key: str) -> str:
        """The value of one field: only places are rewritten, never the text of a file."""
        if key == "title":  # a path, and a symbol or a heading of the file
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

    def _convert_keys(self, places: Mapping[str, Any]) -> dict[str, Any]:
        return {self._convert_text(path, "path"): entry for path, entry in places.items()}

    @cached_property
    def _listed(self) -> Collection[str]:
        return self.freshness.listed()

    @cached_property
    def _stems(self) -> Collection[str]:
        return self.freshness.stems()

    def _convert_text(self, text: str, key: str) -> str:
        """A path, or a sentence with paths in it, from here."""
        converted = self._convert_word(text, key)
        if converted != text or not text:
            return converted
        return _WORD.sub(lambda word: self._convert_word(word[0], key), text)

    def _convert_word(self, word: str, key: str) -> str:
        """A path of the project, or what begins with one, from here; another word as it is."""
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
    """Whether a path, from the root, leads out of the project."""
    return path == ".." or path.startswith("../")


def _split_place(text: str) -> tuple[str, str, str]:
    """A path, what is between it and the rest, and that: a line, or a name in the file."""
    at = next((at for at, letter in enumerate(text) if letter in ":#"), len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]
