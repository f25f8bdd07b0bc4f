"""The tools of observations over a real store in this process: what is found, in which order, and
what is changed. What their origin did wrong is named by the tests that hold it.
"""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from cortex.front.mcp.server import describe
from cortex.front.tools import TOOLSETS, choose
from cortex.memory.library import finish
from cortex.terms.observations import ROWS
from ipc.errors import BadQuery, BadRequest, NotFound

DOCS = Path(__file__).parents[2] / "docs"
DAY_MS = 86_400_000
BEGIN = 1_700_000_000_000  # 2023-11-14T22:13:20Z


def record(title, day=0, **others):
    made = {"title": title, "body": "", "kind": "event", "created_at": BEGIN + day * DAY_MS}
    return {"note": made | others}


@pytest.fixture
def fill(library):
    def fill(*records, project="here"):
        done = library.of(project=project).import_records(records, trusted=True)
        assert done["refused"] == []
        return done["notes"]

    return fill


@pytest.fixture
def shop(fill):
    """Eight observations of one project, a day apart; two of others."""
    fill(
        record(
            "Retries use back-off with jitter",
            0,
            kind="decision",
            obs_type="decision",
            labels=["network", "gotcha"],
            body="Fixed delays made all clients come back at once.",
            importance=0.9,
            files=["src/net/retry.py"],
            modified=["src/net/retry.py"],
        ),
        record(
            "The payment provider allows twenty calls a second",
            1,
            kind="fact",
            labels=["payment"],
            facts=["A 429 means wait for the header Retry-After"],
            files=["docs/provider.md"],
            read=["docs/provider.md"],
        ),
        record(
            "Fixed a race in the retry queue",
            2,
            obs_type="bugfix",
            labels=["network"],
            files=["src/net/queue.py", "src/net/retry.py"],
            modified=["src/net/queue.py"],
            read=["src/net/retry.py"],
            body="Two workers took one retry.",
        ),
        record("The cart keeps its items in Redis", 3, kind="decision", labels=["storage", "architecture"]),
        record("Added a dark theme", 4, obs_type="feature", files=["web/theme.css"]),
        record("Checkout reads prices from the catalog service", 5, kind="fact", labels=["how-it-works"]),
        record(
            "Renamed the retry module",
            6,
            obs_type="refactor",
            files=["src/net/retry.py"],
            modified=["src/net/retry.py"],
        ),
        record("The deployment takes four minutes", 7, kind="fact", labels=["ops"]),
    )
    fill(record("Retries are forbidden in the bank", 3, kind="decision"), project="bank")
    fill(record("Everybody signs commits", 3, kind="preference", scope="global"), project="bank")


def titles(answer, name="results"):
    return [row["title"] for row in answer[name]]


@pytest.mark.usefixtures("shop")
def test_a_search_keeps_the_order_of_its_scores_which_are_not_0(window):
    found = window.ask("search", query="retries back off with jitter")["results"]
    scores = [row["score"] for row in found]
    assert found[0]["title"] == "Retries use back-off with jitter"
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert [row["id"] for row in found] == [
        row["number"] for row in window.ask("memory_search", query="retries back off with jitter")["results"]
    ]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("filters", "found"),
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
        ({"dateStart": "2023-11-20T00:00:00Z", "dateEnd": "2023-11-20"}, set()),
        ({"dateStart": "2023-11-20", "dateEnd": "2023-11-21T00:00:00Z"}, {"Renamed the retry module"}),
        (
            {"obs_type": "discovery", "concepts": ["payment", "ops"]},
            {"The payment provider allows twenty calls a second", "The deployment takes four minutes"},
        ),
    ],
)
def test_fields_of_a_filter_are_anded_and_values_of_one_ored(window, filters, found):
    answer = window.ask("search", **filters)
    assert set(titles(answer)) == found
    assert answer["total_count"] == len(found)


@pytest.mark.usefixtures("shop")
def test_a_filter_holds_for_a_question_too(window):
    found = window.ask("search", query="retry", obs_type="bugfix,refactor")
    assert set(titles(found)) == {"Fixed a race in the retry queue", "Renamed the retry module"}


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
    seen, offset = [], 0
    while offset is not None:
        page = window.ask("search", format="full", max_tokens=1_000, offset=offset)
        assert len(orjson.dumps(page)) <= 4_600
        seen += titles(page)
        offset = page.get("next_offset")
    assert len(seen) == len(set(seen)) == 12
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
    for told in (
        window.ask("timeline", anchor_id=str(anchor["id"]), before=2, after=1),
        window.ask("get_context_timeline", anchor_id=anchor["uuid"], before=2, after=1),
        window.ask("get_timeline_by_query", query="race in the queue", before=2, after=1),
    ):
        assert titles(told) == [
            "Retries use back-off with jitter",
            "The payment provider allows twenty calls a second",
            "Fixed a race in the retry queue",
            "The cart keeps its items in Redis",
        ]
        assert [bool(row.get("anchor")) for row in told["results"]] == [False, False, True, False]
        assert (told["anchor_id"], told["earlier"], told["later"]) == (anchor["id"], 0, 5)


@pytest.mark.usefixtures("shop")
def test_without_an_anchor_a_timeline_is_what_lies_between_two_dates(window):
    told = window.ask("timeline", dateStart="2023-11-16T00:00:00Z", dateEnd="2023-11-18T00:00:00Z")
    assert titles(told)[0] == "Fixed a race in the retry queue"
    assert set(titles(told)[1:]) == {"The cart keeps its items in Redis", "Everybody signs commits"}


@pytest.mark.usefixtures("shop")
def test_recent_means_by_time_and_not_by_importance(window):
    assert titles(window.ask("get_recent_context", limit=2)) == [
        "The deployment takes four minutes",
        "Renamed the retry module",
    ]


@pytest.mark.usefixtures("shop")
def test_decisions_changes_and_how_it_works_put_what_they_are_about_first(window):
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
def test_what_is_found_by_type_by_tag_and_by_concept_is_just_that(window):
    assert titles(window.ask("find_by_type", type="bugfix")) == ["Fixed a race in the retry queue"]
    assert set(titles(window.ask("find_by_type", type="discovery"))) == {
        "The payment provider allows twenty calls a second",
        "Checkout reads prices from the catalog service",
        "The deployment takes four minutes",
    }
    told = window.ask("get_observations_by_tag", tag="network")
    assert (titles(told, "observations"), told["count"]) == (
        ["Fixed a race in the retry queue", "Retries use back-off with jitter"],
        2,
    )
    assert titles(window.ask("find_by_concept", concepts="network,gotcha", match="all")) == [
        "Retries use back-off with jitter"
    ]
    assert len(titles(window.ask("find_by_concept", concepts="network,gotcha"))) == 2
    with pytest.raises(BadRequest, match="names nothing"):
        window.ask("find_by_type", type=" , ")


@pytest.mark.usefixtures("shop")
def test_what_modified_a_file_comes_before_what_read_it(window):
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
def test_to_be_shown_is_no_use_and_to_be_asked_for_is(window):
    row = window.ask("search", query="dark theme")["results"][0]
    window.ask("get_recent_context", format="full")
    assert window.ask("get_observation", id=str(row["id"]))["retrieval_count"] == 1
    assert window.ask("get_observation", id=row["uuid"])["retrieval_count"] == 2
    with pytest.raises(NotFound):
        window.ask("get_observation", id="4711")


@pytest.mark.usefixtures("shop")
def test_an_observation_says_what_was_done_with_each_file(window):
    row = window.ask("search", query="race in the queue")["results"][0]
    told = window.ask("get_observation", id=row["id"])
    assert told["files_modified"] == ["src/net/queue.py"]
    assert told["files_read"] == ["src/net/retry.py"]
    assert (told["obs_type"], told["concepts"]) == ("bugfix", ["network"])
    assert told["narrative"] == "<note>\nTwo workers took one retry.\n</note>"


@pytest.mark.usefixtures("shop")
def test_similar_means_by_cosine_alone(window):
    told = window.ask("find_similar_observations", query="Added a dark theme", min_similarity=0.5)
    assert told["observations"][0]["title"] == "Added a dark theme"
    assert all(row["similarity"] >= 0.5 for row in told["observations"])
    assert window.ask("find_similar_observations", query="volcano", min_similarity=0.99)["count"] == 0
    with pytest.raises(BadRequest, match="between 0 and 1"):
        window.ask("find_similar_observations", query="x", min_similarity=3)


@pytest.fixture
def related(window, shop):
    """The numbers of three observations of which the first caused the second, and that a third."""
    numbers = [
        window.ask("search", query=query)["results"][0]["id"] for query in ("back-off", "race", "renamed")
    ]
    first, second, third = map(str, numbers)
    window.ask("cortex_relate", from_id=first, to_id=second, relation="causes")
    window.ask("cortex_relate", from_id=second, to_id=third, relation="leads-to")
    return numbers


def test_what_is_related_says_how_sure_and_which_way(window, related):
    told = window.ask("find_related_observations", id=str(related[1]))
    assert [
        (row["id"], row["relation"], row["direction"], row["confidence"]) for row in told["observations"]
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
    told = window.ask("explain_search_ranking", query=query, top_n=20)
    recalled = window.ask("cortex_recall", query=query, alpha=1, limit=20, explain=True)["results"]
    assert [one["id"] for one in told["explanations"]] == [one["number"] for one in recalled]
    for one, other in zip(told["explanations"], recalled, strict=True):
        assert one["parts"] == other["explain"]
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=2e-3)
    assert any("title" in one["matched_fields"] for one in told["explanations"])


def test_an_edit_is_found_at_once_and_keeps_what_there_was(window, related):
    told = window.ask(
        "edit_observation",
        id=str(related[1]),
        title="Fixed the walrus race",
        concepts=["walrus"],
        files_read=["b.py"],
    )
    assert told["updated"] == ["concepts", "files_read", "title"]
    assert told["observation"]["files_modified"] == ["src/net/queue.py"]
    assert told["observation"]["files_read"] == ["b.py"]
    assert titles(window.ask("search", query="walrus")) == ["Fixed the walrus race"]
    window.ask("memory_undo")
    assert window.ask("get_observation", id=str(related[1]))["title"] == "Fixed a race in the retry queue"
    with pytest.raises(BadRequest, match="what is to be changed"):
        window.ask("edit_observation", id=str(related[1]))


def test_tags_keep_their_order_each_once(window, related):
    def tag(mode, *tags):
        return window.ask("tag_observation", id=str(related[0]), tags=list(tags), mode=mode)["current_tags"]

    assert tag("add", "Gotcha", "New One", "network") == ["network", "gotcha", "new-one"]
    assert tag("remove", "gotcha") == ["network", "new-one"]
    assert tag("set", "b", "a", "b") == ["b", "a"]
    with pytest.raises(BadRequest, match="`tags` is empty"):
        tag("add")


def test_a_merge_loses_nothing_and_ends_the_source(window, related):
    source, target = str(related[1]), str(related[2])
    told = window.ask("merge_observations", source_id=source, target_id=target, boost=0.2)
    assert told["target_new_score"] == pytest.approx(told["target_old_score"] + 0.2)
    kept = window.ask("get_observation", id=target)
    assert set(kept["files_modified"]) == {"src/net/queue.py", "src/net/retry.py"}
    assert "network" in kept["concepts"]
    assert window.ask("get_observation", id=source)["superseded_by"] == related[2]
    neighbours = window.ask("find_related_observations", id=target)["observations"]
    assert [row["id"] for row in neighbours] == [related[0]]
    assert "Fixed a race in the retry queue" not in titles(window.ask("search", query="race retry queue"))
    assert "Fixed a race in the retry queue" in titles(
        window.ask("search", query="race retry queue", include="superseded")
    )
    window.ask("memory_undo")
    assert not window.ask("get_observation", id=source)["is_superseded"]
    with pytest.raises(BadRequest, match="into itself"):
        window.ask("merge_observations", source_id=source, target_id=source)


def test_bulk_calls_say_how_many_and_which_were_not_there(window, related):
    ids = [str(number) for number in related]
    told = window.ask("bulk_boost_observations", ids=[*ids, "4711"], boost=0.3)
    assert (told["boosted"], told["total"]) == (3, 4)
    assert "4711" in told["errors"][0]
    assert window.ask("get_observation", id=ids[0])["importance_score"] == 1.0
    assert window.ask("bulk_mark_superseded", ids=ids[:1], superseded_by=ids[2])["updated"] == 1
    assert window.ask("get_observation", id=ids[0])["superseded_by"] == related[2]
    assert window.ask("bulk_delete_observations", ids=ids[1:])["deleted"] == 2
    assert window.ask("get_observation", id=ids[1])["state"] == "deleted"
    assert titles(window.ask("search", query="race retry queue")) == []
    window.ask("memory_undo")
    assert "Fixed a race in the retry queue" in titles(window.ask("search", query="race retry queue"))
    for refused in ([], ["1"] * 1_001):
        with pytest.raises(BadRequest):
            window.ask("bulk_delete_observations", ids=refused)
    with pytest.raises(NotFound):
        window.ask("bulk_delete_observations", ids=["4711"])


def test_a_bulk_call_that_is_sent_twice_is_done_once(window, related):
    calls = [
        window.memory.call(
            "observation.bulk_boost_observations",
            {"ids": [str(related[1])], "boost": 0.1},
            operation_id="one",
            writes=True,
        )
        for _ in range(2)
    ]
    told = [asyncio.run(call) for call in calls]
    assert told[0] == told[1]
    assert window.ask("get_observation", id=str(related[1]))["importance_score"] == pytest.approx(0.6)


@pytest.mark.usefixtures("shop")
def test_tags_by_a_pattern_touch_what_matches_and_nothing_without_being_told(window):
    dry = window.ask("batch_tag_by_pattern", pattern="retr(y|ies)", tags=["retrying"], regex=True)
    assert (dry["dry_run"], dry["matches_found"]) == (True, 4)
    assert window.ask("get_observations_by_tag", tag="retrying")["count"] == 0
    done = window.ask("batch_tag_by_pattern", pattern="RETRY", tags=["retrying"], dry_run=False)
    assert done["tagged_count"] == done["matches_found"] == 3
    assert window.ask("get_observations_by_tag", tag="retrying")["count"] == 3
    assert window.ask("batch_tag_by_pattern", pattern="retr(y", tags=["x"])["matches_found"] == 0
    with pytest.raises(BadRequest, match="no regular expression"):
        window.ask("batch_tag_by_pattern", pattern="retr(y", tags=["x"], regex=True)


def test_an_export_in_pages_comes_back_whole(window, related, open_window, tmp_path, library):
    data, cursor = "", ""
    while cursor is not None:
        page = window.ask("export_observations", format="jsonl", limit=3, cursor=cursor)
        data += page["data"]
        cursor = page.get("next_cursor")
    before = window.ask("export_observations", limit=1_000)["observations"]
    assert len(before) == 9
    lines = [orjson.loads(line) for line in data.splitlines()]
    ids = [line["note"]["id"] for line in lines[1:]]
    window.ask("bulk_delete_observations", ids=ids)
    for line in lines[1:]:
        line["note"]["updated_at"] += 10**12
    assert library.of(project="here").import_records(lines, trusted=True)["merged"] == 9
    after = window.ask("export_observations", limit=1_000)["observations"]
    assert [replaced(row) for row in after] == [replaced(row) for row in before]
    assert window.ask("export_observations", format="markdown", limit=1)["data"].startswith("---\nid: ")
    with pytest.raises(BadRequest, match="next_cursor"):
        window.ask("export_observations", cursor="x")


def replaced(row):
    return row | {"updated_at": ""}


def test_completeness_has_one_scale(window, fill):
    fill(
        record("A", 0, body="x" * 60, facts=["one", "two"], labels=["a", "b"], files=["a.py"]),
        record("B", 1, body="short"),
    )
    first, second = (window.ask("search", orderBy="date_asc")["results"][at]["id"] for at in (0, 1))
    good, poor = (window.ask("get_observation_quality", id=str(one)) for one in (first, second))
    assert (good["completeness_score"], good["quality_tier"], good["suggestions"]) == (5.0, "excellent", [])
    assert (poor["completeness_score"], poor["quality_tier"], len(poor["suggestions"])) == (1.5, "poor", 4)
    report = window.ask("get_data_quality_report")
    assert report["quality_summary"]["average_score"] == pytest.approx(3.25)
    assert report["quality_summary"]["distribution"] == {"excellent": 1, "good": 0, "fair": 0, "poor": 1}
    assert {one["issue"]: one["ids"] for one in report["top_issues"]} == {
        "related to nothing": [second, first]
    }


def test_trends_count_every_note_in_utc_with_days_without_any(window, fill, library):
    library.memory.now = lambda: BEGIN + 10 * DAY_MS
    fill(*(record(f"N{at}", at % 3, labels=["a"] if at % 2 else ["b"]) for at in range(150)))
    told = window.ask("get_temporal_trends", days=11)
    assert list(told["distribution"].values()) == [50, 50, 50, *[0] * 8]
    assert next(iter(told["distribution"])) == "2023-11-14"
    assert told["summary"] == {
        "total_observations": 150,
        "daily_average": 13.64,
        "peak_period": "2023-11-14",
        "peak_count": 50,
    }
    assert told["type_distribution"] == {"change": 150}
    assert told["top_concepts"] == [{"concept": "a", "count": 75}, {"concept": "b", "count": 75}]
    weeks = window.ask("get_temporal_trends", days=11, group_by="week")["distribution"]
    assert weeks == {"2023-W46": 150, "2023-W47": 0}
    hours = window.ask("get_temporal_trends", days=11, group_by="hour_of_day")["distribution"]
    assert (len(hours), hours["22"]) == (24, 150)


def test_the_parts_of_a_score_add_up_to_it_and_importance_does_not_fade(window, fill, library):
    fill(record("Old", 0, obs_type="bugfix", labels=["security"], importance=0.8, feedback=1))
    library.memory.now = lambda: BEGIN + 700 * DAY_MS
    told = window.ask("get_observation_scoring_breakdown", id="1")
    parts = [value for name, value in told["scoring"].items() if name.endswith(("_contrib", "core_score"))]
    assert sum(parts) == pytest.approx(told["scoring"]["final_score"])
    assert told["scoring"]["final_score"] == pytest.approx(0.30 + 0.06, abs=1e-3)
    assert told["observation"]["importance_score"] == 0.8


@pytest.mark.usefixtures("shop")
def test_what_was_asked_is_counted_without_its_secrets(window, open_window):
    for query in ("dark theme", "Dark theme ", "AKIAIOSFODNN7EXAMPLE volcano", "volcano quartz xylophone"):
        window.ask("search", query=query)
    told = window.ask("analyze_search_patterns")
    assert (told["total_searches"], told["unique_queries"]) == (4, 3)
    assert (told["top_queries"][0]["query"].strip().lower(), told["top_queries"][0]["count"]) == (
        "dark theme",
        2,
    )
    assert told["top_queries"][0]["avg_results"] >= 1
    assert "AKIA" not in orjson.dumps(told).decode()
    assert any("xylophone" in one["query"] for one in told["zero_result_queries"])
    assert open_window(project="bank").ask("analyze_search_patterns")["total_searches"] == 0


@pytest.mark.usefixtures("shop")
def test_importance_is_told_of_what_counts_and_what_is_used(window):
    window.ask("get_observation", id="5")
    told = window.ask("analyze_observation_importance", limit=2)
    assert told["feedback_stats"]["total"] == 9
    assert told["top_scoring_observations"][0]["title"] == "Retries use back-off with jitter"
    assert [row["id"] for row in told["most_retrieved_observations"]] == [5]
    assert told["concept_weights"]["security"] == 0.30
    assert "concept_weights" not in window.ask(
        "analyze_observation_importance", include_concept_weights=False
    )


@pytest.mark.usefixtures("shop")
def test_the_health_of_memory_is_that_of_its_parts(window, library):
    told = window.ask("check_system_health")
    assert (told["overall_status"], told["health_score"]) == ("healthy", 100)
    workers = told["subsystems"]["workers"]["metrics"]
    assert workers["lock_owner"] == workers["memory"]["pid"]
    assert told["subsystems"]["indexes"]["metrics"]["lag"] == {"words": 0, "vectors": 0, "edges": 0}
    library.memory.vectors.drop([1, 2])
    sick = window.ask("check_system_health")
    assert sick["health_score"] == 85
    assert sick["subsystems"]["vectors"]["metrics"]["missing"] == 2


@pytest.mark.usefixtures("shop")
def test_the_counts_of_memory_are_those_of_the_store(window):
    window.ask("search", query="dark theme")
    told = window.ask("get_memory_stats")
    assert told["observations"]["by_type"]["discovery"] == 3
    assert told["observations"]["total"] == sum(told["observations"]["by_state"].values()) == 9
    assert told["vector_count"] == 10
    assert told["search"]["by_tool"] == {"search": 1}
    assert told["search"]["avg_latency_ms"] > 0


def test_every_tool_has_its_row_and_says_truly_whether_it_writes():
    offered = choose(("memory-all",))
    assert set(ROWS) <= set(offered)
    for name, row in ROWS.items():
        hints = describe(offered[name])["annotations"]
        assert hints["readOnlyHint"] == (not row.writes), name
        assert hints["destructiveHint"] == row.writes, name
    assert {"search", "timeline", "get_observation"} <= {line.name for line in TOOLSETS["memory"]}


def test_what_reads_changes_nothing_in_the_store(window, related, library):
    before = library.memory.store.reached
    asked = {
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
            window.ask(name, **{argument: asked[argument] for argument in wanted})
    assert library.memory.store.reached == before


def test_another_agents_window_has_the_same_observations(open_window, window):
    window.ask("cortex_store", title="The lighthouse is green")
    other = open_window()
    other.memory.source = replace(other.memory.source, session="another")
    assert titles(other.ask("search", query="lighthouse")) == ["The lighthouse is green"]


def example_of(name):
    """The call that the page shows of a tool."""
    section = (DOCS / "TOOLS.md").read_text().partition(f"### `{name}`")[2].split("\n### ")[0]
    return orjson.loads(re.search(r"```json\n(.*?)\n```", section, re.DOTALL)[1])


@pytest.mark.usefixtures("shop")
def test_the_example_of_every_tool_can_be_called_as_it_is_shown(window):
    for name in ROWS:
        assert isinstance(window.ask(name, **example_of(name)), dict), name


def test_a_session_is_found_by_what_was_said_and_so_is_what_was_asked(window, library):
    said = {"question": "Why does the walrus deployment fail?", "answer": "The disk is full."}
    assert window.ask("search_sessions", query=said["question"])["results"] == []
    assert window.ask("search", type="sessions", query=said["question"])["results"] == []
    assert window.ask("search", type="prompts", query=said["question"])["total_count"] == 0
    assert window.ask("list_sessions")["total_count"] == 0
    with pytest.raises(BadQuery):
        window.ask("search_sessions", query=" ")


@pytest.mark.usefixtures("shop")
def test_what_people_think_of_a_note_is_counted_and_can_be_taken_back(window):
    window.ask("memory_rate", node_id="1")
    window.ask("memory_rate", node_id="2", value=-1)
    stats = window.ask("analyze_observation_importance")["feedback_stats"]
    assert (stats["positive"], stats["negative"], stats["neutral"]) == (1, 1, 7)
    told = window.ask("get_observation", id="1")
    assert (told["user_feedback"], told["retrieval_count"]) == (1, 2)
    assert window.ask("get_observation_scoring_breakdown", id="1")["scoring"]["feedback_contrib"] == 0.3
    window.ask("memory_undo")
    assert window.ask("get_observation", id="2")["user_feedback"] == 0
    with pytest.raises(BadRequest, match="value is 5"):
        window.ask("memory_rate", node_id="1", value=5)


def test_forgetting_for_good_forgets_what_was_asked(window, library):
    window.ask("cortex_store", title="The walrus is called Wally")
    window.ask("search", query="walrus called Wally")
    finish(library.erase(["1"]))
    assert window.ask("analyze_search_patterns")["total_searches"] == 0
