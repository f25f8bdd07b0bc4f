"""The function of a script that a file of declarations beside it declares, and the other way round:
`lib/disk.js` and `lib/disk.d.ts`.
"""

from __future__ import annotations

from cortex.graph.facts.modules import DECLARATIONS
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref


def beside(project: Project, evaluator: Evaluator, ref: Ref) -> list[Ref]:
    """What is declared, or written, as `ref` in the file beside its own: the name of a file, the
    signature of the type that this is declared with (`declare let parse: Parser`), or the member of
    the type of that name; one at most.
    """
    other = project.script.beside(ref[0])
    if not other:
        return []
    one = project.definition(ref)
    values = evaluator.exports.exported(other, one.scope or one.name)
    if one.scope:
        tags = ("def", "inst")
        owners = (v for v in values if v.tag in tags and project.definition(v.ref).has_members)
        values = tuple(value for owner in owners for value in evaluator.member(owner.ref, one.name))
    else:
        signed = (one for value in values if value.tag == "inst" for one in evaluator.results.call_of(value))
        values = (*values, *signed)
    declared = not ref[0].endswith(DECLARATIONS)
    found = (v.ref for v in values if v.tag == "def" and v.path.endswith(DECLARATIONS) == declared)
    return list(dict.fromkeys(found))[:1]
