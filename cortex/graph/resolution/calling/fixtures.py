"""Pytest fixtures of parameters: by name in the test's class and file, then in the conftest.py
files around it, then in the plugins of the project. A file has the fixtures that it imports, too;
`pytest_plugins` is an import of all names.
"""

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
    return find_fixture(project, name, path, scope)


def find_fixture(project: Project, name: str, path: str, scope: int) -> Ref | None:
    """Return the fixture that the definition `scope` of a file, -1 for the file, gets by a name."""
    test = (path, scope)
    visited = set[tuple[str, str]]()
    outer = project.definition(test).scope if scope >= 0 else ""
    if outer and (ref := _defined_fixture(project, name, path, outer, test)) is not None:
        return ref
    for file in (path, *_conftests(project, path)):
        if (ref := _fixture_in(project, name, file, test, visited)) is not None:
            return ref
    for plugin in project.roots.plugins:
        for file in project.paths_of(project.find_module(plugin, path)):
            if (ref := _fixture_in(project, name, file, test, visited)) is not None:
                return ref
    return None


def _fixture_in(
    project: Project, name: str, file: str, test: Ref, visited: set[tuple[str, str]]
) -> Ref | None:
    """Return the fixture that a file defines or imports, but not `test` itself."""
    if (file, name) in visited:
        return None
    visited.add((file, name))
    if (ref := _defined_fixture(project, name, file, "", test)) is not None:
        return ref
    index = project.index(file)
    for statement in (*index.imports.get((-1, name), ()), *index.star_imports):
        if statement.member:
            inner = name if statement.member == "*" else statement.member
            for source in project.paths_of(project.find_module(statement.module, file)):
                if (ref := _fixture_in(project, inner, source, test, visited)) is not None:
                    return ref
    return None


def _defined_fixture(project: Project, name: str, file: str, scope: str, test: Ref) -> Ref | None:
    exported_name = project.index(file).facts.exports.get(name, name)  # `@pytest.fixture(name="disk")`
    for ref in reversed(project.members_of(file, scope).get(exported_name, ())):
        if ref != test and "fixture" in project.definition(ref).flags:
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
