"""Erased sessions: no trace on the disk, and no file brings them back."""

import json
import shutil

import pytest

from cortex.memory.library import finish
from cortex.memory.store import copies
from cortex.memory.store.database import NAME
from cortex.memory.transcripts.formats import spool
from cortex.system.errors import NotFound
from tests.sample_sessions import agent, session_line, user

WORD = "zanzibarian"


def traces(folder):
    """The files that contain the word, as text or normalised."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and WORD[:9].encode() in path.read_bytes().lower()
    )


@pytest.fixture
def two_sessions(life):
    """Two sessions; one of them, and its subagent's, contain the word."""
    life.ask("stats")
    life.write(
        "s1",
        user(f"Remember that the {WORD} cache is cold."),
        agent(f"The {WORD} cache is noted."),
        user("and the limit?", "2026-03-01T11:00:00Z"),
        agent(f"Five, says the {WORD} file.", "2026-03-01T11:01:00Z"),
    )
    (life.folder / "-shop" / "s1" / "subagents").mkdir(parents=True)
    line = session_line("assistant", f"I looked at {WORD}.py", "2026-03-01T11:02:00Z", isSidechain=True)(
        life, "s1"
    )
    (life.folder / "-shop" / "s1" / "subagents" / "agent-a.jsonl").write_text(json.dumps(line) + "\n")
    life.write(
        "s2", user("rename the button", "2026-03-02T10:00:00Z"), agent("Renamed.", "2026-03-02T10:01:00Z")
    )
    life.read()
    life.ask("take_candidates", writes=True, numbers=["all"])
    return life


def session(life, name="s1"):
    rows = life.ask("list_sessions")["results"]
    return next(row["id"] for row in rows if row["source_id"] == name)


def forget(life, *ids, **more):
    return life.ask("erase", writes=True, node_ids=list(ids), **more)


def test_an_erased_session_leaves_no_trace_of_it_its_subagents_and_its_notes(two_sessions, data):
    two_sessions.worker.ready().settle()
    finish(two_sessions.worker.ready().back_up())
    spool.add(str(data / spool.FOLDER), json.dumps(event("s1", WORD)).encode())
    done = forget(two_sessions, session(two_sessions), back_ups=True)
    assert (len(done["sessions"]), done["exchanges"], len(done["ids"]), done["back_ups_rewritten"]) == (
        2,
        3,
        1,
        1,
    )
    assert done["message"] == "Forgotten for good: 1 note, 2 sessions, 3 exchanges."
    two_sessions.worker.close()
    assert traces(data) == []
    assert two_sessions.search(WORD) == []
    assert two_sessions.search("rename button")
    assert [row["source_id"] for row in two_sessions.ask("list_sessions")["results"]] == ["s2"]


def event(name, text):
    return {"event": "prompt", "at": 1, "session": name, "cwd": "/", "text": text}


def test_an_erased_session_is_not_taken_in_again(two_sessions, data, tmp_path):
    finish(two_sessions.worker.ready().of(project="").export_file(tmp_path / "all.jsonl"))
    copy = copies.make(data / NAME)
    forget(two_sessions, session(two_sessions))
    two_sessions.write("s1", user(f"Remember that the {WORD} limit is five.", "2026-03-03T10:00:00Z"))
    assert two_sessions.read() >= 1  # by the same reader
    assert two_sessions.read() == 0
    two_sessions.restart_reader()
    two_sessions.read()  # and by a new one
    shutil.copytree(
        two_sessions.folder / "-shop", two_sessions.folder / "-resumed"
    )  # the same lines, under another session's name
    resumed = two_sessions.folder / "-resumed" / "s1.jsonl"
    resumed.rename(resumed.with_name("s3.jsonl")).write_text(resumed_as(resumed.with_name("s3.jsonl"), "s3"))
    two_sessions.read()
    (left,) = [row for row in two_sessions.ask("list_sessions")["results"] if row["source_id"] == "s3"]
    assert left["exchange_count"] == 1  # the exchange after the erasure
    forget(two_sessions, left["id"])
    done = finish(two_sessions.worker.ready().import_file(tmp_path / "all.jsonl", trusted=True))
    assert (done["sessions"], done["exchanges"], done["forgotten"]) == (0, 0, 6)
    two_sessions.ask("restore", writes=True, file=copy.name)
    assert [row["source_id"] for row in two_sessions.ask("list_sessions")["results"]] == ["s2"]
    two_sessions.worker.close()
    assert traces(data) == [f"backups/{copy.name}"] + [
        path for path in traces(data) if path.startswith("damaged-")
    ]


def resumed_as(path, name):
    return path.read_text().replace('"sessionId": "s1"', f'"sessionId": "{name}"')


def test_erasing_a_note_erases_the_exchange_that_it_came_from(two_sessions, data):
    (note,) = two_sessions.ask("recall", query=f"is the {WORD} cache cold?")["results"]
    done = forget(two_sessions, note["number"])
    assert (done["ids"], done["exchanges"], done["sessions"]) == ([note["id"]], 1, [])
    two_sessions.restart_reader()
    two_sessions.write("s1", agent(f"More of the {WORD}.", "2026-03-03T10:01:00Z"))
    two_sessions.read()
    row = next(row for row in two_sessions.ask("list_sessions")["results"] if row["source_id"] == "s1")
    assert row["exchange_count"] == 1
    assert two_sessions.ask("recall", query=f"is the {WORD} cache cold?")["results"] == []


def test_erasing_an_exchange_erases_only_it_and_its_continuation(two_sessions):
    session_id = session(two_sessions, "s2")
    done = forget(two_sessions, f"{session_id}:1")
    assert (done["sessions"], done["exchanges"]) == ([], 1)
    two_sessions.write("s2", agent("And the button is blue.", "2026-03-02T10:02:00Z"))
    two_sessions.write("s2", user("and the menu?", "2026-03-02T11:00:00Z"))
    two_sessions.read()
    two_sessions.restart_reader()
    two_sessions.read()
    assert two_sessions.search("button") == []
    assert two_sessions.search("menu")[0]["exchange_count"] == 1


def test_erasing_an_exchange_erases_the_note_of_its_sessions_files(two_sessions, data):
    edit = [{"type": "tool_use", "name": "Edit", "input": {"file_path": str(two_sessions.shop / "a.py")}}]
    two_sessions.write(
        "s4", user("mend the retries"), session_line("assistant", edit, "2026-03-01T10:02:00Z")
    )
    prompt = f"Remember that {WORD} is lazy."
    two_sessions.write(
        "s4", user(prompt, "2026-03-04T10:00:00Z"), session_line("assistant", edit, "2026-03-04T10:02:00Z")
    )
    two_sessions.read()
    two_sessions.ask("take_candidates", writes=True, numbers=["all"])
    forget(two_sessions, session(two_sessions, "s1"))
    (note,) = two_sessions.ask("recall", query=f"is {WORD} lazy?", kind="fact")["results"]
    assert len(forget(two_sessions, note["id"])["ids"]) == 3  # with the hand-over
    two_sessions.worker.close()
    assert traces(data) == []
    two_sessions.restart_reader()
    two_sessions.read()
    assert two_sessions.ask("stats")["node_count"] == 0


def test_erasing_an_unknown_id_is_refused_and_erases_nothing(two_sessions):
    for wrong in (f"{session(two_sessions)}:77", "0" * 8 + "-0000" * 3 + "-" + "0" * 12, "s1"):
        with pytest.raises(NotFound, match="no note"):
            forget(two_sessions, session(two_sessions), wrong)
    assert two_sessions.search(WORD)
