"""Engines that installed packages bring: the look-up of an entry point, and the parts of an engine
outside its own folder.

`engines.text` and `engines.vector` choose an engine by the name of its entry point in the group
GROUP. Entry points are read only if the person's own settings name one: reading them takes 40 ms,
and loading one runs the package's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from cortex.system.errors import Misconfigured

#: the group of entry points; each names a `Plug`
GROUP = "cortex.engines"
#: the value of `engines.*` for the built-in engines
LOCAL = "local"


class Store(Protocol):
    """The parts of an engine that keeps the indexes of many machines in one place. `config` is a
    `cortex.settings.config.Config` whose `engines.text` and `engines.vector` are this engine.
    """

    @property
    def title(self) -> str:
        """Its name in sentences."""
        ...

    def check(self, config: Any) -> None:
        """Raise Misconfigured if settings contradict each other or are missing."""
        ...

    def project(self, config: Any) -> str:
        """The project's name in the store."""
        ...

    def key(self, config: Any) -> str:
        """A path component that tells this project in this store apart from all others."""
        ...

    def group(self, config: Any) -> tuple[object, ...]:
        """The identity of a place whose projects one search covers."""
        ...

    def address(self, config: Any) -> str:
        """The address of the store, for a message, without secrets."""
        ...

    def egress(self, config: Any) -> str:
        """A sentence about the data that is sent to other machines; "" for none."""
        ...

    def explain_nothing(self, config: Any) -> str:
        """The reason why no generation is here yet, as a sentence."""
        ...

    def worker(self, config: Any) -> str:
        """The module of a process, named as the engine, that each set needs; "" for none. Its `run`
        is that of a worker.
        """
        ...

    def writing(self, config: Any) -> AbstractContextManager[Callable[[], Any]]:
        """Hold the right to publish the project; yield a function that publishes its chunk files
        and returns the Generation. Raises Occupied, Misconfigured, Unavailable.
        """
        ...

    def mirror(self, config: Any) -> Any:
        """The worker in place of the watcher: it downloads and announces generations."""
        ...

    def joint_handlers(
        self, config: Any, prepare: Callable[[Any], Any] = lambda message: message
    ) -> Mapping[type, Callable[[Any], Any]]:
        """The handlers of a text or vector worker for several projects of a group. `prepare`
        is applied to each request.
        """
        ...

    def sources(self, config: Any, local: Any) -> Callable[[Any], Any]:
        """A function that returns the reader of a generation's sources; `local` reads the files of
        this machine, which may have none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plug:
    """An engine of a package. `name` is that of its entry point."""

    name: str
    #: import string ("module:name") of the engine's class, for the workers and the watcher
    engine: str
    #: dataclass of its section of settings, which has the engine's name; None: no settings
    section: type | None = None
    #: None: the watcher builds its index on this machine
    store: Store | None = None


def has_plug(name: str) -> bool:
    """Whether an installed package brings the engine `name`. Runs no code of the package."""
    from importlib.metadata import entry_points

    return bool(entry_points(group=GROUP, name=name))


def load_plug(name: str) -> Plug:
    """Load the engine `name`. Raises Misconfigured."""
    from importlib.metadata import entry_points

    points = list(entry_points(group=GROUP, name=name))
    if not points:
        brought = ", ".join(sorted({LOCAL, *(point.name for point in entry_points(group=GROUP))}))
        raise Misconfigured(
            f"engines.text or engines.vector is {name!r}, which no installed package brings; there are: {brought}."
        )
    try:
        plug = points[0].load()
    except Exception as error:  # of another program's module
        raise Misconfigured(
            f"The engine {name!r} ({points[0].value}) cannot be loaded: {error}; install its package again, or set "
            f"engines.* to {LOCAL}."
        ) from error
    if not isinstance(plug, Plug) or plug.name != name:
        raise Misconfigured(
            f"{points[0].value} is no engine {name!r}; install another version of its package."
        )
    return plug
