"""What Scala's calls of types mean: `apply` of the object beside a class, and in a constructor
`this(1)` the class itself.
"""

from __future__ import annotations

from cortex.graph.facts.facts import COMPANION, MADE, Reference
from cortex.graph.resolution.commonjs import Meanings
from cortex.graph.resolution.counts import takes
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import TYPE_KINDS


def made(
    project: Project, meanings: Meanings, values: tuple[Value, ...], one: Reference
) -> tuple[Value, ...]:
    """`values`, or `apply` of a type's object where that takes what is passed."""
    if len(values) != 1 or values[0].tag != "def" or one.types == MADE or one.chain == "this":
        return values
    if project.definition(values[0].ref).kind not in TYPE_KINDS:
        return values
    found = (value for value in meanings.member(values[0].ref, "apply") if value.tag == "def")
    return tuple(v for v in found if is_of_object(project, v) and _takes(project, v, one)) or values


def constructed(project: Project, path: str, one: Reference, own: Value) -> Value:
    """What `this(1)` calls on `own`: the class, in one of its constructors."""
    definitions = project.index(path).facts.definitions
    in_constructor = one.scope >= 0 and definitions[one.scope].name == one.chain == "this"
    return own._replace(tag="def") if in_constructor else own


def is_of_object(project: Project, value: Value) -> bool:
    """Whether a method is one of an object, and not of the class beside that."""
    parent = project.definition(value.ref).parent
    return parent >= 0 and COMPANION in project.definition((value.path, parent)).flags


def _takes(project: Project, value: Value, one: Reference) -> bool:
    return takes(project.definition(value.ref), "scala", max(0, one.arguments))
