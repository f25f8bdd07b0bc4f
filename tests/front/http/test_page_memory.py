"""Memory in a browser: reading, changes and their undo, checked in the store."""

from __future__ import annotations

import asyncio

import pytest
from selenium.webdriver.common.keys import Keys

from cortex.front.http.access.tokens import add_named, remove_named
from tests.front.conftest import MemoryInProcess
from tests.front.http.browsing import HOSTILE
from tests.wait_until import BOUND_S, until


@pytest.fixture
def store(town):
    """Store a note through the server and return its number."""

    def store(title, **more):
        status, _, answer = town.server.ask("POST", "/v1/tools/cortex_store", {"title": title, **more})
        assert status == 200, answer
        return answer["number"]

    return store


@pytest.fixture
def note(town):
    """A note as the store has it."""

    def note(number):
        status, _, answer = town.server.ask("POST", "/v1/tools/get_observation", {"id": str(number)})
        assert status == 200, answer
        return answer

    return note


@pytest.fixture(scope="session")  # as the town: a session is read once
def session(town):
    """A session in memory, with questions and answers."""
    exchange = {
        "begins": True,
        "at": 1_772_359_200_000,
        "user": f"Why {HOSTILE}?",
        "assistant": "Of the lighthouse.",
    }
    later = exchange | {"at": 1_772_359_300_000, "user": "And now?", "assistant": "Of the harbour."}
    session_fields = {"kind": "claude", "source_id": "session-1", "workstation": "here", "branch": "main"}
    portion = {
        "session": session_fields | {"started_at": exchange["at"], "last_at": later["at"]},
        "start": 0,
        "place": {"offset": 10, "size": 10, "tail": ""},
        "parts": [exchange, later],
    }

    async def take():
        library = town.server.link.memory.library
        reader = MemoryInProcess(library, channel="sessions", trust="user")
        done = await reader.call("take_session", {"portion": portion}, writes=True)
        library.memory.exchange_index.close()  # a worker does it periodically
        return done["taken"]

    assert asyncio.run_coroutine_threadsafe(take(), town.server.loop).result(BOUND_S)


def shows_done(page, words):
    """Wait until the page reports a change."""
    page.shows(words, "#done:not([hidden])")


def test_notes_are_shown_by_time_and_markup_stays_text(page, store):
    number = store(HOSTILE, body=f"A body, {HOSTILE}", facts=[HOSTILE], kind="goal", occurred_at="2026-01-02")
    store("The lighthouse blinks twice", occurred_at="2026-01-01")
    page.open("/memory?until=2026-01-03")
    rows = [row.text for row in page.all(".notes > li")]
    assert [HOSTILE in row for row in rows[:2]] == [True, False]
    page.open("/memory?kind=goal")
    page.find(".notes > li > a").click()
    page.shows(f"A body, {HOSTILE}", "#note .text")
    assert page.find("#note").get_attribute("data-note") == str(number)
    assert page.text("#note-title") == f"#{number} {HOSTILE}"
    assert not page.all("main img, main script")
    page.open("/memory?q=how often does the lighthouse blink")
    page.shows("The lighthouse blinks twice")
    page.open("/memory?since=never")
    page.shows("never", "[role=alert]")


def test_an_edit_changes_the_store_is_a_revision_and_is_taken_back(page, store, note):
    number = store("The port is 8080", body="Since the beginning.", tags=["ops"])
    page.open(f"/memory?note={number}")
    page.find("[data-opens=edit]").click()
    page.type("#edit-title", "The port is 9090")
    page.type("#edit-tags", "ops, net")
    page.find("#edit button.main").click()
    shows_done(page, "Changed: tags, title.")
    now = note(number)
    assert (now["title"], now["concepts"]) == ("The port is 9090", ["ops", "net"])
    page.shows("The port is 8080", ".revisions del")
    page.find("#done-undo").click()
    shows_done(page, "Taken back")
    assert note(number)["title"] == "The port is 8080"
    page.find("[data-opens=edit]").click()
    page.find("#edit button.main").click()
    page.shows("Nothing was changed.", "#said")


def test_keyboard_alone_forgets_a_note_and_brings_it_back(page, store, note):
    number = store("The harbour freezes in February", kind="weather")
    page.open(f"/memory?kind=weather&note={number}")
    page.press(Keys.TAB, Keys.ENTER)  # to the content, past the frame
    for _ in range(40):
        page.press(Keys.TAB)
        if page.js("return document.activeElement.dataset.change") == "forget":
            break
    page.press(Keys.ENTER)
    shows_done(page, f"Forgotten: #{number}.")
    assert note(number)["state"] == "deleted"
    page.shows("It was forgotten", "#note")
    until(lambda: page.js("return document.activeElement.id") == "done-undo", "the way back has the focus")
    page.press(Keys.ENTER)
    shows_done(page, "Taken back")
    assert note(number)["state"] == "active"


def test_two_that_say_the_same_are_merged_from_where_they_are_suggested(page, store, note):
    body = "It answers 429 with a header that says how long to wait."
    first = store("The payment provider limits us to twenty calls a second", body=body, tags=["a"])
    second = store("The payment provider allows us twenty calls a second", body=body, tags=["b"])
    page.open("/memory?tab=quality")
    page.shows("Completeness of notes")
    page.find("button[data-change=merge]").click()
    shows_done(page, "Merged")
    states = {number: note(number)["state"] for number in (first, second)}
    assert sorted(states.values()) == ["active", "superseded"]
    active = next(number for number, state in states.items() if state == "active")
    assert sorted(note(active)["concepts"]) == ["a", "b"]
    page.open("/memory?tab=changes")
    page.find("button[data-change=undo]").click()
    shows_done(page, "Taken back")
    assert {note(number)["state"] for number in (first, second)} == {"active"}


def test_a_note_is_superseded_by_another_and_tells_its_relation(page, store, note):
    old, new = store("We deploy on Fridays"), store("We deploy on Mondays")
    page.open(f"/memory?note={old}")
    page.find("[data-opens=supersede]").click()
    page.type("#supersede-by", f"#{new}")
    page.press(Keys.ENTER)
    shows_done(page, "Superseded")
    assert (note(old)["state"], note(old)["superseded_by"]) == ("superseded", new)
    page.shows("← supersedes", ".relations")
    page.find(".relations a").click()
    page.shows("We deploy on Mondays", "#note-title")


def test_two_notes_picked_in_the_list_are_merged_side_by_side(page, store, note):
    first = store("Deploys run on Friday", body="At noon.", kind="pick", tags=["ops"])
    second = store("Deployments run each Friday", body="By the bot.", kind="pick", tags=["bot"])
    third = store("The lift is slow", kind="pick")
    page.open("/memory?kind=pick")
    page.find(f".pick[value='{first}']").send_keys(Keys.SPACE)
    page.shows(f"#{first} is picked", "#picked")
    page.find(f".pick[value='{second}']").click()
    assert not page.find(f".pick[value='{third}']").is_enabled()
    assert page.overflows() <= 0
    page.find("#picked a").click()
    page.shows("At noon.", ".merge")
    page.shows("By the bot.", ".merge")
    assert page.serious_faults() == []
    page.find(f".merge [data-into='{second}']").click()
    shows_done(page, f"Merged #{first} into #{second}")
    page.shows("Deployments run each Friday", "#note-title")
    assert not page.all(".merge")
    assert note(first)["state"] == "superseded"
    assert set(note(second)["concepts"]) == {"ops", "bot"}
    page.open(f"/memory?merge={first},{first}")
    page.shows("Pick two notes to merge.", "[role=alert]")
    page.open(f"/memory?kind=pick&note={second}")
    page.find("[data-opens=merge]").click()
    offered = page.js("return [...document.querySelector('#others').options].map((one) => one.value)")
    assert str(third) in offered


def test_an_impossible_change_is_reported_and_changes_nothing(page, store, note):
    number = store("The mast is made of larch")
    page.open(f"/memory?note={number}")
    page.find("[data-opens=merge]").click()
    page.type("#merge-into", "999999")
    page.press(Keys.ENTER)
    page.shows("There is no note '999999'", "#said")
    assert note(number)["state"] == "active"
    assert any("400" in fault or "404" in fault for fault in page.faults())  # the browser logs the refusal


def test_a_note_that_an_agent_stores_meanwhile_is_announced(page, store):
    page.open("/memory")
    page.find("#changed[data-state=followed]")
    assert not page.find("#changed").is_displayed()
    store("The anchor weighs a ton")
    page.shows("Memory changed since this was shown.", "#changed:not([hidden])")
    page.find("#changed a").click()
    page.shows("The anchor weighs a ton", ".notes")


def test_a_session_is_found_and_read_exchange_by_exchange(page, session):
    page.open("/memory?tab=sessions&q=lighthouse harbour")
    page.find(".notes mark")
    page.find(".notes > li > a").click()
    page.shows("Of the lighthouse.", ".exchanges > li:first-child")
    page.shows(f"Why {HOSTILE}?", ".exchanges > li:first-child")
    page.shows("Of the harbour.", ".exchanges > li:last-child")
    page.open("/memory?tab=sessions")
    page.shows("2 exchanges")


def test_trends_are_drawn_and_shown_as_a_table(page, store):
    store("The tide was high today")
    page.open("/memory?tab=trends&days=7")
    page.find("#plot[data-state=drawn] canvas")
    page.find("details > summary").click()
    page.shows("Notes", "details table")
    page.shows("In all")


@pytest.mark.parametrize(("days", "shown"), [("0", 30), ("many", 30), ("7", 7), ("9999", 365)])
def test_trends_of_no_number_of_days_are_those_of_the_usual_one(town, days, shown):
    status, _, html = town.server.ask("GET", f"/memory?tab=trends&days={days}")
    assert status == 200
    assert f"in {shown} days, UTC".encode() in html


def test_a_memory_that_does_not_answer_is_one_sentence_in_its_view(server):
    status, _, html = server.ask("GET", "/memory")
    assert status == 200
    assert b'role="alert"' in html


def test_a_read_only_visitor_sees_no_buttons_and_cannot_change_notes(town, store, note):
    number = store("The keel is of oak")
    server = town.server
    token = add_named("reader-of-the-page", "read", 0.0)
    try:
        path = server.ask("POST", "/enter", {}, Authorization=f"Bearer {token}")[2]["path"]
        came = server.ask("GET", path, Authorization=None)[1]
        cookie_headers = {
            "Authorization": None,
            "Cookie": came["Set-Cookie"].partition(";")[0],
            "Origin": server.url,
        }
        status, _, html = server.ask("GET", f"/memory?note={number}", **cookie_headers)
        assert status == 200
        assert b"The keel is of oak" in html
        assert b"data-change" not in html
        change = {"what": "forget", "note": str(number)}
        status, _, answer = server.ask(
            "POST", "/page/memory/change", change, Sec_Fetch_Site="same-origin", **cookie_headers
        )
        assert (status, answer["error"]["code"]) == (403, "forbidden")
        assert note(number)["state"] == "active"
    finally:
        remove_named("reader-of-the-page")


@pytest.mark.parametrize(
    "body", [{"what": "erase", "note": "1"}, {"what": "edit", "note": ""}, {"what": "edit", "note": 7}, {}]
)
def test_an_invalid_change_is_one_sentence(town, body):
    status, _, answer = town.server.ask("POST", "/page/memory/change", body)
    assert (status, answer["error"]["code"]) == (400, "bad_request")


def test_candidates_are_listed_taken_and_dropped_by_click(page, town, note):
    exchange = {"begins": True, "at": 1_772_459_200_000, "assistant": "Noted."}
    sentences = ("We decided to ring the fog bell twice.", "Never paint the buoys on Sundays.")
    session_fields = {"kind": "claude", "source_id": "session-2", "workstation": "here", "branch": "main"}
    portion = {
        "session": session_fields | {"started_at": exchange["at"], "last_at": exchange["at"]},
        "start": 0,
        "place": {"offset": 10, "size": 10, "tail": ""},
        "parts": [exchange | {"user": text} for text in sentences],
    }

    async def take():
        library = town.server.link.memory.library
        reader = MemoryInProcess(library, channel="sessions", trust="user")
        await reader.call("take_session", {"portion": portion}, writes=True)
        library.memory.exchange_index.close()  # a worker does it periodically

    asyncio.run_coroutine_threadsafe(take(), town.server.loop).result(BOUND_S)
    page.open("/memory?tab=candidates")
    page.shows("paint the buoys")
    assert len(page.all(".operations > li")) == 2
    page.find("button[data-change=take][aria-label*='fog bell']").click()
    shows_done(page, "Noted as #")
    number = page.text("#done-said").partition("#")[2].partition(":")[0]
    assert "fog bell" in note(number)["title"]
    page.find("button[data-change=drop]").click()
    shows_done(page, "Dropped: it is not proposed again.")
    page.shows("No candidates.", ".empty")
    status, _, answer = town.server.ask("POST", "/page/memory/change", {"what": "take", "candidate": "99"})
    assert (status, answer["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "address", ["note", "tab=sessions", "tab=candidates", "tab=quality", "tab=trends", "tab=changes"]
)
def test_every_tab_is_right_at_every_width_light_and_dark_and_accessible(page, store, session, address):
    number = store("The rudder is of steel", body="Since the storm.", facts=["It held."], tags=["ship"])
    page.open(f"/memory?{address}={number}" if address == "note" else f"/memory?{address}")
    page.find("#main")
    page.size(2560)
    assert page.overflows() <= 0
    assert address != "note" or page.serious_faults() == []  # of the light colours it has all
    page.size(360)
    page.dark()
    assert page.overflows() <= 0
    assert page.serious_faults() == []
