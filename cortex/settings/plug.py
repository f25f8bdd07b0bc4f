"""Engines that installed packages bring: the look-up of an entry point, and the parts of an engine
outside its own folder.

`engines.text` and `engines.vector` choose an engine by the name of its entry point in the group
GROUP. Entry points are read only if the person's own settings name one: reading them takes 40 ms,
and loading one runs the package's code.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex.system.errors import Misconfigured

#: the group of entry points; each names a `Plug`
GROUP = "cortex.engines"
#: the value of `engines.*` for the built-in engines
LOCAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plug:
    """An engine of a package. `name` is that of its entry point."""

    name: str
    #: import string ("module:name") of the engine's class, for the workers and the watcher
    engine: str
    #: dataclass of its section of settings, which has the engine's name; None: no settings
    section: type | None = None


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
