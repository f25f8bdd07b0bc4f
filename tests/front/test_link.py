"""The connection of a front to its workers before they run."""

import asyncio
import time

import pytest

from cortex.ask.memory import Caller
from cortex.ask.query_context import Starting
from cortex.front.link import Link
from cortex.front.tools import TOOLS
from cortex.generation import current as generations
from cortex.generation.current import Generation, SegmentRef
from cortex.processes.attach import Attachment
from cortex.settings.config import Config
from cortex.settings.folders.projects import clones_base
from cortex.system.errors import BadRequest, Unavailable

#: seconds after which a call counts as hanging
HANGS_S = 30.0


@pytest.fixture
def config(tmp_path):
    project_config = Config(root=tmp_path)
    project_config.index_dir.mkdir(parents=True)
    return project_config


def call(config, tool, **arguments):
    """Return the result of a call by a front with a starting set that has not been tried yet."""

    async def ask():
        async with asyncio.timeout(HANGS_S):
            return await Link(config).call(TOOLS[tool], arguments)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cortex_search", {"query": "how is it kept"}),
        ("cortex_exact", {"query": "Store"}),
        ("cortex_explore", {"query": "how is it kept"}),
        ("cortex_graph", {"operation": "callers", "target": "Store"}),
        ("cortex_outline", {}),
        ("cortex_pattern", {"pattern": "f($A)", "language": "python"}),
        ("code_context", {"query": "Store"}),
        ("find_related", {"file": "a.py"}),
    ],
)
def test_before_anything_is_served_no_call_waits_for_a_set_longer_than_for_the_first_generation(
    config, monkeypatch, tool, arguments
):
    for module in ("cortex.ask.query_context", "cortex.front.link"):
        monkeypatch.setattr(f"{module}.FIRST_GENERATION_S", 0.05)
    monkeypatch.setattr("cortex.front.link.READY_S", 2 * HANGS_S)
    answer = call(config, tool, **arguments)
    assert answer["index"]["generation"] == 0
    assert "Nothing is indexed yet" in answer["suggestion"]


def test_where_there_is_something_to_answer_from_a_set_that_does_not_come_is_an_error(config, monkeypatch):
    monkeypatch.setattr("cortex.front.link.READY_S", 0.05)
    generations.publish(config.index_dir, Generation(1, segments=(SegmentRef("s", 3, 3),), sources=12))
    with pytest.raises(Unavailable, match="still being started; ask again"):
        call(config, "cortex_search", query="how is it kept")


def test_a_command_asks_again_while_the_workers_are_starting_and_not_for_ever(config, monkeypatch):
    link, tool = Link(config), TOOLS["cortex_search"]
    tries = []

    async def late(_tool, arguments):
        tries.append(arguments)
        if len(tries) < 3:
            raise Starting("The text worker is starting; ask again in a few seconds.")
        return {"results": []}

    monkeypatch.setattr(link, "call", late)
    assert asyncio.run(link.call_patiently(tool, {"query": "x"}, HANGS_S)) == {"results": []}
    assert tries == [{"query": "x"}] * 3
    tries.clear()
    with pytest.raises(Starting):
        asyncio.run(link.call_patiently(tool, {"query": "x"}, 0.0))
    assert len(tries) == 1


@pytest.mark.parametrize(
    ("process_state", "stands"),
    [
        (("waiting", 0, ""), "starting"),
        (("running", 0, ""), "starting"),
        (("running", 2, "killed"), "restarting"),
        (("waiting", 0, "cannot be started: No space left on device"), "restarting"),
        (("failed", 0, "The model is missing."), ""),
    ],
)
def test_a_worker_that_has_failed_once_is_not_waited_for_as_one_that_comes_up(
    config, monkeypatch, process_state, stands
):
    process = dict(zip(("state", "restarts", "last_error"), process_state, strict=True)) | {"name": "text.0"}
    monkeypatch.setattr("cortex.processes.attach.set_status", lambda _config: {"processes": [process]})
    link = Link(config)
    link._attachment = Attachment(config, start=False)
    assert asyncio.run(link._worker_state("text")) == stands


def test_a_project_that_was_moved_is_a_sentence_at_once(config, tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    moved = Config(root=root)
    moved.index_dir.mkdir(parents=True)
    generations.publish(moved.index_dir, Generation(1))
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match=r"project/? was moved or deleted; start Cortex again"):
        call(moved, "cortex_exact", query="Store")


def test_a_read_only_clone_takes_no_notes_from_its_own_front(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    clone = clones_base() / "git.example" / "ada" / "lib"
    clone.mkdir(parents=True)
    with pytest.raises(BadRequest, match="lib is read-only here, and cortex_relate writes"):
        call(Config(root=clone), "cortex_relate", from_id="1", to_id="2")


def test_callers_of_a_shared_front_get_its_project_and_folder(config):
    async def run():
        link = Link(config)
        try:
            return link.caller_for(), link.caller_for(Caller(agent="browser", session="desk"))
        finally:
            await link.close()

    front, other = asyncio.run(run())
    assert (other.agent, other.session) == ("browser", "desk")
    assert front.project
    assert (other.project, other.place) == (front.project, str(config.root))


def test_a_code_only_caller_has_no_memory(config):
    async def run():
        link = Link(config)
        try:
            return [link._context(0.0, Caller(code_alone=alone)).memory is None for alone in (False, True)]
        finally:
            await link.close()

    assert asyncio.run(run()) == [False, True]


def test_a_part_of_a_project_is_not_asked_with_others(tmp_path):
    async def run():
        link = Link(Config(root=tmp_path, subfolder="api"))
        try:
            await link.reach(time.monotonic() + HANGS_S)
        finally:
            await link.close()

    with pytest.raises(
        Unavailable, match=f"is a part of {tmp_path.name}; name that project to ask it with others"
    ):
        asyncio.run(run())
