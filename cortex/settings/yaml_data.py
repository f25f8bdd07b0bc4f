"""Parser of YAML configuration files to plain data, without aliases and deep nesting."""

from pathlib import Path
from typing import Any

import yaml

from cortex.system.errors import Misconfigured

#: deepest nesting of collections: the file, a section, a list
DEPTH_MAX = 8


def parse(path: Path, raw: bytes) -> Any:
    """Parse the bytes of the file at `path`. Raises Misconfigured if not YAML of this kind."""
    try:
        return yaml.load(raw.decode("utf-8"), _Loader)  # noqa: S506 - a restricted SafeLoader
    except UnicodeDecodeError as error:
        raise Misconfigured(f"Cannot read {path}: {error}.") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise Misconfigured(f"{path} is not valid YAML{line}: {getattr(error, 'problem', error)}.") from error
    except ValueError as error:  # a number of thousands of digits, an invalid date
        raise Misconfigured(f"{path} holds a value that cannot be read: {error}.") from error


class _Loader(yaml.SafeLoader):
    """Refuse aliases, which expand a few bytes to billions of values, and deep nesting."""

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
