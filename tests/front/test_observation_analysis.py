"""The tools of observations that analyse many: quality, trends, scores, queries, health."""

import orjson
import pytest

from cortex.memory.library import finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.system.errors import BadRequest
from tests.shop import BEGIN, DAY_MS, record


def test_completeness_has_one_scale(window, fill):
    fill(
        record("A", 0, body="x" * 60, facts=["one", "two"], labels=["a", "b"], files=["a.py"]),
        record("B", 1, body="short"),
    )
    first, second = (window.ask("search", orderBy="date_asc")["results"][at]["id"] for at in (0, 1))
    good, poor = (window.ask("get_observation_quality", id=str(number)) for number in (first, second))
    assert (good["completeness_score"], good["quality_tier"], good["suggestions"]) == (5.0, "excellent", [])
    assert (poor["completeness_score"], poor["quality_tier"], len(poor["suggestions"])) == (1.5, "poor", 4)
    report = window.ask("get_data_quality_report")
    assert report["quality_summary"]["average_score"] == pytest.approx(3.25)
    assert report["quality_summary"]["distribution"] == {"excellent": 1, "good": 0, "fair": 0, "poor": 1}
    assert {issue["issue"]: issue["ids"] for issue in report["top_issues"]} == {
        "related to nothing": [second, first]
    }


def test_trends_count_every_note_in_utc_with_days_without_any(window, fill, library):
    library.memory.now = lambda: BEGIN + 10 * DAY_MS
    fill(*(record(f"N{at}", at % 3, labels=["a"] if at % 2 else ["b"]) for at in range(150)))
    trends = window.ask("get_temporal_trends", days=11)
    assert list(trends["distribution"].values()) == [50, 50, 50, *[0] * 8]
    assert next(iter(trends["distribution"])) == "2023-11-14"
    assert trends["summary"] == {
        "total_observations": 150,
        "daily_average": 13.64,
        "peak_period": "2023-11-14",
        "peak_count": 50,
    }
    assert trends["type_distribution"] == {"change": 150}
    assert trends["top_concepts"] == [{"concept": "a", "count": 75}, {"concept": "b", "count": 75}]
    weeks = window.ask("get_temporal_trends", days=11, group_by="week")["distribution"]
    assert weeks == {"2023-W46": 150, "2023-W47": 0}
    hours = window.ask("get_temporal_trends", days=11, group_by="hour_of_day")["distribution"]
    assert (len(hours), hours["22"]) == (24, 150)


def test_the_parts_of_a_score_add_up_to_it_and_importance_does_not_fade(window, fill, library):
    fill(record("Old", 0, obs_type="bugfix", labels=["security"], importance=0.8, feedback=1))
    library.memory.now = lambda: BEGIN + 700 * DAY_MS
    breakdown = window.ask("get_observation_scoring_breakdown", id="1")
    parts = [
        value for name, value in breakdown["scoring"].items() if name.endswith(("_contrib", "core_score"))
    ]
    assert sum(parts) == pytest.approx(breakdown["scoring"]["final_score"])
    assert breakdown["scoring"]["final_score"] == pytest.approx(0.30 + 0.06, abs=1e-3)
    assert breakdown["observation"]["importance_score"] == 0.8


@pytest.mark.usefixtures("shop")
def test_queries_are_counted_without_their_secrets(window, open_window):
    for query in ("dark theme", "Dark theme ", "AKIAIOSFODNN7EXAMPLE volcano", "volcano quartz xylophone"):
        window.ask("search", query=query)
    patterns = window.ask("analyze_search_patterns")
    assert (patterns["total_searches"], patterns["unique_queries"]) == (4, 3)
    assert (patterns["top_queries"][0]["query"].strip().lower(), patterns["top_queries"][0]["count"]) == (
        "dark theme",
        2,
    )
    assert patterns["top_queries"][0]["avg_results"] >= 1
    assert "AKIA" not in orjson.dumps(patterns).decode()
    assert any("xylophone" in row["query"] for row in patterns["zero_result_queries"])
    assert open_window(project="bank").ask("analyze_search_patterns")["total_searches"] == 0


@pytest.mark.usefixtures("shop")
def test_importance_covers_weight_and_use(window):
    window.ask("get_observation", id="5")
    importance = window.ask("analyze_observation_importance", limit=2)
    assert importance["feedback_stats"]["total"] == 9
    assert importance["top_scoring_observations"][0]["title"] == "Retries use back-off with jitter"
    assert [row["id"] for row in importance["most_retrieved_observations"]] == [5]
    assert importance["concept_weights"]["security"] == 0.30
    assert "concept_weights" not in window.ask(
        "analyze_observation_importance", include_concept_weights=False
    )


@pytest.mark.usefixtures("shop")
def test_the_health_of_memory_is_that_of_its_parts(window, library):
    health = window.ask("check_system_health")
    assert (health["overall_status"], health["health_score"]) == ("healthy", 100)
    workers = health["subsystems"]["workers"]["metrics"]
    assert workers["lock_owner"] == workers["memory"]["pid"]
    assert workers["sessions"] == {"heartbeat": None, "lag": 0}
    carry_out(library, "followed", {}, source=Source(channel="sessions"))
    heard = window.ask("check_system_health")["subsystems"]["workers"]["metrics"]["sessions"]
    assert heard["heartbeat"] is not None
    assert health["subsystems"]["indexes"]["metrics"]["lag"] == {"words": 0, "vectors": 0, "edges": 0}
    library.memory.vectors.drop([1, 2])
    sick = window.ask("check_system_health")
    assert sick["health_score"] == 85
    assert sick["subsystems"]["vectors"]["metrics"]["missing"] == 2


@pytest.mark.usefixtures("shop")
def test_the_counts_of_memory_are_those_of_the_store(window):
    window.ask("search", query="dark theme")
    stats = window.ask("get_memory_stats")
    assert stats["observations"]["by_type"]["discovery"] == 3
    assert stats["observations"]["total"] == sum(stats["observations"]["by_state"].values()) == 9
    assert stats["vector_count"] == 10
    assert stats["search"]["by_tool"] == {"search": 1}
    assert stats["search"]["avg_latency_ms"] > 0


@pytest.mark.usefixtures("shop")
def test_ratings_of_a_note_are_counted_and_can_be_undone(window):
    window.ask("memory_rate", node_id="1")
    window.ask("memory_rate", node_id="2", value=-1)
    stats = window.ask("analyze_observation_importance")["feedback_stats"]
    assert (stats["positive"], stats["negative"], stats["neutral"]) == (1, 1, 7)
    observation = window.ask("get_observation", id="1")
    assert (observation["user_feedback"], observation["retrieval_count"]) == (1, 2)
    assert window.ask("get_observation_scoring_breakdown", id="1")["scoring"]["feedback_contrib"] == 0.3
    window.ask("memory_undo")
    assert window.ask("get_observation", id="2")["user_feedback"] == 0
    with pytest.raises(BadRequest, match="value is 5"):
        window.ask("memory_rate", node_id="1", value=5)


def test_forgetting_for_good_deletes_logged_queries(window, library):
    window.ask("cortex_store", title="The walrus is called Wally")
    window.ask("search", query="walrus called Wally")
    finish(library.erase(["1"]))
    assert window.ask("analyze_search_patterns")["total_searches"] == 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("explain_search_ranking", {"query": "which rule does the parser follow", "top_n": 20}),
        ("get_data_quality_report", {"limit": 60}),
        ("get_temporal_trends", {"days": 365}),
        ("analyze_observation_importance", {"limit": 50}),
        ("analyze_search_patterns", {"top_n": 50}),
    ],
)
def test_every_report_fits_its_tokens_and_names_omitted_parts(window, fill, tool, arguments):
    fill(*(record(f"The parser follows rule {at} of the grammar {'x' * 60}", at % 9) for at in range(60)))
    for at in range(20 if tool == "analyze_search_patterns" else 0):
        window.ask("search", query=f"what of the {at} volcanoes {'y' * 60}")
    full = window.ask(tool, **arguments, max_tokens=50_000)
    assert "left_out" not in full
    small = window.ask(tool, **arguments, max_tokens=400)
    assert len(orjson.dumps(small)) <= 1_600 < len(orjson.dumps(full))
    assert small.keys() - {"left_out"} == full.keys()
    for name, value in small.items():
        if name in small["left_out"]:
            assert len(value) + small["left_out"][name] == len(full[name])
    assert all(left > 0 for left in small["left_out"].values())


def test_an_observation_that_is_too_long_loses_the_ends_of_its_longest_parts_only(window, fill):
    body, facts = "word " * 9_000, [f"Fact {at} of many {'x' * 80}" for at in range(100)]
    fill(record("Long", body=body, facts=facts, labels=["a", "b"], files=["src/a.py"]))
    observation = window.ask("get_observation", id="1")
    assert len(orjson.dumps(observation)) <= 16_000
    assert (observation["title"], observation["concepts"], observation["files"]) == (
        "Long",
        ["a", "b"],
        ["src/a.py"],
    )
    narrative = observation["narrative"].removeprefix("<note>\n").removesuffix("\n</note>")
    assert body.startswith(narrative)
    assert len(narrative) + observation["left_out"]["narrative"] == len(body)
    assert observation["facts"] == facts[: len(observation["facts"])]
    assert observation["facts"]
    [row] = window.ask("export_observations", max_tokens=50_000)["observations"]
    assert "left_out" not in row
