"""Engines that installed packages bring: the look-up of an entry point, and the parts of an engine
outside its own folder.

`engines.text` and `engines.vector` choose an engine by the name of its entry point in the group
GROUP. Entry points are read only if the person's own settings name one: reading them takes 40 ms,
and loading one runs the package's code.
"""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from cortex.system.errors import Misconfigured

#: the group of entry points; each names a `Plug`
GROUP = "cortex.engines"
#: the value of `engines.*` for the built-in engines
LOCAL = "local"


def late(place: str) -> Callable[..., Any]:
    """Return a function that imports `place` ("module:name") and calls it."""

    def call(*arguments: Any) -> Any:
        module, _, name = place.partition(":")
        return getattr(importlib.import_module(module), name)(*arguments)

    return call


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The parts of an engine that keeps the indexes of many machines in one place. Each takes a
    Config whose `engines.text` and `engines.vector` are this engine.
    """

    #: the store's name in sentences
    title: str
    #: raises Misconfigured if settings are missing or contradict each other
    check: Callable[[Any], None]
    #: the project's name in the store
    project: Callable[[Any], str]
    #: a path component that tells this project in this store apart from all others
    key: Callable[[Any], str]
    #: the identity of a place whose projects one search covers
    group: Callable[[Any], tuple[object, ...]]
    #: the store's address for a message, without secrets
    address: Callable[[Any], str]
    #: a sentence about the data that is sent to other machines; "" for none
    egress: Callable[[Any], str]
    #: the reason why no generation is here yet, as a sentence
    explain_nothing: Callable[[Any], str]
    #: the module of a process, named as the engine, that each set needs; "" for none
    worker: Callable[[Any], str]
    #: holds the right to publish the project; yields a function that publishes its chunk files and
    #: returns the Generation. Raises Occupied, Misconfigured, Unavailable
    writing: Callable[[Any], AbstractContextManager[Callable[[], Any]]]
    #: the worker in place of the watcher: it downloads and announces generations
    mirror: Callable[[Any], Any]
    #: an object with the `handlers` of a text or vector worker for several projects of a group; a
    #: second argument turns each request into one that the engine answers
    joint: Callable[..., Any]
    #: a function that returns the reader of a generation's sources; the second argument reads the
    #: files of this machine, which may have none
    sources: Callable[[Any, Any], Callable[[Any], Any]]


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
            f"engines.text or engines.vector is {name!r}, which no installed package brings; there are: {brought}. "
            "Install its package (for a clone that has changed, Cortex again)."
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
