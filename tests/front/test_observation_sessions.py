"""Sessions and exchanges by id: a session, a whole exchange, and sessions next to notes."""

import orjson
import pytest

from cortex.front.tools.memory.fence import unfenced
from cortex.memory.library import finish
from cortex.memory.operations import carry_out
from cortex.system.errors import BadRequest, NotFound
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.observations import TOKENS
from tests.shop import BEGIN

DAY = 86_400_000
LONG = "".join(f"Sentence {at} über <b>retries</b>. " for at in range(1_500))


@pytest.fixture
def session_window(window, library, shop):
    """Two sessions of the shop's project, on its third day and on its last."""
    for name, day, parts in (
        ("s1", 2, (("why do retries back off?", LONG), ("and the limit?", "Five."))),
        ("s2", 7, (("rename the button", "Renamed."),)),
    ):
        at = BEGIN + day * DAY
        portion = {
            "session": {
                "kind": "claude",
                "source_id": name,
                "workstation": "w",
                "file": f"/{name}",
                "started_at": at,
                "last_at": at + 1_000,
            },
            "start": 0,
            "place": {"offset": 9, "size": 9, "tail": ""},
            "parts": [
                {
                    "begins": True,
                    "at": at + place,
                    "user": question,
                    "assistant": answer,
                    "tools": {"Edit": 1},
                    "modified": ["src/net/retry.py"],
                    "branch": "main",
                }
                for place, (question, answer) in enumerate(parts)
            ],
        }
        finish(carry_out(library, "take_session", {"portion": portion}, project="here"))
    library.memory.exchange_index.commit(wait=True)
    return window


def test_the_exchange_that_a_search_found_is_read_whole(session_window):
    (row,) = session_window.ask("search_sessions", query="retries back off")["results"]
    narrative, which = "", row["exchange_id"]
    while which:
        page = session_window.ask("get_observation", id=which)
        assert len(orjson.dumps(page)) <= TOKENS * TOKEN_BYTES
        assert "left_out" not in page
        if not narrative:
            assert unfenced(page["content"]) == "why do retries back off?"
            assert (page["files_modified"], page["tools"]) == (["src/net/retry.py"], {"Edit": 1})
        narrative += unfenced(page["narrative"])
        which = page.get("next_id")
    assert narrative == LONG
    assert (page["exchange"], page["git_branch"], page["source_id"]) == (1, "main", "s1")


def test_a_session_is_read_by_its_questions(session_window):
    (row,) = session_window.ask("search_sessions", query="retries back off")["results"]
    session = session_window.ask("get_observation", id=row["id"])
    assert (session["type"], session["exchange_count"]) == ("session", 2)
    assert [unfenced(exchange["content"]) for exchange in session["exchanges"]] == [
        "why do retries back off?",
        "and the limit?",
    ]
    second = session_window.ask("get_observation", id=session["exchanges"][1]["id"])
    assert (unfenced(second["narrative"]), second["type"]) == ("Five.", "exchange")
    (prompt,) = session_window.ask("search", type="prompts", query="rename button")["results"]
    assert unfenced(session_window.ask("get_observation", id=prompt["id"])["narrative"]) == "Renamed."


def test_a_person_forgets_a_session_by_its_id_and_an_agent_cannot(session_window, open_window):
    (row,) = session_window.ask("search_sessions", query="rename button")["results"]
    with pytest.raises(BadRequest, match="Only people"):
        session_window.ask("memory_forget", node_id=row["id"], hard=True)
    answer = open_window(channel="cli", trust="user").ask("memory_forget", node_id=row["id"], hard=True)
    assert answer["message"] == "Forgotten for good: 1 session, 1 exchange."
    assert session_window.ask("search_sessions", query="rename button")["results"] == []
    with pytest.raises(NotFound):
        session_window.ask("get_observation", id=row["exchange_id"])
    (left,) = session_window.ask("list_sessions")["results"]
    with pytest.raises(NotFound, match="--hard"):
        session_window.ask("memory_forget", node_id=left["id"])
    assert session_window.ask("list_sessions")["total_count"] == 1


def test_an_unknown_exchange_is_named(session_window):
    (row,) = session_window.ask("search_sessions", query="retries back off")["results"]
    for wrong in (f"{row['id']}:9", f"{row['exchange_id']}:99", f"{row['id'][:-1]}:1"):
        with pytest.raises(NotFound):
            session_window.ask("get_observation", id=wrong)


def test_a_timeline_tells_the_sessions_that_went_on_then(session_window):
    (anchor,) = session_window.ask("search", query="race in the retry queue", limit=1)["results"]
    timeline = session_window.ask("timeline", anchor_id=str(anchor["id"]), before=1, after=1)
    (session,) = timeline["sessions"]
    assert unfenced(session["content"]) == "why do retries back off?"
    assert (session["files_modified"], session["exchange_count"]) == (["src/net/retry.py"], 2)
    assert unfenced(session_window.ask("get_observation", id=session["id"])["exchanges"][0]["content"])
    assert "sessions" not in session_window.ask("timeline", dateStart="2023-11-14", dateEnd="2023-11-15")
    assert "sessions" not in session_window.ask("timeline", anchor_id=str(anchor["id"]), concepts="network")


def test_the_recent_context_has_the_newest_sessions_in_a_quarter_of_its_room(session_window):
    context = session_window.ask("get_recent_context")
    assert [unfenced(session["content"]) for session in context["sessions"]] == [
        "why do retries back off?",
        "rename the button",
    ]
    assert "sessions" not in session_window.ask("get_recent_context", offset=2)
    small = session_window.ask("get_recent_context", max_tokens=400)
    assert [unfenced(session["content"]) for session in small["sessions"]] == ["rename the button"]
    assert len(orjson.dumps(small)) <= 400 * TOKEN_BYTES
    assert small["results"]
