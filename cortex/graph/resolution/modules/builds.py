"""Build constraints of Go: of several definitions of one name, for different systems or switches, a
file means those that are built whenever it is.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cortex.graph.facts.declared.builds import PROCESSORS, SYSTEMS, TESTS
from cortex.graph.facts.modules import folder_of
from cortex.graph.resolution.project import Project, Ref

#: a project's switches in two constraints; above that every pair counts as built together
SWITCHES_MAX = 6
#: pairs of conditions in the cache
PAIRS_MAX = 4096
#: systems in place of all that are not named, one like Unix and one that is not
_LIKE_UNIX, _UNLIKE_UNIX = "", "-"
_UNIX = frozenset(
    "aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris".split()
) | {_LIKE_UNIX}
#: a system → another that it counts as, too
_ALSO = {"android": "linux", "ios": "darwin", "illumos": "solaris"}
_VERSION = re.compile(r"go1\.\d+$")
_TOKEN = re.compile(r"[\w.]+|&&|\|\||[!()]")
#: operators, with the truth of their operands; the one that binds closest last
_JOINTS: tuple[tuple[str, Callable[[Iterable[bool]], bool]], ...] = (("||", any), ("&&", all))


class _World(NamedTuple):
    """The target of one build; `on`: the switches that are set."""

    system: str
    processor: str
    cgo: bool
    on: frozenset[str]

    def holds(self, tag: str) -> bool:
        if tag in SYSTEMS:
            return tag == self.system or tag == _ALSO.get(self.system)
        if tag in PROCESSORS:
            return tag == self.processor
        if tag == "unix":
            return self.system in _UNIX
        return self.cgo if tag == "cgo" else tag == "gc" or bool(_VERSION.match(tag)) or tag in self.on


def built_with(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions that are built together with `path`; all of them if none is."""
    if len({ref[0] for ref in refs}) < 2:
        return refs
    return [ref for ref in refs if _is_built_with(project, ref[0], path)] or refs


def of_package(project: Project, paths: list[str], path: str) -> list[str]:
    """Return the files of a folder that share their names with `path`.

    A folder may hold a package, its external tests, and programs that are run alone.
    """
    if not path:
        return [other for other in paths if not other.endswith(TESTS)] or paths
    package = project.packed[path].package
    same_package = [other for other in paths if project.packed[other].package == package]
    return [other for other in same_package if _is_built_with(project, other, path)] or same_package


def _is_built_with(project: Project, other: str, path: str) -> bool:
    tested = path.endswith(TESTS) and folder_of(path) == folder_of(other)
    if other.endswith(TESTS) and not tested:
        return False
    return are_built_together(project.index(path).facts.builds, project.index(other).facts.builds)


@functools.lru_cache(PAIRS_MAX)
def are_built_together(condition: str, other: str) -> bool:
    """Return True if a build with a file under `condition` may contain a file under `other`.

    A project's switches are off, except for the fewest that `condition` needs.
    """
    tags = {tag for tag in _TOKEN.findall(f"{condition} {other}") if tag[0].isalnum() or tag[0] == "_"}
    switches = sorted(tag for tag in tags if not _is_predefined(tag))
    if not other or len(switches) > SWITCHES_MAX:
        return True
    for count in range(len(switches) + 1):
        worlds = [world for world in _worlds(tags, switches, count) if _is_true(condition, world)]
        if worlds:
            return any(_is_true(other, world) for world in worlds)
    return True


def _is_predefined(tag: str) -> bool:
    """Return True if a tag is no switch that a user has to set."""
    is_listed = tag in SYSTEMS or tag in PROCESSORS or tag in ("unix", "cgo", "gc")
    return is_listed or bool(_VERSION.match(tag))


def _worlds(tags: set[str], switches: list[str], count: int) -> Iterator[_World]:
    systems = [*sorted(tags & SYSTEMS), _LIKE_UNIX, _UNLIKE_UNIX]
    processors = [*sorted(tags & PROCESSORS), ""]
    switched = map(frozenset, itertools.combinations(switches, count))
    for combination in itertools.product(systems, processors, (True, False), switched):
        yield _World(*combination)


def _is_true(condition: str, world: _World) -> bool:
    """Return True if a condition holds, or cannot be read."""
    tokens = _TOKEN.findall(condition)[::-1]  # the next token is the last
    return not tokens or _evaluate_level(tokens, world)


def _evaluate_level(tokens: list[str], world: _World, level: int = 0) -> bool:
    """Evaluate conditions with the operators of one level, or of levels that bind closer."""
    if level == len(_JOINTS):
        return _evaluate_term(tokens, world)
    word, holds = _JOINTS[level]
    results = [_evaluate_level(tokens, world, level + 1)]
    while tokens and tokens[-1] == word:
        tokens.pop()
        results.append(_evaluate_level(tokens, world, level + 1))
    return holds(results)


def _evaluate_term(tokens: list[str], world: _World) -> bool:
    word = tokens.pop() if tokens else ""
    if word == "!":
        return not _evaluate_term(tokens, world)
    if word != "(":
        return world.holds(word)
    inner = _evaluate_level(tokens, world)
    if tokens and tokens[-1] == ")":
        tokens.pop()
    return inner
