"""Components that a template uses without an import: a framework registers them by their name."""

from __future__ import annotations

from cortex.graph.facts.facts import Reference
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.code.components import is_component


def registered_component(project: Project, path: str, reference: Reference) -> Ref | None:
    """Return the only component of the project with the name that a component calls; None if the
    file binds the name, or for several.
    """
    name = reference.chain
    if not is_component(path) or not name[:1].isupper() or project.index(path).may_bind(name):
        return None
    paths = project.components.get(name, ())
    if len(paths) != 1:
        return None
    definitions = project.index(paths[0]).facts.definitions
    return next(
        ((paths[0], at) for at, definition in enumerate(definitions) if definition.name == name), None
    )
