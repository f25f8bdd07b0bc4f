"""Readings of a path, a glob, a tag, a place or a symbol as people and models write them.

Pure and without an index: the callers that have the names decide which reading exists.
"""

import difflib
import json
import posixpath
import re
import unicodedata
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass

from cortex.terms.code import mangled_names
from cortex.terms.ids import stem_of
from cortex.terms.languages import expand_language

#: nearest paths of an unknown one, and how alike their names are: the second only if the first has
#: none
NEAREST_MAX, _CUTOFFS = 3, (0.75, 0.5)
#: longest name that gets other readings, in characters; longer ones are pasted texts
NAME_CHARS_MAX = 2_000
#: readings of one name
READINGS_MAX = 12
#: largest number of globs that the braces of one glob expand to
GLOBS_MAX = 32

#: synonymous tags: the folder `tests` gives one, test files the other
_SAME_TAGS = ({"test", "tests"},)

_PLACE = re.compile(
    r"^(?P<path>.*?[^:/\\]):(?P<line>\d{1,9})(?::\d{1,9}|-(?P<last>\d{1,9}))?:?$"
    r"|^(?P<hash>.*?)#L(?P<at>\d{1,9})(?:C\d{1,9})?(?:-L?(?P<to>\d{1,9})(?:C\d{1,9})?)?\b.*$"
)
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
#: a backslash between folders, not before a character that .gitignore escapes
_SEPARATOR = re.compile(r"\\(?=[\w.*@-])")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_GENERIC = re.compile(r"<[^<>]*>")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_POINTER = re.compile(r"(?:^|(?<=[./]))\(\s*[*&]?\s*([\w.]+)\s*\)(?=\.)")
_GO_METHOD = re.compile(r"^func\s*\(\s*(?:\w+\s+)?\*?\s*(?P<type>\w+)[^)]*\)\s*(?P<name>\w+)")
_RUST_AS = re.compile(r"<\s*(?:impl\s+.+?\s+for\s+(?P<for>[^<>]+)|(?P<self>[^<>]+?)\s+as\s+.+)>(?=::)")
_OBJECTIVE_C = re.compile(r"^[+-]?\s*\[\s*(\w+)(?:\([^)]*\))?\s+([\w:]+)\s*\]$")
_REPR = re.compile(r"^<(?:bound method|function|class|module|unbound method)\s+'?([\w.<>]+)'?.*>$")
_DEFINES = re.compile(
    r"^(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|abstract|final|async|override|"
    r"virtual|inline|const|unsafe|extern|suspend|open|sealed|data|partial|readonly|await|new|return|yield)\s+)*"
    r"(?:func|fn|fun|def|defp|defmodule|function\*?|class|struct|interface|trait|enum|type|object|module|namespace|"
    r"protocol|impl|record|mixin|let|var|val|macro)\s+(?P<name>[^\s({:=;]+)"
)
_ARITY = re.compile(r"/\d{1,3}$")
#: parts of a name that belong to no definition
_EMPTY_PARTS = re.compile(
    r"\.(?:prototype|Companion|__proto__|<locals>|<anonymous>|<lambda>|<listcomp>|<dictcomp>|<setcomp>|<genexpr>)(?=\.|$)"
    r"|\.func\d+(?:\.\d+)*$|::\{\{?closure\}?\}(?:#\d+)?|::h[0-9a-f]{16}$|\$\d+(?=\.|$)"
)
_OWNERS = re.compile(
    r"^(?:self|this|cls|super\(\)|super|crate|\$this|@self|Self|&self|base|me)(?=\.|::|->|\?\.)[.:>?-]+"
)
_JOINTS = re.compile(r"->|\?\.|!\.|::|[#$;]")
_BACKTICKS = re.compile(r"`([^`\n]+)`")
#: a sign that several words are code: `void Store::save(int)`, `class Store`
_CODE = re.compile(rf"[(\[{{;=*&@#]|::|->|\w\.\w|{_DEFINES.pattern[1:]}")
_NAME = re.compile(r"[^\W\d][\w!?=~-]*")


@dataclass(frozen=True, slots=True)
class FileLines:
    """A path with a first and a last line; 0 for none."""

    path: str
    line: int = 0
    last: int = 0

    @property
    def lines(self) -> range:
        return range(self.line, max(self.line, self.last) + 1) if self.line else range(0)


def read_file_lines(text: str) -> FileLines:
    r"""Return the path with forward slashes and the lines of `src/a.py:12:3`, `src\a.py#L12`,
    `a.py:12-20` or `./a.py`.
    """
    text = _unquoted(text)
    match = _PLACE.match(text)
    if match is None:
        return FileLines(_normal_path(text))
    line, last = int(match["line"] or match["at"]), int(match["last"] or match["to"] or 0)
    if last:
        line, last = min(line, last), max(line, last)
    return FileLines(_normal_path(match["path"] if match["path"] is not None else match["hash"]), line, last)


def path_below(path: str, root: str) -> str:
    """Return a path relative to the folder `root`, as the index names it: without `./`; `.` is "".

    A path outside returns without its drive and scheme, as it may still end like an indexed path.
    """
    path = uri_path(path)
    slashed = path.replace("\\", "/") if _DRIVE.match(path) or "/" not in path else path
    top = root.replace("\\", "/").rstrip("/")
    if top and is_below(slashed, top):
        slashed = slashed[len(top) + 1 :]
    normal = posixpath.normpath(slashed) if slashed.strip() else "."
    return "" if normal == "." else normal


def means_file(path: str, indexed: str) -> bool:
    """Whether a path in any case means the indexed file: as it is, as its end, or as an absolute
    path with the whole indexed path at its end.
    """
    parts, indexed_parts = _path_parts(path), _path_parts(indexed)
    if not parts or parts[-1] != indexed_parts[-1]:
        return False
    if len(parts) <= len(indexed_parts):
        return parts == indexed_parts[-len(parts) :]
    return path.startswith("/") and len(indexed_parts) > 1 and parts[-len(indexed_parts) :] == indexed_parts


def _path_parts(path: str) -> list[str]:
    folded = fold_path(posixpath.normpath(path) if "/../" in path else path)
    return [component for component in folded.split("/") if component not in ("", ".")]


def fold_path(path: str) -> str:
    """Return a path or name in lower case, with each letter and its marks as one character, and
    without the dot of a capital I.
    """
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).replace("\u0130", "I").lower())


def read_quoted(text: str) -> tuple[str, bool]:
    """Return a name without the backticks around its parts, as Kotlin and Scala write them, and
    whether it needs them: it has spaces, and is no piece of code. ("", False) without backticks.
    """
    parts = _BACKTICKS.findall(text)
    unquoted = _BACKTICKS.sub(lambda match: match[1], text).strip().removesuffix("()")
    needs = any(" " in name.strip() and not _CODE.search(name) for name in parts)
    return (unquoted, needs) if parts else ("", False)


def spellings(text: str) -> tuple[str, ...]:
    """Return the text as it is, and with its marked letters as one character or as two where that
    differs: some systems and editors write them decomposed.
    """
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD")))))


def read_globs(text: str, root: str) -> tuple[str, ...]:
    """Return globs as in .gitignore from a glob or a path in any spelling; none for the whole
    project.

    Braces and backslashes stay, for they may be part of a name; `read_pattern` reads them.
    """
    glob = _unquoted(text)
    if not glob:
        return ()
    if match := _PLACE.match(glob):
        glob = (match["path"] if match["path"] is not None else match["hash"]) or glob
    glob = uri_path(glob)
    top = root.replace("\\", "/").rstrip("/")
    if _DRIVE.match(glob):
        glob = glob.replace("\\", "/")
    if top and (is_below(glob, top) or glob.startswith(f"{top}\\")):
        glob = f"/{glob[len(top) + 1 :]}"  # a leading slash means the root
    if "/../" in glob:
        glob = posixpath.normpath(glob)
    while glob.startswith("./"):
        glob = glob[2:].lstrip("/")
    return () if glob in ("", ".", "/", "*", "**", "**/*", "/**") else (glob,)


def read_pattern(glob: str) -> tuple[str, ...]:
    """Return what a glob that is no name means, with `/`, no braces: `*.{ts,tsx}` gives two."""
    rooted = glob[:1] == "/" and "\\" in glob and "/" not in glob[1:]
    glob = f"/{_forward_slashes(glob[1:])}" if rooted else _forward_slashes(glob)
    while glob.startswith("./"):
        glob = glob[2:].lstrip("/")
    return _expand_braces(glob)


def outer_alternatives(glob: str) -> tuple[str, ...]:
    """Return the alternatives of braces around the whole glob; the glob itself without them."""
    if glob[:1] != "{" or glob[-1:] != "}":
        return (glob,)
    parts, depth, begin = [], 0, 1
    for at, letter in enumerate(glob):
        depth += (letter == "{") - (letter == "}")
        if not depth and at < len(glob) - 1:
            return (glob,)
        if letter == "," and depth == 1:
            parts.append(glob[begin:at])
            begin = at + 1
    return (*parts, glob[begin:-1]) if parts else (glob,)


def uri_path(text: str) -> str:
    """Return the path of a file:// URI, or the text as it is; in a URI a slash precedes
    the drive.
    """
    if not text.startswith("file://"):
        return text
    path = urllib.parse.unquote(text.removeprefix("file://"))
    path = path.removeprefix("localhost") if path.startswith("localhost/") else path
    return path[1:] if _DRIVE.match(path[1:]) else path


def is_below(path: str, top: str) -> bool:
    """Whether `path` is `top` or below, both with forward slashes. Drives ignore case."""
    if _DRIVE.match(f"{top}/"):
        path, top = path.lower(), top.lower()
    return path == top or path.startswith(f"{top}/")


def _forward_slashes(glob: str) -> str:
    return glob if "/" in glob else _SEPARATOR.sub("/", glob)


def same_tags(tag: str) -> tuple[str, ...]:
    """Return the tags with the meaning of `tag`, itself first, in lower case: `golang` is `go`."""
    tag = tag.strip().lower().removeprefix("#") or tag.strip().lower()
    others = {*expand_language(tag), *(synonym for group in _SAME_TAGS if tag in group for synonym in group)}
    return (tag, *sorted(others - {tag, ""}))


def read_list(text: str) -> list[object]:
    """Return the entries of a list in one string: JSON, or by lines and commas outside braces."""
    stripped = text.strip()
    if stripped[:1] == "[" and stripped[-1:] == "]":
        try:
            parsed = json.loads(stripped)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list):
            return parsed
        if "," in stripped or "'" in stripped:  # Python's own form: ['a', 'b']
            stripped = stripped[1:-1]
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(stripped):
        depth += (letter == "{") - (letter == "}" and depth > 0)
        if letter in ",\n" and not depth:
            parts.append(stripped[begin:at])
            begin = at + 1
    return [entry for entry in (_unquoted(raw_entry) for raw_entry in (*parts, stripped[begin:])) if entry]


def read_symbol(text: str) -> tuple[str, ...]:
    """Return the possible readings of a symbol name, the likeliest first, with dots between parts.

    `(*Store).Save`, `Store->save()`, `Vec<T>::push`, `func (s *Store) Save(`, `_ZN5Store4saveEv`,
    `Store#save`: all but the name's own parts are removed. The last readings drop leading parts,
    for an owner may be a variable: `s.save` is `save`.
    """
    text = _unquoted(text)[:NAME_CHARS_MAX]
    readings: list[str] = []
    for line in [text, *text.splitlines()[:READINGS_MAX]] if "\n" in text else [text]:
        if name := _bare_name(line.strip()):
            readings.append(name)
            if "/" in name:  # github.com/x/store.Disk.Save
                readings.append(name.rpartition("/")[2])
    for name in tuple(readings):
        parts = name.rpartition("/")[2].split(".")
        readings += [".".join(parts[at:]) for at in range(1, len(parts))]
    return tuple(reading for reading in dict.fromkeys(readings) if reading)[:READINGS_MAX]


def _bare_name(text: str) -> str:
    """Return a name without its arguments, types, pointers and quotes."""
    if readable := mangled_names.demangle(text):
        return readable
    if match := _OBJECTIVE_C.match(text):
        return f"{match[1]}.{match[2].partition(':')[0]}"
    if match := _REPR.match(text):
        text = match[1]
    if match := _GO_METHOD.match(text):
        return f"{match['type']}.{match['name']}"
    text = re.sub(r"^(?:at|in|by|from)\s+(?=\S)", "", text).removeprefix("@").rstrip(";,:{ ")
    if match := _DEFINES.match(text):
        text = match["name"]
    text = _OWNERS.sub("", text)
    for _ in range(4):
        text = _RUST_AS.sub(lambda match: (match["for"] or match["self"]).strip(), text)
        text = _EMPTY_PARTS.sub("", text)
        text = _POINTER.sub(r"\1", text)
        text = _BRACKETS.sub("", _GENERIC.sub("", text))
    text = _ARITY.sub("", text.partition("(")[0].strip())
    text = text.split()[-1] if text.split() else ""  # void Store::save
    text = _JOINTS.sub(".", text.lstrip("*&!~$"))
    folder, slash, name = text.replace("\\", ".").rpartition("/")
    parts = [component for component in re.split(r"[.:]+", name) if _NAME.fullmatch(component.lstrip("~@"))]
    return f"{folder}{slash}{'.'.join(parts)}" if parts else ""


def _normal_path(path: str) -> str:
    path = uri_path(path)
    if _DRIVE.match(path):
        path = path[2:]
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return "" if path == "." else path


def _expand_braces(glob: str) -> tuple[str, ...]:
    globs = [glob]
    while len(globs) < GLOBS_MAX and (
        open_ := next((candidate for candidate in globs if _BRACES.search(candidate)), None)
    ):
        match = _BRACES.search(open_)
        assert match is not None
        at = globs.index(open_)
        globs[at : at + 1] = [
            open_[: match.start()] + inner.strip() + open_[match.end() :] for inner in match[1].split(",")
        ]
    return tuple(globs[:GLOBS_MAX])


def _unquoted(text: str) -> str:
    text = text.strip()
    while len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'`":
        text = text[1:-1].strip()
    return text


def nearest_paths(path: str, listed: Iterable[str], most: int = NEAREST_MAX) -> list[str]:
    """Return the paths of `listed` that are most like `path`: of the same or a similar name."""
    name = fold_path(path).rstrip("/").rpartition("/")[2]
    by_name: dict[str, list[str]] = {}
    for other in listed:
        by_name.setdefault(fold_path(other).rpartition("/")[2], []).append(other)
    stem = stem_of(name)
    names = [other for other in by_name if other == name or stem_of(other) == stem]
    for cutoff in _CUTOFFS:
        names = names or difflib.get_close_matches(name, by_name, n=most, cutoff=cutoff)
    paths = [other for close in dict.fromkeys(names) for other in sorted(by_name[close])]
    paths.sort(key=lambda other: -difflib.SequenceMatcher(None, other, path).ratio())
    return paths[:most]
