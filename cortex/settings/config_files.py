"""Reads a configuration file as plain data: nothing in it can take time, memory or another file.
What the settings are called, and whose file it is, is known elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cortex.system import files
from cortex.system.errors import Misconfigured

#: bytes of a configuration file: all settings with comments are a tenth of it
FILE_BYTES_MAX = 64 * 1024
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
    if not raw.strip():
        return None  # most projects have no file, and the parser costs an import
    from cortex.settings.yaml_data import parse

    data = parse(path, raw)
    _check(path, data, "")
    return data


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
