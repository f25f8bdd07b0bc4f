"""Counterparts of functions in a script and its declaration file: `lib/disk.js` and
`lib/disk.d.ts`.
"""

from __future__ import annotations

from cortex.graph.facts.modules import DECLARATIONS
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref


def declared_counterparts(project: Project, evaluator: Evaluator, ref: Ref) -> list[Ref]:
    """Return the counterpart of `ref` in the script or declaration file next to its file; one at
    most.

    The counterpart has the same name: an export, a call signature of the export's declared type
    (`declare let parse: Parser`), or a member of the type with the same name.
    """
    other = project.script.counterpart(ref[0])
    if not other:
        return []
    definition = project.definition(ref)
    values = evaluator.exports.exported(other, definition.scope or definition.name)
    if definition.scope:
        tags = ("def", "inst")
        owners = (v for v in values if v.tag in tags and project.definition(v.ref).has_members)
        values = tuple(value for owner in owners for value in evaluator.member(owner.ref, definition.name))
    else:
        signed = (
            signature
            for value in values
            if value.tag == "inst"
            for signature in evaluator.results.call_of(value)
        )
        values = (*values, *signed)
    declared = not ref[0].endswith(DECLARATIONS)
    refs = (v.ref for v in values if v.tag == "def" and v.path.endswith(DECLARATIONS) == declared)
    return list(dict.fromkeys(refs))[:1]
