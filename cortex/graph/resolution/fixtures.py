"""Which fixture of pytest a parameter is: by its name in the test's class and file, then in the
conftest.py files around it.
"""

from __future__ import annotations

from cortex.graph.facts.modules import folder_of
from cortex.graph.facts.tables import asks_fixtures
from cortex.graph.resolution.project import Project, Ref

#: the files whose fixtures all tests of a folder know
CONFTEST = "conftest.py"


def fixture_of(project: Project, name: str, path: str, scope: int) -> Ref | None:
    """The fixture that the parameter `name` of a definition is given; None for none of the
    project.
    """
    one = project.definition((path, scope))
    if not asks_fixtures(project.language(path), one) or name in ("self", "cls"):
        return None
    if all(parameter.name != name for parameter in one.parameters):
        return None
    scopes = [one.scope, ""] if one.scope else [""]
    for file in (path, *_conftests(project, path)):
        known = project.index(file).facts.exports.get(name, name)  # `@pytest.fixture(name="disk")`
        for inside in scopes if file == path else [""]:
            for ref in reversed(project.members_of(file, inside).get(known, ())):
                if ref != (path, scope) and "fixture" in project.definition(ref).flags:
                    return ref
    return None


def _conftests(project: Project, path: str) -> list[str]:
    found, folder = [], folder_of(path)
    while True:
        conftest = f"{folder}/{CONFTEST}" if folder else CONFTEST
        if conftest in project.packed and conftest != path:
            found.append(conftest)
        if not folder:
            return found
        folder = folder_of(folder)
