"""The expected answer of each observation tool after a generated life: a check for every tool, by
its name. A check undoes its changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from cortex.memory.observations.scoring import TYPE_WEIGHTS
from tests.generated_life import (
    CHANGED,
    CONCEPTS,
    DAY_MS,
    FILES,
    SECRET,
    TYPES,
    Life,
    Planted,
    word_of,
)

Note = Mapping[str, Any]
Check = Callable[["Expectations"], None]

#: rows of a page: all of their files are checked
PAGE = 20
CHECKS: dict[str, Check] = {}


def check_of(tool: str) -> Callable[[Check], Check]:
    def take(check: Check) -> Check:
        CHECKS[tool] = check
        return check

    return take


@dataclass(frozen=True)
class Expectations:
    """The expectations for a life. `ask`: calls a tool; `numbers`: title → number."""

    ask: Callable[..., dict[str, Any]]
    life: Life
    planted: Planted
    numbers: Mapping[str, int]

    def titles(self, **wanted: Callable[[Note], bool]) -> set[str]:
        """Return the titles of the notes that hold and fit."""
        return {
            title
            for title, note in self.life.notes.items()
            if note["state"] == "active" and all(fits(note) for fits in wanted.values())
        }

    def in_time(self) -> list[str]:
        """Return the titles of the notes that hold, the oldest first."""
        return sorted(self.titles(), key=lambda title: (self.life.notes[title]["at"], self.numbers[title]))

    def some(self, count: int = 4) -> list[str]:
        """Return titles from all of the time."""
        order = self.in_time()
        return [order[at * (len(order) - 1) // (count - 1)] for at in range(count)]

    def id(self, title: str) -> str:
        return str(self.numbers[title])

    def pages(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows of all pages; check that `stale` is right in each row of a note that
        holds.
        """
        rows, offset = list[dict[str, Any]](), 0
        while True:
            page = self.ask(tool, **arguments, offset=offset, limit=PAGE)
            rows += page.get("results", page.get("observations"))
            if "next_offset" not in page:
                break
            offset = page["next_offset"]
        for row in rows:
            note = self.life.notes.get(row["title"])
            assert note is None or bool(row.get("stale")) == is_stale(note), row
        return rows

    def all_titles(self, tool: str, **arguments: Any) -> set[str]:
        """Return the titles on all pages, each once."""
        rows = [row["title"] for row in self.pages(tool, **arguments)]
        assert len(rows) == len(set(rows))
        return set(rows)

    def undo(self) -> None:
        self.ask("memory_undo")


def is_stale(note: Note) -> bool:
    """Return whether a file of the note was changed, or is none of the project's."""
    return any(path in CHANGED or path not in FILES for path in note["files"])


@check_of("search")
def _search(expected: Expectations) -> None:
    assert expected.all_titles("search") == expected.titles()
    assert expected.all_titles("search", include="superseded") == set(expected.life.notes)
    bank = {entry["note"]["title"] for entry in expected.life.entries if entry["project"] == "bank"}
    assert expected.all_titles("search", project="bank") == bank
    assert any(is_stale(note) for note in expected.life.notes.values())


@check_of("timeline")
def _timeline(expected: Expectations, tool: str = "timeline") -> None:
    order = expected.in_time()
    for title in expected.some():
        at = order.index(title)
        rows = expected.ask(tool, anchor_id=expected.id(title), before=3, after=4, max_tokens=9_000)[
            "results"
        ]
        assert [row["title"] for row in rows] == order[max(0, at - 3) : at + 5]


@check_of("get_context_timeline")
def _context(expected: Expectations) -> None:
    _timeline(expected, "get_context_timeline")


@check_of("get_timeline_by_query")
def _by_query(expected: Expectations) -> None:
    for title in expected.some():
        answer = expected.ask("get_timeline_by_query", query=title, before=1, after=1)
        assert answer["anchor_id"] == expected.numbers[title]


@check_of("get_observation")
def _observation(expected: Expectations) -> None:
    for title in (*expected.some(), *expected.life.replaced):
        note, answer = expected.life.notes[title], expected.ask("get_observation", id=expected.id(title))
        assert (answer["title"], answer["state"], answer["obs_type"]) == (
            title,
            note["state"],
            note["obs_type"],
        )
        assert (set(answer["concepts"]), set(answer["files"])) == (set(note["tags"]), set(note["files"]))
        assert bool(answer.get("stale")) == is_stale(note)
        by = expected.life.replaced.get(title)
        assert answer["superseded_by"] == (expected.numbers[by[0]] if by else None)


@check_of("search_sessions")
def _sessions(expected: Expectations) -> None:
    names = _named_sessions(expected)
    for at in {0, len(names) // 2, len(names) - 1}:
        [row] = expected.ask("search_sessions", query=f"milestone{word_of(at)}")["results"]
        assert row["source_id"] == names[at]


@check_of("list_sessions")
def _list(expected: Expectations) -> None:
    rows, offset = list[str](), 0
    while offset is not None:
        page = expected.ask("list_sessions", limit=7, offset=offset)
        rows += [row["source_id"] for row in page["results"]]
        offset = page.get("next_offset")
    assert sorted(rows) == _named_sessions(expected)


def _named_sessions(expected: Expectations) -> list[str]:
    return sorted({entry["session"] for entry in expected.life.entries})


@check_of("decisions")
def _decisions(expected: Expectations) -> None:
    current = expected.titles(topic=lambda note: "topic" in note)
    for title in sorted(current):
        query = f"what did we decide on for {expected.life.notes[title]['topic']}"
        found_titles = [row["title"] for row in expected.ask("decisions", query=query)["results"]]
        assert found_titles[0] == title
        assert not set(found_titles) & set(expected.life.replaced)


@check_of("changes")
def _changes(expected: Expectations) -> None:
    _found_first(expected, "changes", ("bugfix", "feature", "refactor", "change"))


@check_of("how_it_works")
def _how(expected: Expectations) -> None:
    _found_first(expected, "how_it_works", ("discovery",))


def _found_first(expected: Expectations, tool: str, types: tuple[str, ...]) -> None:
    titles = sorted(
        expected.titles(
            type=lambda note: note["obs_type"] in types, step=lambda note: note.get("step", 0) > 0
        )
    )
    for title in titles[:: max(1, len(titles) // 5)]:
        assert expected.ask(tool, query=title)["results"][0]["title"] == title


@check_of("find_by_concept")
def _by_concept(expected: Expectations) -> None:
    for first, other in pairwise(CONCEPTS):
        both = expected.titles(tags=lambda note, a=first, b=other: {a, b} <= set(note["tags"]))
        assert expected.all_titles("find_by_concept", concepts=f"{first},{other}", match="all") == both
    some = expected.titles(tags=lambda note: {"network", "storage"} & set(note["tags"]))
    assert expected.all_titles("find_by_concept", concepts="network,storage") == some


@check_of("get_observations_by_tag")
def _by_tag(expected: Expectations) -> None:
    for tag in CONCEPTS:
        wanted = expected.titles(tags=lambda note, it=tag: it in note["tags"])
        assert expected.all_titles("get_observations_by_tag", tag=tag) == wanted


@check_of("find_by_file")
def _by_file(expected: Expectations) -> None:
    for path in FILES:
        wanted = expected.titles(files=lambda note, it=path: it in note["files"])
        assert expected.all_titles("find_by_file", files=path) == wanted


@check_of("find_by_type")
def _by_type(expected: Expectations) -> None:
    for obs_type in TYPES:
        wanted = expected.titles(type=lambda note, it=obs_type: note["obs_type"] == it)
        assert expected.all_titles("find_by_type", type=obs_type) == wanted


@check_of("find_similar_observations")
def _similar(expected: Expectations) -> None:
    for pair in expected.planted.alike:
        rows = expected.ask("find_similar_observations", query=pair[0], min_similarity=0.6)["observations"]
        assert set(pair) <= {row["title"] for row in rows}
        assert all(row["similarity"] >= 0.6 for row in rows)


@check_of("find_related_observations")
def _related(expected: Expectations) -> None:
    first, *others = sorted(expected.planted.recurring)
    answer = expected.ask("find_related_observations", id=expected.id(first), limit=100, max_tokens=50_000)
    rows = answer["observations"]
    assert set(others) <= {row["title"] for row in rows} <= expected.titles()
    assert [row["confidence"] for row in rows] == sorted((row["confidence"] for row in rows), reverse=True)


@check_of("get_observation_relationships")
def _relationships(expected: Expectations) -> None:
    for old, (new, _) in expected.life.replaced.items():
        rows = expected.ask("get_observation_relationships", id=expected.id(old), max_depth=1)["relations"]
        ends = {(row["source_title"], row["type"], row["target_title"]) for row in rows}
        assert (new, "supersedes", old) in ends


@check_of("get_recent_context")
def _recent(expected: Expectations) -> None:
    order = expected.in_time()[::-1]
    assert [row["title"] for row in expected.ask("get_recent_context", limit=10)["results"]] == order[:10]


@check_of("explain_search_ranking")
def _explain(expected: Expectations) -> None:
    for query in ("which part keeps cookies", "what is there about prices"):
        rows = expected.ask("explain_search_ranking", query=query, top_n=10, max_tokens=50_000)[
            "explanations"
        ]
        results = expected.ask("search", query=query, limit=10, max_tokens=50_000)["results"]
        assert [row["id"] for row in rows] == [row["id"] for row in results]
        assert all(abs(sum(row["parts"].values()) - row["score"]) < 2e-3 for row in rows)


@check_of("get_patterns")
def _patterns(expected: Expectations) -> None:
    numbers = {expected.numbers[title] for title in expected.planted.recurring}
    observation_ids = [
        pattern["observation_ids"] for pattern in expected.ask("get_patterns", query="midnight")["patterns"]
    ]
    assert numbers in [set(ids) for ids in observation_ids]


@check_of("suggest_consolidations")
def _suggest(expected: Expectations) -> None:
    suggestions = expected.ask("suggest_consolidations", min_similarity=0.9, limit=50, max_tokens=50_000)[
        "groups"
    ]
    groups = [{row["title"] for row in (group["primary"], *group["similar"])} for group in suggestions]
    assert all(any(set(pair) <= group for group in groups) for pair in expected.planted.alike)


@check_of("edit_observation")
def _edit(expected: Expectations) -> None:
    title = expected.some()[1]
    expected.ask("edit_observation", id=expected.id(title), title="Otherwise", facts=["One"], scope="global")
    answer = expected.ask("get_observation", id=expected.id(title))
    assert (answer["title"], answer["facts"], answer["scope"]) == ("Otherwise", ["One"], "global")
    expected.undo()
    assert expected.ask("get_observation", id=expected.id(title))["title"] == title


@check_of("tag_observation")
def _tag(expected: Expectations) -> None:
    title = expected.some()[2]
    before = expected.ask("get_observation", id=expected.id(title))["concepts"]
    answer = expected.ask("tag_observation", id=expected.id(title), tags=["Made Up"])
    assert answer["current_tags"] == [*before, "made-up"]
    assert expected.all_titles("get_observations_by_tag", tag="made-up") == {title}
    expected.undo()
    assert expected.all_titles("get_observations_by_tag", tag="made-up") == set()


@check_of("merge_observations")
def _merge(expected: Expectations) -> None:
    [source, target] = expected.some()[1:3]
    notes = expected.life.notes
    expected.ask("merge_observations", source_id=expected.id(source), target_id=expected.id(target))
    answer = expected.ask("get_observation", id=expected.id(target))
    assert set(answer["files"]) == {*notes[source]["files"], *notes[target]["files"]}
    assert set(answer["concepts"]) == {*notes[source]["tags"], *notes[target]["tags"]}
    assert (
        expected.ask("get_observation", id=expected.id(source))["superseded_by"] == expected.numbers[target]
    )
    expected.undo()
    assert expected.all_titles("search") == expected.titles()


@check_of("bulk_delete_observations")
def _delete(expected: Expectations) -> None:
    gone = expected.some()
    answer = expected.ask("bulk_delete_observations", ids=[expected.id(title) for title in gone])
    assert (answer["deleted"], expected.all_titles("search")) == (len(gone), expected.titles() - {*gone})
    expected.undo()
    assert expected.all_titles("search") == expected.titles()


@check_of("bulk_mark_superseded")
def _mark(expected: Expectations) -> None:
    [old, new] = expected.some()[1:3]
    answer = expected.ask("bulk_mark_superseded", ids=[expected.id(old)], superseded_by=expected.id(new))
    assert (answer["updated"], expected.all_titles("search")) == (1, expected.titles() - {old})
    expected.undo()
    assert expected.all_titles("search") == expected.titles()


@check_of("bulk_boost_observations")
def _boost(expected: Expectations) -> None:
    for title in expected.some()[1:3]:
        was = expected.ask("get_observation", id=expected.id(title))["importance_score"]
        assert expected.ask("bulk_boost_observations", ids=[expected.id(title)], boost=0.9)["boosted"] == 1
        answer = expected.ask("get_observation", id=expected.id(title))["importance_score"]
        assert answer == min(1, round(was + 0.9, 6))
        expected.undo()
        assert expected.ask("get_observation", id=expected.id(title))["importance_score"] == was


@check_of("batch_tag_by_pattern")
def _batch(expected: Expectations) -> None:
    wanted = {
        title for title in expected.titles() if "prices" in f"{title} {expected.life.notes[title]['body']}"
    }
    arguments = {"pattern": r"\bprices\b", "regex": True, "tags": ["priced"], "max_matches": 500}
    answer = expected.ask("batch_tag_by_pattern", **arguments)
    matched = {row["title"] for row in answer["matches"]}  # as many as there is room for
    assert matched == wanted or (answer["left_out"] and matched < wanted)
    assert answer["matches_found"] == len(wanted)
    assert expected.all_titles("get_observations_by_tag", tag="priced") == set()
    assert expected.ask("batch_tag_by_pattern", **arguments, dry_run=False)["tagged_count"] == len(wanted)
    assert expected.all_titles("get_observations_by_tag", tag="priced") == wanted
    expected.undo()
    assert expected.all_titles("get_observations_by_tag", tag="priced") == set()


@check_of("export_observations")
def _export(expected: Expectations) -> None:
    data, cursor = "", ""
    while cursor is not None:
        page = expected.ask("export_observations", format="jsonl", cursor=cursor)
        data, cursor = data + page["data"], page.get("next_cursor")
    assert len(data.splitlines()) == 1 + len(expected.titles())
    assert any(SECRET in entry["note"].get("body", "") for entry in expected.life.entries)
    assert SECRET not in data


@check_of("get_memory_stats")
def _stats(expected: Expectations) -> None:
    answer = expected.ask("get_memory_stats")
    notes = expected.life.notes.values()
    assert answer["observations"]["by_state"] == dict(Counter(note["state"] for note in notes))
    assert answer["observations"]["by_type"] == dict(Counter(note["obs_type"] for note in notes))
    assert answer["sessions"]["total"] == len(_named_sessions(expected))
    assert answer["relations"]["by_type"]["supersedes"] == len(expected.life.replaced)


@check_of("get_observation_quality")
def _quality(expected: Expectations) -> None:
    for title in expected.some(8):
        note, answer = (
            expected.life.notes[title],
            expected.ask("get_observation_quality", id=expected.id(title)),
        )
        stats = answer["field_stats"]
        assert (stats["facts"], stats["concepts"], stats["files"]) == tuple(
            len(note[name]) for name in ("facts", "tags", "files")
        )
        assert answer["completeness_score"] == round(sum(stats["parts"].values()), 4)


@check_of("get_data_quality_report")
def _report(expected: Expectations) -> None:
    answer = expected.ask("get_data_quality_report", limit=500)
    assert answer["analyzed"] == min(500, len(expected.titles()))
    assert sum(answer["quality_summary"]["distribution"].values()) == answer["analyzed"]
    assert not {"same title as another", "no embedding"} & {issue["issue"] for issue in answer["top_issues"]}


@check_of("get_temporal_trends")
def _trends(expected: Expectations) -> None:
    life, days = expected.life, expected.life.days + 3
    end = datetime.fromtimestamp(life.end / 1000, UTC)
    names = [(end - timedelta(days=at)).strftime("%Y-%m-%d") for at in range(days - 1, -1, -1)]
    moments = [datetime.fromtimestamp(note["at"] / 1000, UTC) for note in life.notes.values()]
    counts = Counter(moment.strftime("%Y-%m-%d") for moment in moments)
    answer = expected.ask("get_temporal_trends", days=days, max_tokens=50_000)
    assert answer["distribution"] == {name: counts[name] for name in names}
    assert answer["type_distribution"] == dict(Counter(note["obs_type"] for note in life.notes.values()))
    weeks = expected.ask("get_temporal_trends", days=days, group_by="week")["distribution"]
    assert {name: count for name, count in weeks.items() if count} == dict(
        Counter("{}-W{:02}".format(*moment.isocalendar()) for moment in moments)
    )


@check_of("get_observation_scoring_breakdown")
def _breakdown(expected: Expectations) -> None:
    for title in expected.some(6):
        note = expected.life.notes[title]
        scoring = expected.ask("get_observation_scoring_breakdown", id=expected.id(title))["scoring"]
        parts = [value for name, value in scoring.items() if name.endswith(("_contrib", "core_score"))]
        assert abs(sum(parts) - scoring["final_score"]) < 1e-5
        assert scoring["type_weight"] == TYPE_WEIGHTS[note["obs_type"]]
        assert scoring["age_days"] == round((expected.life.end - note["at"]) / DAY_MS, 3)


@check_of("analyze_observation_importance")
def _importance(expected: Expectations) -> None:
    answer = expected.ask("analyze_observation_importance", limit=5)
    assert answer["feedback_stats"]["total"] == len(expected.titles())
    best = max(expected.life.notes[title]["importance"] for title in expected.titles())
    assert round(answer["top_scoring_observations"][0]["importance_score"], 6) == best


@check_of("analyze_search_patterns")
def _search_patterns(expected: Expectations) -> None:
    counts = [len(expected.ask("search", query="volcanoes under quartz")["results"]) for _ in range(3)]
    queries = expected.ask("analyze_search_patterns", top_n=50, max_tokens=50_000)["top_queries"]
    [row] = [entry for entry in queries if entry["query"] == "volcanoes under quartz"]
    assert row["count"] % 3 == 0
    assert row["avg_results"] == counts[0]
    assert row["zero_result_count"] == (0 if counts[0] else row["count"])


@check_of("run_consolidation")
def _consolidate(expected: Expectations) -> None:
    assert "superseded" not in expected.ask("run_consolidation", dry_run=True)


@check_of("trigger_maintenance")
def _maintain(expected: Expectations) -> None:
    answer = expected.ask("trigger_maintenance")
    assert (answer["status"], answer["deleted_count"]) == ("completed", 0)
    assert expected.all_titles("search", include="superseded") == set(expected.life.notes)


@check_of("get_maintenance_stats")
def _maintenance(expected: Expectations) -> None:
    answer = expected.ask("get_maintenance_stats")
    assert (answer["enabled"], answer["running"], answer["total_cleaned_obs"]) == (True, False, 0)
    assert answer["consolidation"]["last_run"]


@check_of("check_system_health")
def _health(expected: Expectations) -> None:
    subsystems = expected.ask("check_system_health")["subsystems"]
    assert set(subsystems["indexes"]["metrics"]["lag"].values()) == {0}
    assert subsystems["database"]["metrics"]["observations"] == len(expected.life.notes)
    assert subsystems["workers"]["metrics"]["lock_owner"] == subsystems["workers"]["metrics"]["memory"]["pid"]
