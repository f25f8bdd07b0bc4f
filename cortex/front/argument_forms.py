"""Conversion of arguments as models send them to the types that tools take.

Models send lists as one text, numbers as texts, names of languages and paths in any spelling.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.languages import canonical
from cortex.terms.text.spelling import is_below, path_below, read_file_lines, read_globs, read_list, uri_path

#: maximum of items in a list: each is looked up among all files, tags or ids
ITEMS_MAX = 256
#: the same for a list of ids, which are looked up together
IDS_MAX = 1_000
#: texts that mean a missing argument, except where the argument is free text
_NOTHING = frozenset(("null", "none", "undefined", "nil"))
_TRUE, _FALSE = frozenset(("true", "yes", "on", "1")), frozenset(("false", "no", "off", "0"))
_INTEGER = re.compile(r"[+-]?\d{1,1000}(?:\.0*)?")
#: bound for whole numbers: beyond those of every argument, and within the 64 bits of messages
INTEGER_MAX = 2**53
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: words that mean all languages
_ANY = frozenset(("all", "any", "*", "auto"))

#: keys around all arguments in calls of some models and clients; the call itself is one
_WRAPPERS = frozenset(("arguments", "args", "input", "kwargs", "parameters", "params", "tool_input"))

#: arguments that name a language; that are globs; that are one path
_LANGUAGES = frozenset(("lang", "language"))
_ABSOLUTE = ("/", "file://")
_GLOBS = frozenset(("paths", "exclude_paths", "exclude_patterns"))
_PATHS = frozenset(("path", "file"))
#: arguments that are one text of several values, separated by commas
_LISTED = frozenset(("concepts", "files", "obs_type", "type", "include"))
#: arguments with sentences as items: commas do not separate them
_SENTENCES = frozenset(("facts",))
#: arguments from which the path of the root is removed, at any position
_NAMES = frozenset(("target", "to", "chunk_id", "symbol"))

#: returns the paths of the index
Listed = Callable[[], Collection[str]]


def read_object(value: Any) -> Any:
    """Return the object in a value that should be one: in a JSON text, or alone in a list. An empty
    text or list is an empty object; any other value stays as it is.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}") or {}
        except (ValueError, RecursionError):
            return value
    if isinstance(value, list) and len(value) < 2:
        value = value[0] if value else {}
    return value


def unwrap_arguments(
    tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the arguments of a call without one object around all of them, as
    {"arguments": {…}} or {"name": "cortex_search", "arguments": {…}}.
    """
    if not arguments or not arguments.keys() <= _WRAPPERS | {"name"}:
        return arguments
    keys = [key for key in arguments if key not in schema["properties"] and key in _WRAPPERS]
    named = arguments.keys() - {*keys}
    if len(keys) != 1 or named - {"name"} or arguments.get("name", tool) != tool:
        return arguments
    inner = read_object(arguments[keys[0]])
    return inner if isinstance(inner, dict) else arguments


def coerce_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments converted to the types of a tool's `schema`.

    A value that cannot be converted stays as it is; one that means "none" is left out. Raises
    BadRequest for a text with a lone surrogate and for a list with too many items.
    """
    typed = {}
    for name, value in arguments.items():
        if name != "query":  # has error messages of its own
            texts = value if isinstance(value, list | tuple) else [value]
            most = IDS_MAX if name == "ids" else ITEMS_MAX
            if len(texts) > most:
                raise BadRequest(f"The argument `{name}` has {len(texts)} items; at most {most} are taken.")
            if any(isinstance(text, str) and _SURROGATE.search(text) for text in texts):
                raise BadRequest(f"The argument `{name}` is not valid Unicode: it holds a lone surrogate.")
        if name in _SENTENCES and isinstance(value, str) and not value.lstrip().startswith("["):
            value = value.splitlines()  # noqa: PLW2901 - the converted value
        field = schema["properties"].get(name)
        if name in _LISTED and isinstance(value, list | tuple) and field and field.get("type") == "string":
            value = ",".join(map(str, value))  # noqa: PLW2901 - the converted value
        meant = value if field is None else _convert(field, value)
        if meant is not None:
            typed[name] = _language(meant) if name in _LANGUAGES and isinstance(meant, str) else meant
    return typed


def locate_arguments(arguments: Mapping[str, Any], root: str, listed: Listed = tuple) -> dict[str, Any]:
    """Return the arguments with paths and globs relative to the project's `root`, as in its index.

    `listed` returns the paths of the index; globs may be names in them. Raises BadRequest for an
    invalid glob.
    """
    converted = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, str) and value:
            converted[name] = _locate_text(name, value, root, listed)
        elif isinstance(value, tuple) and name in _GLOBS:
            converted[name] = _check_globs(_globs(value, root, keep=name != "paths"), name, listed)
        elif isinstance(value, tuple) and name == "places":
            converted[name] = tuple(_locate_text("target", place, root, listed) for place in value)
        elif isinstance(value, tuple) and name == "tags":
            converted[name] = tuple(_tag(tag, root) for tag in value if tag.strip())
    return converted


def _locate_text(name: str, value: str, root: str, listed: Listed) -> str:
    if name in _PATHS | _NAMES and value.strip() in listed():
        return value.strip()  # a name with backslashes, quotes or colons in it
    if name in _PATHS:
        return path_below(_below_link(value.strip().strip("\"'`"), root), root)
    if name in _NAMES:
        value = _below_link(value, root) if value.startswith(_ABSOLUTE) else value
        return value.replace(f"{root}/", "") if root != "/" else value
    if name == "scope":
        globs = _check_globs(_globs(tuple(map(str, read_list(value))), root, keep=False), name, listed)
        return globs[0] if len(globs) == 1 else f"{{{','.join(globs)}}}" if globs else ""
    return value


def _check_globs(globs: tuple[str, ...], name: str, listed: Listed) -> tuple[str, ...]:
    """Return `globs`, the value of the argument `name`. Raises BadRequest for an invalid one."""
    if globs:  # the parser is imported only when needed
        from cortex.terms.selection.globs import check_globs

        check_globs(globs, f"`{name}`", listed)
    return globs


def _globs(values: tuple[str, ...], root: str, *, keep: bool) -> tuple[str, ...]:
    """Return the globs relative to `root`.

    For a glob that means the whole project: with `keep` it becomes "**", else the result is empty
    (no filter).
    """
    all_globs: list[str] = []
    for value in values:
        globs = read_globs(_below_link(value, root), root)
        if not globs and value.strip():
            if not keep:
                return ()
            globs = ("**",)
        all_globs += globs
    return tuple(all_globs)


def _below_link(glob: str, root: str) -> str:
    """Return an absolute path or glob that leads to `root` through a link as one below `root`."""
    mark, path = ("!", glob[1:]) if glob.startswith("!") else ("", glob.strip().strip("\"'`"))
    path = uri_path(path)
    if not os.path.isabs(path) or is_below(path, root):
        return glob if path == glob.removeprefix("!") else f"{mark}{path}"
    parts = path.split("/")
    for at in range(len(parts), 1, -1):
        folder = "/".join(parts[:at])
        if os.path.lexists(folder):
            real = os.path.realpath(folder)
            below = "/".join((real, *parts[at:]))
            return f"{mark}{below}" if is_below(real, root) else glob
    return glob


def _tag(tag: str, root: str) -> str:
    """Return a tag; the path of a file becomes relative to `root`."""
    if "/" not in tag and "\\" not in tag and ":" not in tag:
        return tag.strip()
    return read_file_lines(path_below(tag.strip(), root)).path


def _convert(field: Mapping[str, Any], value: Any) -> Any:
    kind = field.get("type")
    if kind == "array":
        return _as_list(field.get("items", {}), value)
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if kind == "string":
        return _as_text(field, value)
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _NOTHING or not text:
            return None
        value = _PLAIN.get(str(kind), str)(text)
    if kind == "integer" and isinstance(value, int) and not isinstance(value, bool):
        return clamp(value, -INTEGER_MAX, INTEGER_MAX)
    return value


def _as_list(items: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, str):
        value = [] if value.strip().lower() in _NOTHING else read_list(value)
    if not isinstance(value, list | tuple):
        value = [value] if isinstance(value, int | float) else value
    if not isinstance(value, list | tuple):
        return value
    return [meant for element in value if (meant := _as_text(items, element)) is not None]


def _as_text(field: Mapping[str, Any], value: Any) -> Any:
    """Return the value as a text; for an enum its member, in any case, singular or plural."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = json.dumps(value)
    choices = field.get("enum")
    if not isinstance(value, str) or not choices:
        return value
    if value.strip().lower() in _NOTHING or not value.strip():
        return None
    wanted = _normalise(value)
    return next((choice for choice in choices if _normalise(str(choice)) == wanted), value)


def _normalise(word: str) -> str:
    return re.sub(r"[\s_-]+", "_", word.strip().strip("\"'`").lower()).rstrip("s")


_PLAIN: dict[str, Callable[[str], Any]] = {
    "integer": lambda text: int(text.partition(".")[0]) if _INTEGER.fullmatch(text) else text,
    "boolean": lambda text: True if text.lower() in _TRUE else False if text.lower() in _FALSE else text,
}


def _language(name: str) -> str:
    """Return the canonical name of a language, "" for all. A worker reports an unknown name."""
    return "" if name.strip().lower() in _ANY else canonical(name) or name.strip().lower()
