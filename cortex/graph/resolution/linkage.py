"""Which of several C or C++ definitions of one name a file can mean: what others keep to
themselves, and which of them is near.
"""

from __future__ import annotations

from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import near
from cortex.terms.kinds import TYPE_KINDS

#: files that others read
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")


def linked(project: Project, refs: list[Ref], path: str) -> list[Ref]:
    """Without what other files keep to themselves, and the nearest of several by their folders
    (`unix/x.c` for `unix/y.c`; both `unix/x.c` and `win/x.c` for a file above them).
    """
    seen = [ref for ref in refs if not _is_private(project, ref)]
    if len(seen) < len(refs):
        read = {project.find_module(one.module, path) for one in project.index(path).facts.imports}
        seen = [ref for ref in refs if ref in seen or ref[0] in read]
    if len(seen) < 2:
        return seen
    types = [ref for ref in seen if project.definition(ref).kind in TYPE_KINDS]
    return [*near(types, path), *near([ref for ref in seen if ref not in types], path)]


def _is_private(project: Project, ref: Ref) -> bool:
    """`static` functions and macros, unless in a header."""
    if ref[0].endswith(HEADERS):
        return False
    flags = project.definition(ref).flags
    return "static" in flags or "macro" in flags
