"""The projects of a search, and the identity of their rows: in one project a row's key, in several
the index of the project and the key.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cortex.ranking.multi_project import KEY_BITS


def quoted(text: str) -> str:
    """`text` quoted for a filter."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def primary_key(project: str, key: int) -> str:
    return f"{project}:{key}"


@dataclass(frozen=True)
class ProjectScope:
    """Projects by name in Milvus, and the lowest and highest of their generations (0 and 0: of
    none). With several projects the filter also lets rows of other generations through: the caller
    knows the rows of each, and drops others.
    """

    projects: tuple[str, ...]
    oldest: int = 0
    newest: int = 0

    @property
    def filter(self) -> str:
        if len(self.projects) == 1:
            clause = f"project == {quoted(self.projects[0])}"
        else:
            clause = f"project in [{', '.join(map(quoted, self.projects))}]"
        return f"{clause} and born <= {self.newest} and died > {self.oldest}"

    def key_filter(self, keys: Iterable[int]) -> str:
        if len(self.projects) == 1:
            return f"key in {list(keys)}"
        return f"pk in [{', '.join(map(quoted, self.primary_keys(keys)))}]"

    def primary_keys(self, keys: Iterable[int]) -> list[str]:
        mask = (1 << KEY_BITS) - 1
        return [primary_key(self.projects[key >> KEY_BITS], key & mask) for key in keys]

    def key_of(self, row: dict[str, Any]) -> int:
        """The key of a row, from its `key` and its `project`."""
        return self._numbers[row["project"]] << KEY_BITS | int(row["key"])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.projects)}
