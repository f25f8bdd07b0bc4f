"""A memory as one caller uses it: the project and source of its notes, and the branch."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from cortex.memory.find.recall import Memory
from cortex.memory.note import Source
from cortex.memory.store.records import Records
from cortex.settings.folders.branches import Head, existing, head_of, main_branches


class View:
    """A memory with the project and the source of a caller. Use it in one thread."""

    def __init__(
        self,
        memory: Memory,
        *,
        project: str = "",
        source: Source | None = None,
        caller: str | None = None,
        place: str = "",
    ) -> None:
        """`caller`: the project of the agent that calls, if that is not `project`; `place`: the
        caller's folder, from which the branch of its notes and questions is read.
        """
        self.memory = memory
        self._requested_project = project
        #: the project of the notes; "" for all
        self.project = memory.projects.home_of(project)
        self._caller = self.project if caller is None else memory.projects.home_of(caller)
        self.source = source or Source()
        self._place = place

    def of(
        self,
        *,
        project: str | None = None,
        source: Source | None = None,
        caller: str | None = None,
        place: str = "",
    ) -> Self:
        """The same memory for another project ("" for all), or with another source of its notes."""
        return type(self)(
            self.memory,
            project=self._requested_project if project is None else project,
            source=source or self.source,
            caller=caller,
            place=place,
        )

    @property
    def head(self) -> Head | None:
        """The branch and commit of the caller's folder; None without a folder, and for another
        project than the caller's.
        """
        is_own = self._place and self.project and self.project == self._caller
        return head_of(Path(self._place)) if is_own else None

    def elsewhere(self) -> tuple[str, tuple[str, ...]]:
        """(The project, its notes' existing branches that are neither main nor the caller's.)"""
        branches = self.memory.catalog.branches(self.project)
        head = self.head if branches else None
        if head is None or head.common is None:
            return "", ()
        near = {head.branch, *main_branches(head.common)}
        return self.project, existing(head.common, [branch for branch in branches if branch not in near])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self.memory.close()

    def settle(self) -> None:
        """Write what is new into the indexes on the disk: the next open reads less."""
        self.memory.words.commit()

    def once(
        self,
        operation: str,
        what: str,
        request: dict[str, Any],
        carry_out: Callable[[Records], dict[str, Any]],
    ) -> dict[str, Any]:
        """See `Store.once`; afterwards queries find what changed."""
        reply = self.memory.store.once(operation, what, request, carry_out)
        self.memory.follow()
        return reply
