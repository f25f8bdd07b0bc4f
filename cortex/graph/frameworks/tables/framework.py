"""The description of a framework. Places of arguments are numbers, or names of keyword arguments:
-1 is the last argument.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Places = tuple[int | str, ...]

#: the method of a route that takes every method
ANY = "ANY"
USUAL_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
METHODS = (*USUAL_METHODS, "HEAD", "OPTIONS", "TRACE")


@dataclass(frozen=True, slots=True)
class Router:
    """A call that makes a router: the place of its prefix and of its list of routes. `app`: the
    router serves its routes even if nothing mounts it. `name`: the place of the begin of the names
    of its routes. `outer`: the place of the router that mounts it. `label`: the place of the name
    that is its prefix without another.
    """

    app: bool = False
    prefix: Places = ()
    routes: Places = ()
    name: Places = ()
    outer: Places = ()
    label: Places = ()


@dataclass(frozen=True, slots=True)
class Route:
    """A call that declares a route. As a decorator it routes to the decorated definition.

    Without a `target` it is a decorator only.

    `methods`: its methods if the call has no argument at `methods_at`. `template_has_method`: the
    path begins with the method, `GET /orders`. `name`: the place of the name that helpers use.
    `several`: every argument from `path` on is one.
    """

    methods: tuple[str, ...] = (ANY,)
    path: Places = (0,)
    target: Places = (-1,)
    methods_at: Places = ()
    template_has_method: bool = False
    name: Places = ()
    several: bool = False


@dataclass(frozen=True, slots=True)
class Mount:
    """A call that mounts routers under a prefix; -1: every further argument. `replaces`: the prefix
    takes the place of the router's own. `is_sure`: it mounts nothing else, such as middleware.
    `name`: the place of the begin of the routes' names. `reversed`: it is a call on the mounted
    router.
    """

    path: Places = ()
    routers: Places = (0,)
    replaces: bool = False
    is_sure: bool = False
    name: Places = ()
    reversed: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A call that returns a router under a prefix, or passes it to a function among its
    arguments. `complete`: its routes have no path of their own. `label`: the place of the name that
    is its prefix without another.
    """

    path: Places = (0,)
    complete: bool = False
    label: Places = ()


@dataclass(frozen=True, slots=True)
class Views:
    """A call that declares the routes of a class by its methods (views.py)."""

    path: Places = (0,)
    target: Places = (1,)


@dataclass(frozen=True, slots=True)
class Setting:
    """A call that changes a router: its prefix, the mark of versions in paths, or its serving.
    `options`: the place of an object whose `exclude` lists paths without the prefix.
    """

    prefix: Places = ()
    options: Places = ()
    versions: bool = False
    serves: bool = False


@dataclass(frozen=True, slots=True)
class Convention:
    """A call that serves the methods of classes without routes of their own by a pattern with the
    names of both: `{controller=Home}/{action=Index}/{id?}`. `area`: the place of the area of its
    classes; `defaults`: of an object with the names that the pattern lacks.
    """

    path: Places = (1, "pattern", "template")
    area: Places = ()
    defaults: Places = (2, "defaults")


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes, annotations or decorators of classes and their methods.

    `controllers` mark a class that serves routes, `prefixes` have its prefix at a place, `methods`
    declare a route to the method. A class with one of `clients` calls its routes. `modules` list
    classes that a class mounts, in these keywords. `version` is the attribute of a version.
    """

    controllers: frozenset[str]
    prefixes: Mapping[str, Places]
    methods: Mapping[str, Route]
    clients: frozenset[str] = frozenset()
    modules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: str = ""
    #: paths have `[controller]` and `[action]`; a class named `…Controller` is one, and its public
    #: methods are actions but for those with the attribute `excluded`
    tokens: bool = False
    excluded: str = ""
    #: attributes with another name of an action, and with the area of a class
    action: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class Framework:
    """`modules` are imports that recognise a file. `routers` are calls by their name in these
    modules, "" for the module itself; `members` are calls on a router, `functions` calls of the
    modules' own functions that add to the list around them, or to the default router.
    """

    name: str
    modules: tuple[str, ...]
    routers: Mapping[str, Router] = field(default_factory=dict)
    members: Mapping[str, Route | Mount | Group | Setting | Views | Convention] = field(default_factory=dict)
    functions: Mapping[str, Route | Mount] = field(default_factory=dict)
    #: its functions add to a router that the modules hold
    is_router: bool = False
    #: a call that includes a router by the name of its module, and the router's name there
    includes: tuple[str, str] = ("", "")
    #: a list of this name serves its routes even if nothing mounts it
    root: str = ""
    #: functions whose first argument is called for a parameter, and the keyword of a list of these
    injects: frozenset[str] = frozenset()
    injected: str = ""
    #: methods of a route are those of a class as its target
    class_methods: bool = False
    attributes: Attributes | None = None
    #: ends the names of the project's own routers, and the member that lists a router's routes
    suffix: str = ""
    listed: str = ""
    #: the project's own classes of routers have names that end with those in `routers`
    has_heirs: bool = False
    #: types of routers that a file may use without an import; other calls on them return them
    types: frozenset[str] = frozenset()
    #: a function of this name gets the application
    entry: str = ""
    #: letters of paths are compared without their case
    any_case: bool = False
    #: between the begin of a name and the name of a route, which is that of its function without
    #: another; "" if a route has no such name
    joint: str = ""
    #: end of the paths of its files, if other languages have a module of its name
    ending: str = ""
    #: text of every file with its calls; paths of files that may be of it without an import, and
    #: their text if it is another
    holds: bytes = b""
    files: str = ""
    written: bytes = b""
