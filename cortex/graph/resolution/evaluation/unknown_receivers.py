"""Methods that a call on an unknown receiver may mean, by its name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.graph.facts.facts import Reference
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.paths import is_test

#: Java's and C#'s methods for the type of a value: that type is never the project's
_TYPE_OF = re.compile(r"(?:^|\.)(?:getClass|GetType)\(\)")


def plausible_methods(project: Project, path: str, reference: Reference, refs: Sequence[Ref]) -> list[Ref]:
    """Return those of `refs` that a call in `path` may mean.

    Production code calls no method of a test; the number of arguments must fit.
    """
    rules = project.rules(path)
    if rules.exact_arguments and _TYPE_OF.search(reference.chain):
        return []
    reachable = list(refs) if is_in_test(project, path, reference) else shipped_definitions(project, refs)
    if not rules.exact_arguments or reference.arguments < 0:
        return reachable
    fitting = []
    for ref in reachable:
        definition = project.definition(ref)
        if "extension" in definition.flags or accepts_count(definition, reference.arguments):
            fitting.append(ref)
    return fitting


def is_in_test(project: Project, path: str, reference: Reference) -> bool:
    """Return True if a reference is in a test."""
    if is_test(path) or reference.scope < 0:
        return is_test(path)
    return is_test_code(path, project.definition((path, reference.scope)).qualified)


def shipped_definitions(project: Project, refs: Sequence[Ref]) -> list[Ref]:
    """Return the definitions that are no tests."""
    return [ref for ref in refs if not is_test_code(ref[0], project.definition(ref).qualified)]
