"""`from cortex import Project, AsyncProject`: code for Python programs, with real workers."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cortex
from cortex import AsyncProject, BadRequest, Misconfigured, Project, Unavailable
from cortex.indexer.store.writer import writer_lock
from cortex.memory import Cortex
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

#: the file of the sample that has `check_password`
LOGIN = "auth/login.py"


@pytest.fixture(scope="module")
def served(shared_project):
    caller = shared_project.root / "shop" / "enter.py"
    caller.parent.mkdir()
    caller.write_text(
        "from auth.login import check_password\n\n\ndef enter():\n    return check_password('a', 'b')\n"
    )
    with Project(shared_project.root, wait_s=BOUND_S) as opened:
        opened.search("passwords")
        yield opened


def test_questions_have_typed_answers_about_the_whole_project(served):
    hit = served.search("how are passwords compared", limit=1).results[0]
    assert (hit.file, hit.symbol, hit.stale) == (LOGIN, "check_password", False)
    assert hit.start == 6
    assert "constant time" in hit.text
    lines = served.exact("check_password", paths=["auth/**"])
    assert [(line.file, line.start, line.kind) for line in lines] == [(LOGIN, 6, "definition")]
    source = served.read("check_password", "auth")
    assert [(row.file, row.start, row.end) for row in source] == [(LOGIN, 6, 8), (LOGIN, 0, 0)]
    assert source.results[0].text.startswith("def check_password")
    assert served.index().complete
    assert lines.index.generation > 0


def test_uses_are_places_one_by_one(served):
    use = served.uses("check_password").results[0]
    assert (use.of, use.file, use.line, use.name) == ("check_password", "shop/enter.py", 5, "enter")
    assert not use.test


def test_any_other_tool_can_be_called_and_a_wrong_call_says_so(served):
    answer = served.call("cortex_outline", {"path": LOGIN})
    assert answer["results"]
    with pytest.raises(BadRequest, match="did you mean 'cortex_outline'"):
        served.call("cortex_outlin")
    with pytest.raises(BadRequest, match=r"cortex\.memory\.Cortex"):
        served.call("cortex_store", {"title": "Refunds are booked at night"})
    with pytest.raises(BadRequest, match="tag"):
        served.search("passwords", tag="x")


def test_it_works_in_a_running_loop_and_awaits_there(served, shared_project):
    async def ask():
        async with AsyncProject(shared_project.root) as opened:
            answers = await asyncio.gather(
                opened.search("passwords"), opened.exact("check_password"), opened.read("check_password")
            )
            assert (await opened.index()).complete
            assert (await opened.uses("check_password")).index.generation
        return [LOGIN in {row.file for row in answer} for answer in answers], served.exact("jitter")

    of_loop, of_thread = asyncio.run(ask())
    assert of_loop == [True, True, True]
    assert of_thread.results


def test_threads_share_one_project(served):
    files: list[str] = []
    threads = [
        threading.Thread(target=lambda word=word: files.append(served.exact(word).results[0].file))
        for word in ("check_password", "TransferFunds", "jitter") * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    assert sorted(files) == sorted([LOGIN, "store/ledger.go", "docs/guide.md"] * 3)


#: asks in a forked child and in its parent, and leaves both without closing anything
FORKING = """
import os, sys
from cortex import Project

project = Project(sys.argv[1])
print(project.exact("check_password").results[0].file, flush=True)
child = os.fork()
print(project.exact("check_password").results[0].file, flush=True)
if child:
    assert os.waitpid(child, 0)[1] == 0
    print(project.exact("jitter").results[0].file, flush=True)
"""


def test_a_forked_child_asks_as_its_parent_does_and_both_end_without_a_word(served, shared_project):
    done = subprocess.run(
        [sys.executable, "-P", "-c", FORKING, str(shared_project.root)],
        env=os.environ | shared_project.environment,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [LOGIN, LOGIN, LOGIN, "docs/guide.md"]


def test_the_memory_of_a_parent_says_in_a_child_that_it_has_to_be_opened_again(tmp_path):
    with Cortex.open(tmp_path / "memory") as memory:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                memory.stats()
            except Unavailable as error:
                os.write(writing, str(error).encode())
            finally:
                memory.close()
                os._exit(0)
        os.waitpid(child, 0)
        os.close(writing)
        assert b"open it again" in os.read(reading, 1000)
        os.close(reading)


def test_without_starting_it_attaches_to_a_set_that_runs_and_says_where_none_does(project):
    with pytest.raises(Unavailable, match="No workers are running"), Project(project.root, start=False):
        pass
    assert not project.processes()
    with Project(project.root) as first, Project(project.root, start=False) as second:
        first.search("passwords")
        assert LOGIN in {hit.file for hit in second.search("passwords")}
    project.nothing_left()
    with pytest.raises(Unavailable, match="closed"):
        first.search("passwords")
    first.close()


def test_a_question_waits_for_the_first_index_and_without_the_wait_says_that_it_is_under_way(project):
    with contextlib.ExitStack() as stack:
        with writer_lock(project.config):  # the indexer waits for it
            hasty = stack.enter_context(Project(project.root, wait_s=0))
            answer = hasty.exact("check_password")
            assert not answer.index.complete
            assert answer.index.message or answer.suggestion
        patient = stack.enter_context(Project(project.root, wait_s=BOUND_S))
        assert patient.exact("check_password").index.generation
        until(lambda: hasty.index().complete, "the whole project is served")
        assert hasty.exact("check_password").results


def test_a_folder_that_is_no_project_is_refused_at_once(tmp_path):
    with pytest.raises(Misconfigured):
        Project(tmp_path / "nowhere")


def test_the_import_is_cheap_and_has_the_names_of_its_types():
    heavy = {"asyncio", "importlib.metadata", "msgspec", "pathlib", "zmq"}
    code = (
        f"import sys; before = set(sys.modules); import cortex; print({heavy!r} & set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
    stub = Path(cortex.__file__).with_suffix(".pyi").read_text()
    names = {line.rpartition(" ")[2] for line in stub.splitlines() if line.startswith("from ")}
    assert names == set(cortex._PUBLIC)
    assert all(getattr(cortex, name) for name in names)
    with pytest.raises(AttributeError):
        cortex.Nonsense  # noqa: B018


#: a line that is right, and one that a type checker refuses
TYPED = """
from cortex import AsyncProject, Project


async def ask() -> None:
    reveal_type(Project().search("x").results[0].start)
    async with AsyncProject() as project:
        reveal_type([use.file for use in await project.uses("x")])
        await project.read(3)
"""


def test_a_type_checker_knows_every_answer(tmp_path):
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-P", "-m", "mypy", "--strict", "--follow-imports=silent", "typed.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'is "int"' in done.stdout, done.stdout
    assert 'is "list[str]"' in done.stdout, done.stdout
    assert 'typed.py:9: error: Argument 1 to "read"' in done.stdout, done.stdout
    assert "Found 1 error in 1 file" in done.stdout, done.stdout
