"""Bounded reading of a configuration file as plain data: no content can cost much time or memory,
or open another file.
"""

from pathlib import Path
from typing import Any

from cortex.system import files
from cortex.system.errors import Misconfigured

#: largest configuration file, in bytes: all settings with comments take a tenth of it
FILE_BYTES_MAX = 64 * 1024
#: longest name or value, in characters: a path has at most 4 096
TEXT_CHARS_MAX = 4096
#: largest number: a signed integer of 64 bits
NUMBER_MAX = (1 << 63) - 1


def read_settings(path: Path) -> Any:
    """Return the data of a file; None if it is missing or empty. Follows no link.

    Raises Misconfigured with one sentence if it cannot be read, is too large, or is not plain YAML.
    """
    return parse_settings(path, read_raw(path))


def read_raw(path: Path) -> bytes:
    """Return the file's bytes, b"" if it is missing. Raises as `read_settings`."""
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
    """Parse the bytes of the file at `path`. Raises as `read_settings`."""
    if not raw.strip():
        return None  # most projects have no such file, and the parser costs an import
    from cortex.settings.yaml_data import parse

    data = parse(path, raw)
    _check(path, data, "")
    return data


def _check(path: Path, value: Any, name: str) -> None:
    """Raise Misconfigured for values that no setting has; others are safe to quote."""
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
