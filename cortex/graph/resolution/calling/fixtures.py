"""Pytest fixtures of parameters: by name in the test's class and file, then in the conftest.py
files around it.
"""

from __future__ import annotations

from cortex.graph.facts.modules import folder_of
from cortex.graph.facts.tables import takes_fixtures
from cortex.graph.resolution.project import Project, Ref

#: the file with fixtures for all tests of a folder
CONFTEST = "conftest.py"


def fixture_of(project: Project, name: str, path: str, scope: int) -> Ref | None:
    """Return the fixture for the parameter `name` of a definition; None if the project has none."""
    definition = project.definition((path, scope))
    if not takes_fixtures(project.rules(path), definition) or name in ("self", "cls"):
        return None
    if all(parameter.name != name for parameter in definition.parameters):
        return None
    scopes = [definition.scope, ""] if definition.scope else [""]
    for file in (path, *_conftests(project, path)):
        exported_name = project.index(file).facts.exports.get(name, name)  # `@pytest.fixture(name="disk")`
        for inside in scopes if file == path else [""]:
            for ref in reversed(project.members_of(file, inside).get(exported_name, ())):
                if ref != (path, scope) and "fixture" in project.definition(ref).flags:
                    return ref
    return None


def _conftests(project: Project, path: str) -> list[str]:
    paths, folder = [], folder_of(path)
    while True:
        conftest = f"{folder}/{CONFTEST}" if folder else CONFTEST
        if conftest in project.packed and conftest != path:
            paths.append(conftest)
        if not folder:
            return paths
        folder = folder_of(folder)
