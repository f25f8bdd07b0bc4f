"""A folder of an indexed project, used as an agent's project: two clients, one set of workers, one
index.
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


@pytest.fixture(scope="module")
def mono(shared_project: Project) -> tuple[Project, Project]:
    """An indexed project, and a folder of it; the last test gives that an index of its own."""
    project = shared_project
    for name, text in SOURCES.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = project.run("index")
    assert done.returncode == 0, done.stderr
    return project, replace(project, root=project.root / "packages" / "api")


def places(answer):
    return [row.get("at") for row in answer["results"]]


def test_a_folder_and_its_project_are_served_at_once_by_one_set_from_one_index(mono):
    project, folder_project = mono

    async def talk():
        async with project.front() as outer, folder_project.front() as inner:
            everything, inner_answer = await asyncio.gather(
                outer.call("cortex_exact", query="open_session"),
                inner.call("cortex_exact", query="open_session"),
            )
            paths = {hit["chunk"]["metadata"]["file_path"] for hit in everything["results"]}
            assert paths == {"packages/api/src/session.py", "packages/api/main.py", "packages/web/main.py"}
            assert {hit["chunk"]["metadata"]["file_path"] for hit in inner_answer["results"]} == {
                "src/session.py",
                "main.py",
            }
            # a name means the definition in the folder; callers elsewhere are listed
            answer = await inner.call("cortex_graph", operation="callees", target="run")
            assert places(answer) == ["src/session.py:5"]
            answer = await inner.call("cortex_graph", operation="callers", target="open_session")
            assert places(answer) == ["main.py:7", "../web/main.py:7"]
            answer = await inner.call("cortex_graph", operation="impact", target="src/session.py")
            assert "../web/main.py:7" in places(answer)
            answer = await inner.call("cortex_outline")
            assert sorted(row["file"] for row in answer["results"]) == ["main.py", "src/session.py"]
            answer = await inner.call("cortex_pattern", pattern="open_session($A)", language="python")
            assert [row["file"] for row in answer["results"]] == ["main.py"]
            answer = await inner.call("cortex_search", query="a session for a user")
            assert "../" not in str(answer["results"])
            answer = await inner.call("cortex_explore", query="main.py:7")
            assert answer["functions"][0]["file"] == "main.py"
            for path in ("main.py", "packages/api/main.py"):  # git diff --relative, and without
                answer = await inner.call("cortex_explore", diff=DIFF.format(path))
                assert answer["functions"][0]["file"] == "main.py"
            # hits elsewhere are counted, and can be searched
            answer = await inner.call("cortex_exact", query="seal", paths=["../../lib/**"])
            assert answer["results"][0]["chunk"]["metadata"]["file_path"] == "../../lib/crypto.py"
            answer = await inner.call("cortex_exact", query="MAX_ATTEMPTS")
            assert not answer["results"]
            assert '["../../**"]' in answer["suggestion"]
            # both see a saved file
            (folder_project.root / "late.py").write_text("def late_arrival():\n    return 1\n")
            await asyncio.gather(
                outer.until_found("late_arrival", "packages/api/late.py"),
                inner.until_found("late_arrival", "late.py"),
            )
        return project.status()

    asyncio.run(talk())
    stored = [
        entry for entry in list_stored_projects() if entry.root and entry.root.is_relative_to(project.root)
    ]
    assert [entry.root for entry in stored] == [project.root]


def test_status_doctor_and_index_report_a_subfolder_of_an_indexed_project(mono):
    project, folder_project = mono
    done = folder_project.run("status", "--json")
    assert '"part": "packages/api"' in done.stdout
    assert "packages/api is served from its index" in folder_project.run("doctor").stdout
    done = folder_project.run("index", "--no-wait")
    assert f"{folder_project.root} is a part of {project.root}" in done.stderr
    done = folder_project.run("index", "--chunks-dir", "chunks")
    assert done.returncode == 2
    assert "--own-index" in done.stderr


def test_notes_of_a_subfolder_belong_to_its_project_and_their_paths_are_relative_to_it(mono):
    project, folder_project = mono

    done = folder_project.run("memory", "store", "Sessions are sealed", "--files", "src/session.py")
    assert done.returncode == 0, done.stderr
    recalled = [
        orjson.loads(owner.run("memory", "recall", "are sessions sealed", "--json").stdout)["results"]
        for owner in (project, folder_project)
    ]
    assert [[note["files"] for note in rows] for rows in recalled] == [
        [["packages/api/src/session.py"]],
        [["src/session.py"]],
    ]


def test_own_index_gives_a_subfolder_its_own_index_from_then_on(mono):
    project, folder_project = mono
    done = folder_project.run("index", "--own-index")
    assert done.returncode == 0, done.stderr

    answer = orjson.loads(folder_project.run("exact", "MAX_ATTEMPTS", "--json").stdout)
    assert (answer["results"], answer["suggestion"]) == ([], "Nothing matches `MAX_ATTEMPTS`.")
    answer = orjson.loads(folder_project.run("exact", "open_session", "--json").stdout)
    assert {hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]} == {
        "main.py",
        "src/session.py",
    }
    roots = {
        entry.root
        for entry in list_stored_projects()
        if entry.root and entry.root.is_relative_to(project.root)
    }
    assert roots == {project.root, folder_project.root}
    folder_project.run("down")
