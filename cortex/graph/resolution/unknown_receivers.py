"""Which methods a call on an unknown receiver may mean, of those that have its name alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.graph.facts.facts import Reference
from cortex.graph.resolution.arity import accepts_count
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.paths import is_test

#: languages whose methods take only so many arguments as they say
_COUNTED = frozenset({"java", "csharp"})
#: what Java and C# give for the type of a value: nothing that is called on it is the project's
_TYPE_OF = re.compile(r"(?:^|\.)(?:getClass|GetType)\(\)")


def plausible_methods(project: Project, path: str, reference: Reference, refs: Sequence[Ref]) -> list[Ref]:
    """Of `refs` those that a call in `path` may reach: what is no test calls no method of a test's,
    and the arguments are as many as the method takes.
    """
    language = project.index(path).facts.language
    if language in _COUNTED and _TYPE_OF.search(reference.chain):
        return []
    reachable = [ref for ref in refs if is_test(path) or not is_test(ref[0])]
    if language not in _COUNTED or reference.arguments < 0:
        return reachable
    fitting = []
    for ref in reachable:
        definition = project.definition(ref)
        if "extension" in definition.flags or accepts_count(definition, language, reference.arguments):
            fitting.append(ref)
    return fitting
