"""The tools of observations over a real store in this process: hits and their order.

Tests name the faults of the original tools that they exclude.
"""

from dataclasses import replace

import orjson
import pytest

from cortex.front.mcp.server import describe
from cortex.front.tools import TOOLSETS, choose
from cortex.system.errors import BadQuery, BadRequest, NotFound
from cortex.terms.observations import ROWS
from tests.front.tools_page import example_of
from tests.shop import BEGIN, DAY_MS, record, titles


@pytest.mark.usefixtures("shop")
def test_a_search_keeps_the_order_of_its_scores_which_are_not_0(window):
    rows = window.ask("search", query="race in the retry queue")["results"]
    scores = [row["score"] for row in rows]
    assert rows[0]["title"] == "Fixed a race in the retry queue"
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert [row["id"] for row in rows] == [
        row["number"] for row in window.ask("memory_search", query="race in the retry queue")["results"]
    ]
    retry_rows = window.ask("search", query="how do we retry")["results"]
    scores, ids = [row["score"] for row in retry_rows], [row["id"] for row in retry_rows]
    assert len(scores) == len(set(scores)) > 2
    assert scores == sorted(scores, reverse=True)
    assert ids not in (sorted(ids), sorted(ids, reverse=True))


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"obs_type": "bugfix"}, {"Fixed a race in the retry queue"}),
        ({"obs_type": "bugfix,refactor"}, {"Fixed a race in the retry queue", "Renamed the retry module"}),
        (
            {"concepts": "gotcha, storage"},
            {"Retries use back-off with jitter", "The cart keeps its items in Redis"},
        ),
        ({"files": "queue.py"}, {"Fixed a race in the retry queue"}),
        ({"files": "web/"}, {"Added a dark theme"}),
        (
            {"files": "retry.py", "obs_type": "decision,refactor"},
            {"Retries use back-off with jitter", "Renamed the retry module"},
        ),
        ({"files": "retry.py", "concepts": "network", "obs_type": "refactor"}, set()),
        ({"dateStart": str(BEGIN + 7 * DAY_MS)}, {"The deployment takes four minutes"}),
        ({"dateStart": "2023-11-20T00:00:00Z", "dateEnd": "2023-11-20"}, {"Renamed the retry module"}),
        ({"dateStart": "2023-11-20T00:00:00Z", "dateEnd": "2023-11-20T00:00:00Z"}, set()),
        ({"dateStart": "2023-11-20", "dateEnd": "2023-11-21T00:00:00Z"}, {"Renamed the retry module"}),
        (
            {"obs_type": "discovery", "concepts": ["payment", "ops"]},
            {"The payment provider allows twenty calls a second", "The deployment takes four minutes"},
        ),
    ],
)
def test_fields_of_a_filter_are_anded_and_values_of_one_ored(window, filters, expected):
    answer = window.ask("search", **filters)
    assert set(titles(answer)) == expected
    assert answer["total_count"] == len(expected)


@pytest.mark.usefixtures("shop")
def test_a_filter_holds_for_a_question_too(window):
    answer = window.ask("search", query="retry", obs_type="bugfix,refactor")
    assert set(titles(answer)) == {"Fixed a race in the retry queue", "Renamed the retry module"}


@pytest.mark.usefixtures("shop")
def test_order_and_offset_are_obeyed_and_every_page_says_where_the_next_begins(window):
    newest = titles(window.ask("search", limit=100))
    assert newest[0] == "The deployment takes four minutes"
    assert titles(window.ask("search", orderBy="date_asc", limit=100)) == newest[::-1]
    pages, offset = [], 0
    while offset is not None:
        page = window.ask("search", limit=4, offset=offset)
        pages += titles(page)
        offset = page.get("next_offset")
    assert pages == newest
    by_date = [
        row["created_at_epoch"] for row in window.ask("search", query="retry", orderBy="date_asc")["results"]
    ]
    assert by_date == sorted(by_date)


def test_no_answer_is_longer_than_its_tokens_and_the_rest_is_on_the_next_page(window, fill):
    fill(*(record(f"Observation {at}", at, body=f"{at} " * 300) for at in range(12)))
    all_titles, offset = [], 0
    while offset is not None:
        page = window.ask("search", format="full", max_tokens=1_000, offset=offset)
        assert len(orjson.dumps(page)) <= 4_600
        all_titles += titles(page)
        offset = page.get("next_offset")
    assert len(all_titles) == len(set(all_titles)) == 12
    [row] = window.ask("search", format="full", max_tokens=200, limit=1)["results"]
    assert row["truncated"]


@pytest.mark.usefixtures("shop")
def test_a_project_sees_its_own_and_the_global_ones_and_others_when_they_are_asked_for(window):
    assert "Everybody signs commits" in titles(window.ask("search"))
    assert "Retries are forbidden in the bank" not in titles(window.ask("search", limit=100))
    assert "Retries are forbidden in the bank" in titles(window.ask("search", project="bank"))
    assert len(titles(window.ask("search", project="all", limit=100))) == 10


@pytest.mark.usefixtures("shop")
def test_a_timeline_is_around_its_anchor_in_the_order_of_time(window):
    anchor = window.ask("search", query="race in the queue")["results"][0]
    for timeline in (
        window.ask("timeline", anchor_id=str(anchor["id"]), before=2, after=1),
        window.ask("get_context_timeline", anchor_id=anchor["uuid"], before=2, after=1),
        window.ask("get_timeline_by_query", query="race in the queue", before=2, after=1),
    ):
        assert titles(timeline) == [
            "Retries use back-off with jitter",
            "The payment provider allows twenty calls a second",
            "Fixed a race in the retry queue",
            "The cart keeps its items in Redis",
        ]
        assert [bool(row.get("anchor")) for row in timeline["results"]] == [False, False, True, False]
        assert (timeline["anchor_id"], timeline["earlier"], timeline["later"]) == (anchor["id"], 0, 5)


def test_a_timeline_around_a_title_is_around_the_note_of_that_title(window, fill):
    louder = "The scheduler writes rows in step 1516"
    fill(
        record("The scheduler writes rows in step 1", 0, importance=0.1),
        record(louder, 1, importance=1.0, body="The scheduler writes rows in step 1, step by step."),
    )
    question = "the scheduler  writes rows in step 1"
    assert window.ask("search", query=question)["results"][0]["title"] == louder
    timeline = window.ask("get_timeline_by_query", query=question)
    assert [row["title"] for row in timeline["results"] if row.get("anchor")] == [
        "The scheduler writes rows in step 1"
    ]


@pytest.mark.usefixtures("shop")
def test_without_an_anchor_a_timeline_is_between_two_dates(window):
    timeline = window.ask("timeline", dateStart="2023-11-16T00:00:00Z", dateEnd="2023-11-18T00:00:00Z")
    assert titles(timeline)[0] == "Fixed a race in the retry queue"
    assert set(titles(timeline)[1:]) == {"The cart keeps its items in Redis", "Everybody signs commits"}


@pytest.mark.usefixtures("shop")
def test_recent_means_by_time_and_not_by_importance(window):
    assert titles(window.ask("get_recent_context", limit=2)) == [
        "The deployment takes four minutes",
        "Renamed the retry module",
    ]


@pytest.mark.usefixtures("shop")
def test_decisions_changes_and_how_it_works_prefer_their_kind(window):
    assert titles(window.ask("decisions", query="retry"))[0] == "Retries use back-off with jitter"
    assert titles(window.ask("changes", query="retry"))[0] in (
        "Fixed a race in the retry queue",
        "Renamed the retry module",
    )
    assert titles(window.ask("how_it_works", query="where do prices come from at checkout"))[0].startswith(
        "Checkout"
    )
    with pytest.raises(BadQuery):
        window.ask("decisions", query=" ")


@pytest.mark.usefixtures("shop")
def test_hits_by_type_by_tag_and_by_concept_are_exact(window):
    assert titles(window.ask("find_by_type", type="bugfix")) == ["Fixed a race in the retry queue"]
    assert set(titles(window.ask("find_by_type", type="discovery"))) == {
        "The payment provider allows twenty calls a second",
        "Checkout reads prices from the catalog service",
        "The deployment takes four minutes",
    }
    answer = window.ask("get_observations_by_tag", tag="network")
    assert (titles(answer, "observations"), answer["count"]) == (
        ["Fixed a race in the retry queue", "Retries use back-off with jitter"],
        2,
    )
    assert titles(window.ask("find_by_concept", concepts="network,gotcha", match="all")) == [
        "Retries use back-off with jitter"
    ]
    assert len(titles(window.ask("find_by_concept", concepts="network,gotcha"))) == 2
    with pytest.raises(BadRequest, match="is empty; pass one value"):
        window.ask("find_by_type", type=" , ")


@pytest.mark.usefixtures("shop")
def test_modifications_of_a_file_come_before_reads(window):
    assert titles(window.ask("find_by_file", files="src/net/retry.py")) == [
        "Renamed the retry module",
        "Retries use back-off with jitter",
        "Fixed a race in the retry queue",
    ]
    paged = [
        titles(window.ask("find_by_file", files="retry.py", limit=2, offset=offset)) for offset in (0, 2)
    ]
    assert [len(page) for page in paged] == [2, 1]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("query", ["Retry-After header", "gotcha", "theme.css"])
def test_facts_concepts_and_files_are_searched(window, query):
    wanted = {"Retry-After header": "The payment", "gotcha": "Retries use", "theme.css": "Added a dark"}[
        query
    ]
    assert any(title.startswith(wanted) for title in titles(window.ask("search", query=query)))


def test_nothing_is_dropped_however_many_there_are_and_however_alike(window, fill):
    assert (
        fill(
            *(
                record(f"The file src/a.py holds rule {at} of the parser", files=["src/a.py"])
                for at in range(120)
            )
        )
        == 120
    )
    assert window.ask("search", files="src/a.py", limit=1)["total_count"] == 120


@pytest.mark.usefixtures("shop")
def test_only_reading_a_note_counts_as_retrieval(window):
    row = window.ask("search", query="dark theme")["results"][0]
    window.ask("get_recent_context", format="full")
    assert window.ask("get_observation", id=str(row["id"]))["retrieval_count"] == 1
    assert window.ask("get_observation", id=row["uuid"])["retrieval_count"] == 2
    with pytest.raises(NotFound):
        window.ask("get_observation", id="4711")


@pytest.mark.usefixtures("shop")
def test_an_observation_has_the_action_on_each_file(window):
    row = window.ask("search", query="race in the queue")["results"][0]
    observation = window.ask("get_observation", id=row["id"])
    assert observation["files_modified"] == ["src/net/queue.py"]
    assert observation["files_read"] == ["src/net/retry.py"]
    assert (observation["obs_type"], observation["concepts"]) == ("bugfix", ["network"])
    assert observation["narrative"] == "<note>\nTwo workers took one retry.\n</note>"


@pytest.mark.usefixtures("shop")
def test_similar_means_by_cosine_alone(window):
    answer = window.ask("find_similar_observations", query="Added a dark theme", min_similarity=0.5)
    assert answer["observations"][0]["title"] == "Added a dark theme"
    assert all(row["similarity"] >= 0.5 for row in answer["observations"])
    assert window.ask("find_similar_observations", query="volcano", min_similarity=0.99)["count"] == 0
    with pytest.raises(BadRequest, match="between 0 and 1"):
        window.ask("find_similar_observations", query="x", min_similarity=3)


def test_relations_have_confidence_and_direction(window, related):
    answer = window.ask("find_related_observations", id=str(related[1]))
    assert [
        (row["id"], row["relation"], row["direction"], row["confidence"]) for row in answer["observations"]
    ] == [
        (related[0], "causes", "incoming", 1.0),
        (related[2], "leads_to", "outgoing", 1.0),
    ]
    walked = window.ask("get_observation_relationships", id=str(related[0]), max_depth=2)
    assert (walked["total_relations"], walked["unique_nodes"]) == (2, 3)
    assert (
        window.ask("get_observation_relationships", id=str(related[0]), max_depth=1)["total_relations"] == 1
    )


@pytest.mark.usefixtures("shop")
def test_a_ranking_is_explained_by_the_numbers_that_made_it(window):
    query = "how do we retry"
    explanation = window.ask("explain_search_ranking", query=query, top_n=20)
    recalled = window.ask("cortex_recall", query=query, alpha=1, limit=20, explain=True)["results"]
    assert [row["id"] for row in explanation["explanations"]] == [row["number"] for row in recalled]
    for row, other in zip(explanation["explanations"], recalled, strict=True):
        assert row["parts"] == other["explain"]
        assert sum(row["parts"].values()) == pytest.approx(row["score"], abs=2e-3)
        assert sum(row["score_breakdown"].values()) == pytest.approx(row["score"], abs=2e-3)
        by_meaning = row["parts"]["meaning"] + row["parts"]["alone"]
        assert row["score_breakdown"]["vector_similarity"] == pytest.approx(by_meaning, abs=2e-4)
    assert any("title" in row["matched_fields"] for row in explanation["explanations"])


def test_every_tool_has_its_row_and_a_true_write_hint():
    offered = choose(("memory-all",))
    assert set(ROWS) <= set(offered)
    for name, row in ROWS.items():
        hints = describe(offered[name])["annotations"]
        assert hints["readOnlyHint"] == (not row.writes), name
        assert hints["destructiveHint"] == row.writes, name
    assert {"search", "timeline", "get_observation"} <= {line.name for line in TOOLSETS["memory"]}


def test_reading_tools_change_nothing_in_the_store(window, related, library):
    before = library.memory.store.reached
    arguments = {
        "id": str(related[0]),
        "query": "retry",
        "anchor_id": str(related[0]),
        "tag": "network",
        "concepts": "network",
        "files": "retry.py",
        "type": "bugfix",
    }
    for name, row in ROWS.items():
        if not row.writes:
            wanted = choose(("memory-all",))[name].schema.get("required", [])
            window.ask(name, **{argument: arguments[argument] for argument in wanted})
    assert library.memory.store.reached == before


def test_another_agents_window_has_the_same_observations(open_window, window):
    window.ask("cortex_store", title="The lighthouse is green")
    other = open_window()
    other.memory.source = replace(other.memory.source, session="another")
    assert titles(other.ask("search", query="lighthouse")) == ["The lighthouse is green"]


@pytest.mark.usefixtures("shop")
def test_the_example_of_every_tool_can_be_called_as_it_is_shown(window):
    for name in ROWS:
        assert isinstance(window.ask(name, **example_of(name)), dict), name


def test_a_session_is_found_by_answers_and_by_questions(window, library):
    exchange = {"question": "Why does the walrus deployment fail?", "answer": "The disk is full."}
    assert window.ask("search_sessions", query=exchange["question"])["results"] == []
    assert window.ask("search", type="sessions", query=exchange["question"])["results"] == []
    assert window.ask("search", type="prompts", query=exchange["question"])["total_count"] == 0
    assert window.ask("list_sessions")["total_count"] == 0
    for searched in ("sessions", "prompts"):
        assert window.ask("search", type=searched, query=" ")["results"] == []
    assert window.ask("search_sessions", query=" ")["results"] == []
