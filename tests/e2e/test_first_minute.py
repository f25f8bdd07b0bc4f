"""A project without an index: every query is answered at once, from a growing part of the
project.
"""

from __future__ import annotations

import asyncio
import re

import pytest

pytestmark = pytest.mark.e2e

#: enough files that the first run has an order
FILES = 600
#: seconds until the whole project is served, on a loaded machine
BOUND_S = 180.0


@pytest.fixture
def many(project):
    for number in range(FILES):
        folder = project.root / ("tests" if number % 2 else "src")
        folder.mkdir(exist_ok=True)
        body = "".join(f"    total += compute_{number}({line})\n" for line in range(20))
        (folder / f"m{number}.py").write_text(f"def made_{number}(total):\n{body}    return total\n")
    (project.root / "src" / "main.py").write_text("def begin_everything():\n    return 1\n")
    return project


async def follow(project):
    """Return the `index` of every answer until the project is served in full, and the files
    found.
    """
    states, found_files = [], []
    async with project.front() as front, asyncio.timeout(BOUND_S):
        while True:
            answer = await front.call("cortex_search", query="begin everything", limit=3)
            states.append(answer["index"])
            found_files.append([hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]])
            index = answer["index"]
            if index["generation"] and not {"searchable", "publishing", "indexing"} & index.keys():
                last = await front.call("cortex_exact", query=f"made_{FILES - 1}")
                assert last["results"], states  # no remainder: the whole project
                return states, found_files
            await asyncio.sleep(0.1)


def test_from_the_first_second_answers_say_how_much_is_searchable_and_it_never_falls(many):
    states, found_files = asyncio.run(follow(many))
    shares = [state["searchable"]["done"] for state in states if "searchable" in state]
    assert shares or len(states) == 1, (
        states
    )  # on a loaded machine the whole project may be indexed before the first query
    assert shares == sorted(shares)
    for state in states:
        if state["generation"] and "searchable" in state:
            done, total = state["searchable"]["done"], state["searchable"]["total"]
            assert done < total == FILES + 4
            assert re.search(rf"{100 * done // total} % searchable", state["message"])
            assert "newest changes" not in state["message"]
    assert "src/main.py" in found_files[-1]


def test_indexing_from_the_shell_ends_when_everything_is_served(many):
    done = many.run("index")
    assert done.returncode == 0, done.stderr
    served = int(re.search(r"all of it is served, as generation (\d+)", done.stdout)[1])
    assert not many.processes()  # the set that was started for it has ended

    async def ask():
        async with many.front() as front:
            return await front.call("cortex_exact", query=f"made_{FILES - 1}")

    answer = asyncio.run(ask())
    assert answer["results"]
    assert answer["index"]["generation"] >= served
    assert "searchable" not in answer["index"]
    second_run = many.run("index")
    assert "(0 now" in second_run.stdout
    assert "all of it is served" in second_run.stdout


def test_without_waiting_only_the_chunk_files_are_written(project):
    done = project.run("index", "--no-wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert "served" not in done.stdout
    assert list(project.config.chunks_dir.glob("*.json.zst"))
    assert not (project.config.index_dir / "CURRENT").exists()
    assert not project.processes()


def test_a_set_that_runs_serves_what_is_indexed_and_goes_on(project):
    assert project.run("up", "--detach").returncode == 0
    supervisor = project.status()["pid"]
    (project.root / "docs" / "later.md").write_text("# Later\n\nUmbrellas are put up.\n")
    assert "all of it is served" in project.run("index").stdout
    assert project.status()["pid"] == supervisor


@pytest.mark.parametrize("folder_name", ["${workspaceFolder}", "."])
def test_a_front_of_a_folder_that_is_no_project_starts_and_its_tools_say_what_to_set(project, folder_name):
    at_home = project.environment | {"HOME": str(project.root)}
    other = type(project)(project.root / folder_name, at_home)

    async def ask():
        async with other.front() as front:
            assert (await front.session.list_tools()).tools
            try:
                result = await front.session.call_tool("cortex_search", {"query": "x"})
            except Exception as error:  # of the protocol or of the tool
                return str(error)
            assert result.is_error
            return result.content[0].text

    message = asyncio.run(ask())
    assert "--project" in message
