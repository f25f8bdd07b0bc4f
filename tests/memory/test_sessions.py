"""Sessions in the store: each exchange is stored once, even after interruptions, and found
again.
"""

import asyncio
import json
import os
import sys

import pytest

from cortex.front.feeds import transcript_reader
from cortex.front.feeds.transcript_reader import Follower, refuses_reading
from cortex.memory.serving import open_worker
from cortex.memory.transcripts.formats.reader import PORTION_BYTES
from cortex.settings.data import DataFolder
from cortex.settings.table import Memory
from cortex.system.errors import BadRequest, Unavailable
from ipc.messages import MemoryCall
from tests.sample_sessions import agent, user


def test_sessions_are_read_only_in_projects_that_use_memory(life):
    life.write("s1", user("why do retries back off?"), agent("So that clients do not come back at once."))
    assert life.read() == 0
    life.ask("stats")
    life.write("s1", user("and once more?"))
    assert life.read() == 1
    assert life.search("retries")
    life.restart_reader(sessions="all")
    assert life.ask("list_sessions")["total_count"] == 1


def test_sessions_from_before_memory_was_used_are_read_after_a_person_said_so(life):
    path = life.write(
        "s1", user("why do retries back off?"), agent("So that clients do not come back at once.")
    )
    os.utime(path, (1_700_000_000, 1_700_000_000))
    life.ask("stats")
    life.write("s2", user("what is the port?"))
    assert life.read() == 1
    assert life.read() == 0
    for answer in (life.ask("list_sessions"), life.ask("search_sessions", query="retries")):
        assert "1 earlier session" in answer["message"]
        assert "`cortex memory past-sessions yes`" in answer["message"]
    with pytest.raises(BadRequest, match="Only people"):
        life.ask("past_sessions", writes=True, channel="mcp", answer="yes")
    assert life.ask("past_sessions", writes=True) == {"past_sessions": "", "unread": 1}
    life.ask("past_sessions", writes=True, answer="no")
    assert life.read() == 0
    assert "message" not in life.ask("list_sessions")
    life.ask("past_sessions", writes=True, answer="yes")
    assert life.read() == 1
    assert life.search("retries")
    assert life.read() == 0
    assert life.ask("past_sessions", writes=True) == {"past_sessions": "yes", "unread": 0}


def test_a_session_that_goes_on_after_memory_was_first_used_is_read(life):
    path = life.write("s1", user("why do retries back off?"))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    life.ask("stats")
    assert life.read() == 0
    life.write("s1", agent("So that clients do not come back at once."))
    assert life.read() == 1


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("00000000000000000005-1", {"at": 9_999_999_999_999_999_999_999}),
        ("00000000000000000005-1", {"at": 1 << 60}),
        ("00000000000000000005-1", {"at": -1}),
        ("00000000000000000005-1", {"session": "x" * 400}),
        ("00000000000000000005-1", {"cwd": "/" + "x" * 4000}),
        ("99999999999999999999-1", {}),
    ],
)
def test_an_event_that_cannot_be_stored_is_set_aside_and_the_others_are_read(life, name, event):
    life.ask("stats")
    life.spool.mkdir()
    poisoned = {"event": "prompt", "at": 1, "session": "x", "cwd": str(life.shop), "text": "a"} | event
    good = poisoned | {
        "at": 1_764_298_000_000,
        "session": "y",
        "cwd": str(life.shop),
        "text": "what about the port?",
    }
    for file, record in ((name, poisoned), ("00000000000000000009-1", good)):
        (life.spool / f"{file}.json").write_text(json.dumps(record))
        (life.spool / f"{file}.json").chmod(0o600)
    life.read()
    assert life.search("port")
    assert list(life.spool.glob("*.json")) == []


def test_a_project_can_exclude_its_sessions(life):
    life.ask("stats")
    (life.shop / ".cortex").mkdir()
    (life.shop / ".cortex" / "config.yml").write_text("memory: {sessions: off}\n")
    life.write("s1", user("why?"))
    assert refuses_reading(life.shop / "src")
    assert life.read() == 0
    (life.shop / ".cortex" / "config.yml").write_text("memory: {sessions: all}\n")
    assert not refuses_reading(life.shop)


def test_the_best_exchange_is_returned_with_marked_words_and_its_number(life):
    life.ask("stats")
    life.write(
        "s1",
        user("rename the button"),
        agent("Renamed."),
        user("why do retries back off?", "2026-03-02T10:00:00Z"),
        agent(
            "Fixed delays made all clients come back at once, so retries use jitter.", "2026-03-02T10:01:00Z"
        ),
    )
    life.read()
    (row,) = life.search("what about the retries with jitter")
    assert "**retries**" in row["snippet"]
    assert "**jitter**" in row["snippet"]
    assert (row["exchange"], row["exchange_count"], row["at"]) == (2, 2, "2026-03-02T10:00:00Z")
    assert (row["git_branch"], row["project_path"], row["project"]) == ("main", str(life.shop), life.project)
    assert life.search("kubernetes clusters") == []


def test_another_project_sees_sessions_only_on_request(life):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    life.read()
    assert life.ask("search_sessions", project="elsewhere", query="retries")["results"] == []
    everywhere = MemoryCall(
        "search_sessions", {"query": "retries", "project": "all"}, False, "", "elsewhere", "", "", "cli"
    )
    assert life.worker.call(everywhere).answer["results"]


def test_a_continued_exchange_is_extended_even_by_a_new_reader(life):
    life.ask("stats")
    life.write("s1", user("mend the retries"))
    life.read()
    life.restart_reader()
    life.write("s1", agent("First I look."))
    life.read()
    life.write("s1", agent("It is mended by jitter."), user("thank you", "2026-03-01T11:00:00Z"))
    assert life.read() == 1
    assert life.read() == 0
    (row,) = life.search("jitter")
    assert (row["exchange"], row["exchange_count"]) == (1, 2)
    assert life.search("mend")[0]["exchange"] == 1


def test_a_worker_that_is_away_costs_nothing_but_time(life):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    call = life.follower._call

    async def away(operation, *arguments):
        if operation == "take_session":
            raise Unavailable("The memory worker does not answer.")
        return await call(operation, *arguments)

    life.follower._call = away
    with pytest.raises(Unavailable):
        life.read()
    life.follower._call = call
    assert life.read() == 1
    assert life.search("retries")


def test_events_of_hooks_are_removed_where_sessions_are_not_read(data):
    (data / "spool").mkdir()
    (data / "spool" / "1-1.json").write_text("{}")
    open_worker(DataFolder(data, Memory(sessions="off"))).close()
    assert not (data / "spool").exists()


def test_a_portion_that_is_sent_twice_changes_nothing(life):
    life.ask("stats")
    life.write("s1", user("why?"), agent("Because of jitter."))
    portions = []
    call = life.follower._call

    async def record_call(*arguments):
        portions.append(arguments)
        return await call(*arguments)

    life.follower._call = record_call
    life.read()
    answer = asyncio.run(call(*portions[-1]))
    assert answer["taken"] is False
    assert answer["offset"] == (life.folder / "-shop" / "s1.jsonl").stat().st_size
    assert life.ask("list_sessions")["results"][0]["exchange_count"] == 1


def test_a_replaced_file_is_read_again_without_duplicates(life):
    life.ask("stats")
    life.write(
        "s1",
        user("one"),
        agent("the answer was long enough to be cut later"),
        user("two", "2026-03-01T11:00:00Z"),
    )
    life.read()
    life.write("s1", user("one"), agent("another answer"), anew=True)
    life.read()
    row = life.ask("list_sessions")["results"][0]
    assert row["exchange_count"] == 2  # our exchange stays when the file loses it
    assert life.search("another answer")
    assert not life.search("long enough to be cut")


def test_links_and_special_files_are_not_read(life, tmp_path):
    life.ask("stats")
    path = life.write("s1", user("a secret of elsewhere"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / "s1.jsonl")
    (life.folder / "-linked").symlink_to(elsewhere)
    path.symlink_to(elsewhere / "s1.jsonl")
    os.mkfifo(life.folder / "-shop" / "s2.jsonl")
    (life.folder / "-shop" / "s3.jsonl").mkdir()
    (life.folder / "-shop" / "s4.jsonl").write_bytes(b"")
    life.write("s5", user("this is read"))
    assert life.read() == 1
    assert life.search("secret elsewhere") == []
    assert [row["source_id"] for row in life.ask("list_sessions")["results"]] == ["s5"]


def test_a_jumping_clock_loses_no_exchange_and_no_order(life):
    life.ask("stats")
    moments = (
        "2026-03-01T10:00:00Z",
        "1970-01-01T00:00:01Z",
        "2090-01-01T00:00:00Z",
        "2026-03-01T10:05:00Z",
        "no moment",
    )
    for at, moment in enumerate(moments):
        life.write("s1", user(f"question number{at}", moment), agent(f"answer{at}", moment))
        life.read()
    (row,) = life.ask("list_sessions")["results"]
    assert (row["exchange_count"], row["started_at"]) == (5, "1970-01-01T00:00:01Z")
    assert [life.search(f"number{at}")[0]["exchange"] for at in range(5)] == [1, 2, 3, 4, 5]
    assert life.read() == 0


def test_a_file_without_its_programs_folder_is_examined_once(life):
    life.ask("stats")
    path = life.folder / "-shop" / "s1.jsonl"
    path.write_bytes(b'{"type": "summary"}\n' * 100)
    opened = []

    def audit(event, arguments):
        if opened is not None and event == "open" and arguments[0] == str(path):
            opened.append(arguments)

    sys.addaudithook(audit)
    for _ in range(3):
        life.read()
    assert len(opened) == 1
    life.write("s1", user("this is read"))
    assert life.read() == 1
    opened = None


def test_stored_sessions_stay_when_their_file_is_deleted(life):
    life.ask("stats")
    path = life.write("s1", user("why do retries back off?"))
    life.read()
    path.unlink()
    life.read()
    assert life.search("retries")


def test_the_same_name_in_two_projects_is_two_sessions(life, tmp_path):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    life.read()
    life.shop = tmp_path / "other"
    life.shop.mkdir()
    (life.folder / "-other").mkdir()
    path = life.write("s1", user("retries of the other"), anew=True)
    path.rename(life.folder / "-other" / "s1.jsonl")
    life.write("s2", user("no"))
    life.restart_reader(sessions="all")
    life.read()
    assert life.ask("search_sessions", project="", query="retries")["total_count"] == 2


def test_a_session_larger_than_a_portion_is_read_to_its_end(life):
    life.ask("stats")
    filler = "x" * 500_000
    life.write(
        "s1",
        *(user([{"type": "tool_result", "content": filler}]) for _ in range(6)),
        user("the very last jitter"),
    )
    assert (life.folder / "-shop" / "s1.jsonl").stat().st_size > PORTION_BYTES
    assert life.read() >= 3
    assert life.search("very last jitter")


def test_the_index_of_sessions_can_be_deleted_at_any_time(life, data):
    import shutil

    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    life.read()
    life.worker.close()
    shutil.rmtree(data / "index" / "sessions")
    life.ask("stats")
    index = life.worker.ready().memory.exchange_index
    index.catch_up()
    index.close()
    assert life.search("retries")


def test_a_session_whose_file_was_moved_is_read_on_in_its_new_place(life):
    life.ask("stats")
    path = life.write("s1", user("why do retries back off?"), agent("Because of jitter."))
    life.read()
    (life.folder / "-moved").mkdir()
    moved = path.rename(life.folder / "-moved" / "s1.jsonl")
    more = user("and the limit?", "2026-03-01T12:00:00Z")(life, "s1")
    moved.write_bytes(moved.read_bytes() + json.dumps(more).encode() + b"\n")
    for _ in range(2):
        life.read()
    (row,) = life.search("limit")
    assert (row["exchange"], row["exchange_count"]) == (2, 2)


def test_a_restored_store_gets_its_lost_sessions_again(life, data):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    life.read()
    with life.worker.ready().memory.store.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM session")
    life.write("s1", user("and the limit?", "2026-03-01T12:00:00Z"))
    for _ in range(3):
        life.read()
    assert life.ask("list_sessions")["results"][0]["exchange_count"] == 2


def test_sessions_of_a_linked_clone_are_found_with_the_others(life):
    life.ask("stats")
    life.write("s1", user("why do retries back off?"))
    life.read()
    life.ask("store", writes=True, project="other-0123456789abcdef", title="A note of the other")
    life.ask("link", writes=True, other="other-0123456789abcdef")
    assert life.search("retries")
    assert life.ask("list_sessions", project="other-0123456789abcdef")["total_count"] == 1


def test_an_empty_query_browses_the_sessions_the_newest_first(life):
    life.ask("stats")
    for day in (3, 1, 2):
        life.write(f"s{day}", user("hello", f"2026-03-0{day}T10:00:00Z"))
    life.read()
    answer = life.ask("search_sessions", query="  ", limit=2)
    assert [row["source_id"] for row in answer["results"]] == ["s3", "s2"]
    assert (answer["total_count"], answer["next_offset"]) == (3, 2)


def test_sessions_are_listed_the_newest_first_page_by_page(life):
    life.ask("stats")
    for day in (3, 1, 2):
        life.write(f"s{day}", user("hello", f"2026-03-0{day}T10:00:00Z"))
    life.read()
    first = life.ask("list_sessions", limit=2)
    assert [row["source_id"] for row in first["results"]] == ["s3", "s2"]
    assert (first["total_count"], first["next_offset"]) == (3, 2)
    second = life.ask("list_sessions", limit=2, offset=2)
    assert [row["source_id"] for row in second["results"]] == ["s1"]
    assert "next_offset" not in second
    assert life.ask("list_sessions", workstation_id="ffffffff")["total_count"] == 0
    for wrong in ({"limit": 0}, {"limit": 101}, {"offset": -1}):
        with pytest.raises(BadRequest):
            life.ask("list_sessions", **wrong)


def test_agents_may_not_store_sessions(life):
    with pytest.raises(BadRequest, match="Only people"):
        life.ask("take_session", writes=True, channel="mcp", portion={})
    with pytest.raises(BadRequest, match="no portion"):
        life.ask("take_session", writes=True, channel="sessions", portion={"x": 1})


def test_the_observation_tools_search_prompts_and_sessions(life):
    life.ask("stats")
    life.write(
        "s1",
        user("why does the walrus deployment fail?"),
        agent("The disk is full."),
        user("rename the button", "2026-03-02T10:00:00Z"),
        agent("The walrus button is renamed.", "2026-03-02T10:01:00Z"),
    )
    life.read()
    (prompt,) = life.ask("observation.search", type="prompts", query="walrus")["results"]
    assert (prompt["content"], prompt["exchange"]) == ("why does the walrus deployment fail?", 1)
    (row,) = life.ask("observation.search", type="sessions", query="walrus deployment")["results"]
    assert row == life.ask("observation.search_sessions", query="walrus deployment")["results"][0]
    assert life.ask("observation.list_sessions")["total_count"] == 1


def test_idle_sessions_are_checked_less_often():
    assert transcript_reader.pause(0.0, 0.0) == transcript_reader.PAUSE_S
    assert transcript_reader.pause(0.0, 3600.0) == transcript_reader.REST_S > transcript_reader.PAUSE_S
    assert transcript_reader.pause(1000.0, 0.0) == transcript_reader.PAUSE_MAX_S


def test_sessions_are_read_once_their_folder_appears(life, monkeypatch):
    """Claude Code may be installed, or started for the first time, after Cortex."""
    monkeypatch.setattr(transcript_reader, "PAUSE_MAX_S", 0.01)
    home, stop = life.shop.parent, asyncio.Event()
    away = life.folder.rename(home / "away")
    life.ask("stats")

    async def call(operation, *arguments):
        if operation == "take_session":
            stop.set()
        return await life.call(operation, *arguments)

    life.follower = Follower(call, Memory(), transcript_reader.session_folders({}, home / "later"))

    async def follow_until_read():
        task = asyncio.create_task(transcript_reader.follow(life.follower, stop))
        await asyncio.sleep(0)
        assert not life.follower.has_source()
        (home / "later" / ".claude").mkdir(parents=True)
        life.folder = away.rename(home / "later" / ".claude" / "projects")
        life.write("s1", user("why do retries back off?"), agent("So that clients spread."))
        await asyncio.wait_for(task, 20)

    asyncio.run(follow_until_read())
    assert life.read() == 0
    assert life.search("retries")
