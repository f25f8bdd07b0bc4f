"""A project that nobody has indexed yet: every question is answered at once, from more and more of
it.
"""

from __future__ import annotations

import asyncio
import re

import pytest

pytestmark = pytest.mark.e2e

#: so many that the first run has an order
FILES = 600
#: seconds until all of it is served, on a loaded machine
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
    """The `index` of every answer until the project is whole, and the files that were found."""
    heard, found = [], []
    async with project.front() as front, asyncio.timeout(BOUND_S):
        while True:
            answer = await front.call("cortex_search", query="begin everything", limit=3)
            heard.append(answer["index"])
            found.append([hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]])
            index = answer["index"]
            if index["generation"] and not {"searchable", "publishing", "indexing"} & index.keys():
                last = await front.call("cortex_exact", query=f"made_{FILES - 1}")
                assert last["results"], heard  # who says nothing of a rest has it all
                return heard, found
            await asyncio.sleep(0.1)


def test_from_the_first_second_answers_say_how_much_is_searchable_and_it_never_falls(many):
    heard, found = asyncio.run(follow(many))
    shares = [one["searchable"]["done"] for one in heard if "searchable" in one]
    assert shares or len(heard) == 1, heard  # on a loaded machine all may be there before the first question
    assert shares == sorted(shares)
    for one in heard:
        if one["generation"] and "searchable" in one:
            done, total = one["searchable"]["done"], one["searchable"]["total"]
            assert done < total == FILES + 4
            assert re.search(rf"{100 * done // total} % searchable", one["message"])
            assert "newest changes" not in one["message"]
    assert "src/main.py" in found[-1]


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
    again = many.run("index")
    assert "(0 now" in again.stdout
    assert "all of it is served" in again.stdout


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


@pytest.mark.parametrize("named", ["nowhere", "file", "${workspaceFolder}", "."])
def test_a_front_of_a_folder_that_is_no_project_starts_and_its_tools_say_what_to_set(project, named):
    (project.root / "file").write_text("")
    at_home = project.environment | {"HOME": str(project.root)}
    other = type(project)(project.root / named, at_home)

    async def ask():
        async with other.front() as front:
            assert (await front.session.list_tools()).tools
            try:
                result = await front.session.call_tool("cortex_search", {"query": "x"})
            except Exception as error:  # of the protocol or of the tool
                return str(error)
            assert result.is_error
            return result.content[0].text

    said = asyncio.run(ask())
    assert "--project" in said
