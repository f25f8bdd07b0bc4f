"""Lookup in a package: definitions in one of its scopes, and its name spaces."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from cortex.graph.facts.facts import COMPANION, PACKAGE, SPECIALIZED
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.modules.builds import of_package
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.linkage import drop_declarations, linked_definitions
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import type_parameter_names
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import is_example, is_test

#: definitions of one name that remain distinct: platform variants, overloads
TWINS_MAX = 12
#: flags of secondary definitions of a name: Scala's companion object, a specialization
_SECONDARY_FLAGS = frozenset({COMPANION, SPECIALIZED})


def in_scope(project: Project, home: str, scope: str, name: str, path: str) -> Values:
    """Return definitions of `name` in one scope of a package: bodies before declarations.

    Those in the same file, if it has any.
    """
    refs = project.members_of(home, scope).get(name)
    if not refs:  # the usual case
        return ()
    in_tests = project.rules(refs[0][0]).file_fields and is_test(path)
    key = (home, scope, f"{name} in tests" if in_tests else name)
    candidates, defined = _definitions_of_name(project, key, refs, in_tests=in_tests)
    if candidates and home.endswith("/"):  # a folder, of which a build may leave out files
        mine = of_package(project, list(dict.fromkeys(ref[0] for ref in candidates)), path)
        candidates = [ref for ref in candidates if ref[0] in mine]
        defined = None
    # They are in the order of their paths.
    in_file = candidates[bisect_left(candidates, (path,)) : bisect_left(candidates, (f"{path}\0",))]
    candidates = drop_declarations(project, in_file or candidates) if in_file or defined is None else defined
    if not in_file and len(candidates) > 1 and project.rules(candidates[0][0]).bases_in_parts:
        candidates = _first_parts(project, key, candidates, path.partition("/")[0])
    if not in_file and path and home == C_HOME:
        candidates = linked_definitions(project, candidates, path)
    return tuple(Value("def", *ref) for ref in candidates[:TWINS_MAX])


def _definitions_of_name(
    project: Project, key: tuple[str, str, str], refs: list[Ref], *, in_tests: bool
) -> tuple[list[Ref], list[Ref] | None]:
    """Return (definitions of a name without secondary ones, those without declarations).
    `in_tests`: also Ruby's types that blocks of tests define.

    The second is None for few definitions; for many it is cached: each file may open a name space.
    """
    cached = project.frequent_names.get(key)
    if cached is not None:
        return cached
    candidates = [ref for ref in refs if project.definition(ref).kind != "constant"]
    if project.rules(refs[0][0]).file_fields:  # Ruby's methods in a test's block are valid in that only
        types = [ref for ref in candidates if in_tests and project.definition(ref).kind in TYPE_KINDS]
        candidates = [ref for ref in candidates if not project.definition(ref).until] or types
    if len(candidates) > 1:
        candidates = [
            ref for ref in candidates if not _SECONDARY_FLAGS & {*project.definition(ref).flags}
        ] or candidates
    if len(refs) <= TWINS_MAX:
        return candidates, None
    project.frequent_names[key] = cached = candidates, drop_declarations(project, candidates)
    return cached


def _first_parts(project: Project, name: tuple[str, str, str], refs: list[Ref], top: str) -> list[Ref]:
    """Return the definitions of a name, of a type in several parts only the first: in a file of the
    language's usual name that ships, else in the top folder `top`, with the fewest type parameters,
    with a base, with Ruby's constructor, near the root.
    """

    def rank(ref: Ref) -> tuple[bool, bool, int, bool, bool, int]:
        path, definition = ref[0], project.definition(ref)
        usual = path.endswith(project.rules(path).suffixes) and not (is_test(path) or is_example(path))
        is_plain = (ref[1], "initialize") not in project.index(path).children
        far = not usual and path.partition("/")[0] != top
        count = len(type_parameter_names(definition))
        return not usual, far, count, not definition.bases, is_plain, path.count("/")

    key = (*name[:2], f"{name[2]} first in {top}")
    cached = project.frequent_names.get(key)
    if cached is None:
        if all(project.definition(ref).kind in TYPE_KINDS for ref in refs):
            refs = [min(refs, key=rank)]
        project.frequent_names[key] = cached = refs, refs
    return cached[0]


def find_name_space(project: Project, home: str, inside: str, name: str) -> Value | None:
    """Return the name space of that name, from `inside` outwards."""
    while inside:
        if project.has_scope(home, f"{inside}.{name}"):
            return Value("mod", f"@{home}|{inside}.{name}")
        inside = inside.rpartition(".")[0]
    key = project.name_space_key(home, name)
    return Value("mod", key) if key else None


def name_space_below(project: Project, home: str, name: str) -> str:
    """Return the key of PHP's name space `name` in that of `home`; "" if none exists."""
    inner = f"{home}.{name}" if home.partition(":")[2] else f"{home}{name}"
    return f"@{inner}|" if inner in project.homes else ""


def package_object(project: Project, home: str, scope: str = "") -> Iterator[Ref]:
    """Yield the package objects of a package, or of its subpackage `scope`: the package owns their
    members.
    """
    family, _, package = home.partition(":")
    if scope:
        yield from project.types_named(home, f"{scope}.{PACKAGE}")
    elif package:
        outer, _, name = package.rpartition(".")
        yield from project.types_named(f"{family}:{outer}", f"{name}.{PACKAGE}")
