"""The encodings that a project names for its files: `charset` in .editorconfig, and
`working-tree-encoding` or `encoding` in .gitattributes. Reads these files only.
"""

import os
import re
from functools import lru_cache
from typing import NamedTuple

from cortex.system import files
from cortex.terms.selection.ignores import Ignores, read_lines
from cortex.terms.text.encodings import Text, read_text

#: names of the files that name encodings
EDITOR_CONFIG, GIT_ATTRIBUTES = ".editorconfig", ".gitattributes"
ENCODING_FILES = frozenset((EDITOR_CONFIG, GIT_ATTRIBUTES))
#: bytes to read of one of them, sections of it, and characters of a glob
READ_BYTES_MAX, SECTIONS_MAX, GLOB_CHARS_MAX = 1 << 20, 1_000, 1_024
#: folders with kept rules
FOLDERS_KEPT = 4_096

_SECTION = re.compile(r"\s*\[(.+)\]\s*(?:[#;].*)?$")
_SETTING = re.compile(r"\s*([\w-]+)\s*[=:]\s*([^#;\s]*)")
_PATTERN = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|\S+)(.*)')
_TREE = re.compile(rb"\s[-!]?working-tree-encoding(?:=(\S+)|\s|$)")
_SHOWN = re.compile(rb"\s[-!]?encoding(?:=(\S+)|\s|$)")
_PARTS = re.compile(r"\\.|\*\*|\*|\?|\[[!^]?[^\]/]*\]|\{-?\d+\.\.-?\d+\}|[{},]|.", re.DOTALL)


class _Section(NamedTuple):
    """A section of an .editorconfig: the expression of its paths, and its `charset`."""

    expression: str
    charset: str


class Encodings:
    """The encodings that the files of one project get from the files beside and above them, up to
    the root. They are read once: an instance serves one request, or one run.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._sections = lru_cache(FOLDERS_KEPT)(self._read_sections)
        self._attributes = lru_cache(FOLDERS_KEPT)(self._read_attributes)

    def named(self, path: str) -> str:
        """Return the encoding that the project names for the file; "" for none."""
        return self._by_attributes(path) or self._by_editor_config(path)

    def read(self, path: str, raw: bytes) -> Text | None:
        """Return the text of the file `path` with the bytes `raw`; None for a binary file."""
        return read_text(raw, lambda: self.named(path))

    def _by_editor_config(self, path: str) -> str:
        for folder in _folders_of(path):
            is_root, sections = self._sections(folder)
            inside = path[len(folder) + 1 :] if folder else path
            for section in reversed(sections):
                if _matches(section.expression, inside):
                    return "" if section.charset in ("unset", "utf-8", "utf-8-bom") else section.charset
            if is_root:
                return ""
        return ""

    def _by_attributes(self, path: str) -> str:
        for at in (0, 1):
            for folder in _folders_of(path):
                rules, values = self._attributes(folder)[at]
                if (match := rules.last(path[len(folder) + 1 :] if folder else path)) is not None:
                    if values[match.line - 1]:
                        return values[match.line - 1]
                    break
        return ""

    def _read_sections(self, folder: str) -> tuple[bool, tuple[_Section, ...]]:
        """Return whether the .editorconfig of a folder is the topmost, and its sections."""
        is_root, expression = False, ""
        sections: list[_Section] = []
        for line in self._read(folder, EDITOR_CONFIG).decode("utf-8", "replace").splitlines()[:100_000]:
            if match := _SECTION.match(line):
                expression = _expression(match[1]) if len(sections) < SECTIONS_MAX else ""
            elif match := _SETTING.match(line):
                key, value = match[1].lower(), match[2].lower()
                if key == "root" and not expression:
                    is_root = value == "true"
                elif key == "charset" and expression:
                    sections.append(_Section(expression, value))
        return is_root, tuple(sections)

    def _read_attributes(self, folder: str) -> tuple[tuple[Ignores, list[str]], tuple[Ignores, list[str]]]:
        """Return for both attributes the globs of a .gitattributes and the value of each; "" where
        a line takes the attribute away.
        """
        raw = self._read(folder, GIT_ATTRIBUTES)
        by_tree, shown = _parse_attributes(raw, _TREE), _parse_attributes(raw, _SHOWN)
        return by_tree, shown

    def _read(self, folder: str, name: str) -> bytes:
        try:
            return files.read_plain(os.path.join(self._root, folder, name), READ_BYTES_MAX)
        except OSError:
            return b""


def _folders_of(path: str) -> list[str]:
    """Return the folders above a file, the deepest first; the root is ""."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _parse_attributes(raw: bytes, attribute: re.Pattern[bytes]) -> tuple[Ignores, list[str]]:
    globs, values = [], []
    for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.lstrip().startswith((b"#", b"[", b"!")) or not (match := _PATTERN.match(line)):
            continue
        if setting := attribute.search(match[2]):
            glob = match[1]
            if glob.startswith(b'"'):
                glob = re.sub(rb"\\(.)", rb"\1", glob[1:-1]).replace(b" ", b"\\ ")
            globs.append(glob)
            values.append((setting[1] or b"").decode("ascii", "replace"))
    return read_lines(b"\n".join(globs)), values


def _expression(glob: str) -> str:
    """Return a section's glob as an expression of paths below its folder; "" if invalid."""
    if len(glob) > GLOB_CHARS_MAX:
        return ""
    depth, parts = 0, []
    closed = glob.count("{") == glob.count("}")
    for part in _PARTS.findall(glob.removeprefix("/")):
        if part == "**":
            parts.append(".*")
        elif part in ("*", "?"):
            parts.append("[^/]*" if part == "*" else "[^/]")
        elif part[0] == "[" and len(part) > 2:
            inside = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]")
        elif part[0] == "{" and len(part) > 1:
            parts.append(r"-?\d+")
        elif closed and part == "{":
            depth += 1
            parts.append("(?:")
        elif closed and part == "}" and depth:
            depth -= 1
            parts.append(")")
        elif part == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(part[1:] if part[0] == "\\" and len(part) > 1 else part))
    anywhere = "" if "/" in glob else "(?:.*/)?"
    return f"{anywhere}{''.join(parts)}{')' * depth}"


def _matches(expression: str, path: str) -> bool:
    import re2  # linear time: the glob comes from the project; slow to import

    try:
        return re2.fullmatch(expression, path) is not None
    except re2.error:
        return False
