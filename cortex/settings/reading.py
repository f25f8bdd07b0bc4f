"""Reads a configuration file as plain data: nothing in it can take time, memory or another file.
What the settings are called, and whose file it is, is known elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from cortex.system import files
from ipc.errors import Misconfigured

#: bytes of a configuration file: all settings with comments are a tenth of it
FILE_BYTES_MAX = 64 * 1024
#: collections inside collections: the file, a section, a list
DEPTH_MAX = 8
#: characters of a name or a value: a path has 4 096 at most
TEXT_CHARS_MAX = 4096
#: values of a number: what 64 bits hold
NUMBER_MAX = (1 << 63) - 1


def read_settings(path: Path) -> Any:
    """What the file says; None when there is none, or nothing in it. A link is not followed.

    Raises Misconfigured with one sentence: it cannot be read, is too large, is no plain YAML.
    """
    return parse_settings(path, read_raw(path))


def read_raw(path: Path) -> bytes:
    """The file's bytes; none when there is no file. Raises as `read_settings`."""
    try:
        raw = files.read_plain(path, FILE_BYTES_MAX + 1)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise Misconfigured(f"Cannot read {path}: {error.strerror or error}.") from error
    if len(raw) > FILE_BYTES_MAX:
        raise Misconfigured(f"{path} has more than {FILE_BYTES_MAX // 1024} kB; settings need far less.")
    return raw


def parse_settings(path: Path, raw: bytes) -> Any:
    """What the bytes of the file at `path` say. Raises as `read_settings`."""
    try:
        data = yaml.load(raw.decode("utf-8"), _Loader)  # noqa: S506 - a SafeLoader that knows less
    except UnicodeDecodeError as error:
        raise Misconfigured(f"Cannot read {path}: {error}.") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise Misconfigured(f"{path} is not valid YAML{line}: {getattr(error, 'problem', error)}.") from error
    except ValueError as error:  # a number of thousands of digits, a date that is none
        raise Misconfigured(f"{path} holds a value that cannot be read: {error}.") from error
    _check(path, data, "")
    return data


class _Loader(yaml.SafeLoader):
    """Refuses aliases, which write a few bytes out to billions of values, and deep nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not read here; write the value out", event.start_mark
            )
        if self._depth > DEPTH_MAX:
            raise yaml.composer.ComposerError(None, None, "it is nested too deeply", event.start_mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _check(path: Path, value: Any, name: str) -> None:
    """Raises Misconfigured for what no setting is: what passes can be shown in a sentence."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str) or not key.isprintable() or len(key) > TEXT_CHARS_MAX:
                raise Misconfigured(f"{path} has a name{_at(name)} that is no plain word.")
            _check(path, inner, f"{name}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            _check(path, inner, name)
    elif isinstance(value, str):
        if len(value) > TEXT_CHARS_MAX:
            raise Misconfigured(f"{path} has a value{_at(name)} of more than {TEXT_CHARS_MAX} characters.")
    elif isinstance(value, int | float):
        if isinstance(value, int) and abs(value) > NUMBER_MAX:
            raise Misconfigured(f"{path} has a number{_at(name)} that is too large.")
    elif value is not None:
        raise Misconfigured(f"{path} has a {type(value).__name__}{_at(name)}; put it in quotes.")


def _at(name: str) -> str:
    return f" at {name}" if name else ""
