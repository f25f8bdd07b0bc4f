"""A folder of a project that is indexed, as an agent's project: two clients, one set of workers,
one index.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import orjson
import pytest

from cortex.processes.stored_projects import list_stored_projects
from tests.e2e.conftest import Project

pytestmark = pytest.mark.e2e

SOURCES = {
    "packages/api/src/session.py": '''"""Sessions."""
from lib.crypto import seal


def open_session(name):
    """Open a session for a user."""
    return seal(name)
''',
    "packages/api/main.py": '''"""The api."""
from packages.api.src.session import open_session


def run():
    """Run the api with a session."""
    return open_session("root")
''',
    "packages/web/main.py": '''"""The web."""
from packages.api.src.session import open_session


def run():
    """Run the web with a session."""
    return open_session("web")
''',
    "lib/crypto.py": '''"""Crypto."""


def seal(text):
    """Seal a text."""
    return text[::-1]
''',
}

DIFF = """--- a/{0}
+++ b/{0}
@@ -5,3 +5,3 @@
 def run():
-    \"\"\"Run the api.\"\"\"
+    \"\"\"Run the api with a session.\"\"\"
     return open_session("root")
"""


@pytest.fixture
def mono(project: Project) -> tuple[Project, Project]:
    """A project that is indexed, and a folder of it."""
    for name, text in SOURCES.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = project.run("index")
    assert done.returncode == 0, done.stderr
    return project, replace(project, root=project.root / "packages" / "api")


def places(answer):
    return [one.get("at") for one in answer["results"]]


def test_a_folder_and_its_project_are_served_at_once_by_one_set_from_one_index(mono):
    project, part = mono

    async def talk():
        async with project.front() as whole, part.front() as inner:
            everything, here = await asyncio.gather(
                whole.call("cortex_exact", query="open_session"),
                inner.call("cortex_exact", query="open_session"),
            )
            paths = {one["chunk"]["metadata"]["file_path"] for one in everything["results"]}
            assert paths == {"packages/api/src/session.py", "packages/api/main.py", "packages/web/main.py"}
            assert {one["chunk"]["metadata"]["file_path"] for one in here["results"]} == {
                "src/session.py",
                "main.py",
            }
            # who asks for a name means what is in the folder; who uses it from elsewhere is told
            told = await inner.call("cortex_graph", operation="callees", target="run")
            assert places(told) == ["src/session.py:5"]
            told = await inner.call("cortex_graph", operation="callers", target="open_session")
            assert places(told) == ["main.py:7", "../web/main.py:7"]
            told = await inner.call("cortex_graph", operation="impact", target="src/session.py")
            assert "../web/main.py:7" in places(told)
            told = await inner.call("cortex_outline")
            assert sorted(one["file"] for one in told["results"]) == ["main.py", "src/session.py"]
            told = await inner.call("cortex_pattern", pattern="open_session($A)", language="python")
            assert [one["file"] for one in told["results"]] == ["main.py"]
            told = await inner.call("cortex_search", query="a session for a user")
            assert "../" not in str(told["results"])
            told = await inner.call("cortex_explore", query="main.py:7")
            assert told["functions"][0]["file"] == "main.py"
            for path in ("main.py", "packages/api/main.py"):  # git diff --relative, and without
                told = await inner.call("cortex_explore", diff=DIFF.format(path))
                assert told["functions"][0]["file"] == "main.py"
            # what is elsewhere is said, and can be asked for
            told = await inner.call("cortex_exact", query="seal", paths=["../../lib/**"])
            assert told["results"][0]["chunk"]["metadata"]["file_path"] == "../../lib/crypto.py"
            told = await inner.call("cortex_exact", query="MAX_ATTEMPTS")
            assert not told["results"]
            assert '["../../**"]' in told["suggestion"]
            # a file that is saved is there for both
            (part.root / "late.py").write_text("def late_arrival():\n    return 1\n")
            await asyncio.gather(
                whole.finds("late_arrival", "packages/api/late.py"), inner.finds("late_arrival", "late.py")
            )
        return project.status()

    asyncio.run(talk())
    kept = [one for one in list_stored_projects() if one.root and one.root.is_relative_to(project.root)]
    assert [one.root for one in kept] == [project.root]


def test_of_a_folder_that_is_a_part_status_and_doctor_and_index_say_so(mono):
    project, part = mono
    told = part.run("status", "--json")
    assert '"part": "packages/api"' in told.stdout
    assert "packages/api is served from its index" in part.run("doctor").stdout
    told = part.run("index", "--no-wait")
    assert f"{part.root} is a part of {project.root}" in told.stderr
    told = part.run("index", "--chunks-dir", "chunks")
    assert told.returncode == 2
    assert "--own-index" in told.stderr


def test_a_folder_that_is_told_to_has_an_index_of_its_own_from_then_on(mono):
    project, part = mono
    done = part.run("index", "--own-index")
    assert done.returncode == 0, done.stderr

    told = orjson.loads(part.run("exact", "MAX_ATTEMPTS", "--json").stdout)
    assert (told["results"], told["suggestion"]) == ([], "Nothing matches `MAX_ATTEMPTS`.")
    told = orjson.loads(part.run("exact", "open_session", "--json").stdout)
    assert {one["chunk"]["metadata"]["file_path"] for one in told["results"]} == {"main.py", "src/session.py"}
    roots = {one.root for one in list_stored_projects() if one.root and one.root.is_relative_to(project.root)}
    assert roots == {project.root, part.root}
    part.run("down")


def test_notes_of_a_folder_are_its_projects_and_their_places_are_told_from_where_one_is(mono):
    project, part = mono

    done = part.run("memory", "store", "Sessions are sealed", "--files", "src/session.py")
    assert done.returncode == 0, done.stderr
    told = [
        orjson.loads(one.run("memory", "recall", "are sessions sealed", "--json").stdout)["results"]
        for one in (project, part)
    ]
    assert [[one["files"] for one in rows] for rows in told] == [
        [["packages/api/src/session.py"]],
        [["src/session.py"]],
    ]
