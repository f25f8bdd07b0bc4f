"""What each of the tools of observations answers after a life of which all is known: a check for
every tool, by its name. What a check changes it takes back.
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
Check = Callable[["Known"], None]

#: rows of a page: all of their files are looked at
PAGE = 20
CHECKS: dict[str, Check] = {}


def of(tool: str) -> Callable[[Check], Check]:
    def take(check: Check) -> Check:
        CHECKS[tool] = check
        return check

    return take


@dataclass(frozen=True)
class Known:
    """`ask`: calls a tool; `numbers`: title → number."""

    ask: Callable[..., dict[str, Any]]
    life: Life
    planted: Planted
    numbers: Mapping[str, int]

    def titles(self, **wanted: Callable[[Note], bool]) -> set[str]:
        """Of the notes that hold and fit."""
        return {
            title
            for title, note in self.life.notes.items()
            if note["state"] == "active" and all(fits(note) for fits in wanted.values())
        }

    def in_time(self) -> list[str]:
        """The titles of the notes that hold, the oldest first."""
        return sorted(self.titles(), key=lambda title: (self.life.notes[title]["at"], self.numbers[title]))

    def some(self, count: int = 4) -> list[str]:
        """Titles from all of the time."""
        order = self.in_time()
        return [order[at * (len(order) - 1) // (count - 1)] for at in range(count)]

    def id(self, title: str) -> str:
        return str(self.numbers[title])

    def pages(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of all pages; each of a note that holds says truly whether it is stale."""
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

    def found(self, tool: str, **arguments: Any) -> set[str]:
        """The titles on all pages, each once."""
        rows = [row["title"] for row in self.pages(tool, **arguments)]
        assert len(rows) == len(set(rows))
        return set(rows)

    def undo(self) -> None:
        self.ask("memory_undo")


def is_stale(note: Note) -> bool:
    """Whether a file of it was changed, or is none of the project's."""
    return any(path in CHANGED or path not in FILES for path in note["files"])


@of("search")
def _search(known: Known) -> None:
    assert known.found("search") == known.titles()
    assert known.found("search", include="superseded") == set(known.life.notes)
    bank = {one["note"]["title"] for one in known.life.told if one["project"] == "bank"}
    assert known.found("search", project="bank") == bank
    assert any(is_stale(note) for note in known.life.notes.values())


@of("timeline")
def _timeline(known: Known, tool: str = "timeline") -> None:
    order = known.in_time()
    for title in known.some():
        at = order.index(title)
        told = known.ask(tool, anchor_id=known.id(title), before=3, after=4, max_tokens=9_000)["results"]
        assert [row["title"] for row in told] == order[max(0, at - 3) : at + 5]


@of("get_context_timeline")
def _context(known: Known) -> None:
    _timeline(known, "get_context_timeline")


@of("get_timeline_by_query")
def _by_query(known: Known) -> None:
    for title in known.some():
        told = known.ask("get_timeline_by_query", query=title, before=1, after=1)
        assert told["anchor_id"] == known.numbers[title]


@of("get_observation")
def _observation(known: Known) -> None:
    for title in (*known.some(), *known.life.replaced):
        note, told = known.life.notes[title], known.ask("get_observation", id=known.id(title))
        assert (told["title"], told["state"], told["obs_type"]) == (title, note["state"], note["obs_type"])
        assert (set(told["concepts"]), set(told["files"])) == (set(note["tags"]), set(note["files"]))
        assert bool(told.get("stale")) == is_stale(note)
        by = known.life.replaced.get(title)
        assert told["superseded_by"] == (known.numbers[by[0]] if by else None)


@of("search_sessions")
def _sessions(known: Known) -> None:
    names = _named_sessions(known)
    for at in {0, len(names) // 2, len(names) - 1}:
        [row] = known.ask("search_sessions", query=f"milestone{word_of(at)}")["results"]
        assert row["source_id"] == names[at]


@of("list_sessions")
def _list(known: Known) -> None:
    rows, offset = list[str](), 0
    while offset is not None:
        page = known.ask("list_sessions", limit=7, offset=offset)
        rows += [row["source_id"] for row in page["results"]]
        offset = page.get("next_offset")
    assert sorted(rows) == _named_sessions(known)


def _named_sessions(known: Known) -> list[str]:
    return sorted({one["session"] for one in known.life.told})


@of("decisions")
def _decisions(known: Known) -> None:
    held = known.titles(topic=lambda note: "topic" in note)
    for title in sorted(held):
        query = f"what did we decide on for {known.life.notes[title]['topic']}"
        told = [row["title"] for row in known.ask("decisions", query=query)["results"]]
        assert told[0] == title
        assert not set(told) & set(known.life.replaced)


@of("changes")
def _changes(known: Known) -> None:
    _found_first(known, "changes", ("bugfix", "feature", "refactor", "change"))


@of("how_it_works")
def _how(known: Known) -> None:
    _found_first(known, "how_it_works", ("discovery",))


def _found_first(known: Known, tool: str, types: tuple[str, ...]) -> None:
    titles = sorted(
        known.titles(type=lambda note: note["obs_type"] in types, step=lambda note: note.get("step", 0) > 0)
    )
    for title in titles[:: max(1, len(titles) // 5)]:
        assert known.ask(tool, query=title)["results"][0]["title"] == title


@of("find_by_concept")
def _by_concept(known: Known) -> None:
    for one, other in pairwise(CONCEPTS):
        both = known.titles(tags=lambda note, a=one, b=other: {a, b} <= set(note["tags"]))
        assert known.found("find_by_concept", concepts=f"{one},{other}", match="all") == both
    some = known.titles(tags=lambda note: {"network", "storage"} & set(note["tags"]))
    assert known.found("find_by_concept", concepts="network,storage") == some


@of("get_observations_by_tag")
def _by_tag(known: Known) -> None:
    for tag in CONCEPTS:
        wanted = known.titles(tags=lambda note, it=tag: it in note["tags"])
        assert known.found("get_observations_by_tag", tag=tag) == wanted


@of("find_by_file")
def _by_file(known: Known) -> None:
    for path in FILES:
        wanted = known.titles(files=lambda note, it=path: it in note["files"])
        assert known.found("find_by_file", files=path) == wanted


@of("find_by_type")
def _by_type(known: Known) -> None:
    for obs_type in TYPES:
        wanted = known.titles(type=lambda note, it=obs_type: note["obs_type"] == it)
        assert known.found("find_by_type", type=obs_type) == wanted


@of("find_similar_observations")
def _similar(known: Known) -> None:
    for pair in known.planted.alike:
        told = known.ask("find_similar_observations", query=pair[0], min_similarity=0.6)["observations"]
        assert set(pair) <= {row["title"] for row in told}
        assert all(row["similarity"] >= 0.6 for row in told)


@of("find_related_observations")
def _related(known: Known) -> None:
    one, *others = sorted(known.planted.recurring)
    told = known.ask("find_related_observations", id=known.id(one), limit=100, max_tokens=50_000)
    rows = told["observations"]
    assert set(others) <= {row["title"] for row in rows} <= known.titles()
    assert [row["confidence"] for row in rows] == sorted((row["confidence"] for row in rows), reverse=True)


@of("get_observation_relationships")
def _relationships(known: Known) -> None:
    for old, (new, _) in known.life.replaced.items():
        rows = known.ask("get_observation_relationships", id=known.id(old), max_depth=1)["relations"]
        ends = {(row["source_title"], row["type"], row["target_title"]) for row in rows}
        assert (new, "supersedes", old) in ends


@of("get_recent_context")
def _recent(known: Known) -> None:
    order = known.in_time()[::-1]
    assert [row["title"] for row in known.ask("get_recent_context", limit=10)["results"]] == order[:10]


@of("explain_search_ranking")
def _explain(known: Known) -> None:
    for query in ("which part keeps cookies", "what is there about prices"):
        rows = known.ask("explain_search_ranking", query=query, top_n=10, max_tokens=50_000)["explanations"]
        found = known.ask("search", query=query, limit=10, max_tokens=50_000)["results"]
        assert [row["id"] for row in rows] == [row["id"] for row in found]
        assert all(abs(sum(row["parts"].values()) - row["score"]) < 2e-3 for row in rows)


@of("get_patterns")
def _patterns(known: Known) -> None:
    numbers = {known.numbers[title] for title in known.planted.recurring}
    found = [one["observation_ids"] for one in known.ask("get_patterns", query="midnight")["patterns"]]
    assert numbers in [set(each) for each in found]


@of("suggest_consolidations")
def _suggest(known: Known) -> None:
    told = known.ask("suggest_consolidations", min_similarity=0.9, limit=50, max_tokens=50_000)["groups"]
    groups = [{one["title"] for one in (group["primary"], *group["similar"])} for group in told]
    assert all(any(set(pair) <= group for group in groups) for pair in known.planted.alike)


@of("edit_observation")
def _edit(known: Known) -> None:
    title = known.some()[1]
    known.ask("edit_observation", id=known.id(title), title="Otherwise", facts=["One"], scope="global")
    told = known.ask("get_observation", id=known.id(title))
    assert (told["title"], told["facts"], told["scope"]) == ("Otherwise", ["One"], "global")
    known.undo()
    assert known.ask("get_observation", id=known.id(title))["title"] == title


@of("tag_observation")
def _tag(known: Known) -> None:
    title = known.some()[2]
    before = known.ask("get_observation", id=known.id(title))["concepts"]
    told = known.ask("tag_observation", id=known.id(title), tags=["Made Up"])
    assert told["current_tags"] == [*before, "made-up"]
    assert known.found("get_observations_by_tag", tag="made-up") == {title}
    known.undo()
    assert known.found("get_observations_by_tag", tag="made-up") == set()


@of("merge_observations")
def _merge(known: Known) -> None:
    [source, target] = known.some()[1:3]
    notes = known.life.notes
    known.ask("merge_observations", source_id=known.id(source), target_id=known.id(target))
    told = known.ask("get_observation", id=known.id(target))
    assert set(told["files"]) == {*notes[source]["files"], *notes[target]["files"]}
    assert set(told["concepts"]) == {*notes[source]["tags"], *notes[target]["tags"]}
    assert known.ask("get_observation", id=known.id(source))["superseded_by"] == known.numbers[target]
    known.undo()
    assert known.found("search") == known.titles()


@of("bulk_delete_observations")
def _delete(known: Known) -> None:
    gone = known.some()
    told = known.ask("bulk_delete_observations", ids=[known.id(title) for title in gone])
    assert (told["deleted"], known.found("search")) == (len(gone), known.titles() - {*gone})
    known.undo()
    assert known.found("search") == known.titles()


@of("bulk_mark_superseded")
def _mark(known: Known) -> None:
    [old, new] = known.some()[1:3]
    told = known.ask("bulk_mark_superseded", ids=[known.id(old)], superseded_by=known.id(new))
    assert (told["updated"], known.found("search")) == (1, known.titles() - {old})
    known.undo()
    assert known.found("search") == known.titles()


@of("bulk_boost_observations")
def _boost(known: Known) -> None:
    for title in known.some()[1:3]:
        was = known.ask("get_observation", id=known.id(title))["importance_score"]
        assert known.ask("bulk_boost_observations", ids=[known.id(title)], boost=0.9)["boosted"] == 1
        told = known.ask("get_observation", id=known.id(title))["importance_score"]
        assert told == min(1, round(was + 0.9, 6))
        known.undo()
        assert known.ask("get_observation", id=known.id(title))["importance_score"] == was


@of("batch_tag_by_pattern")
def _batch(known: Known) -> None:
    wanted = {title for title in known.titles() if "prices" in f"{title} {known.life.notes[title]['body']}"}
    asked = {"pattern": r"\bprices\b", "regex": True, "tags": ["priced"], "max_matches": 500}
    told = known.ask("batch_tag_by_pattern", **asked)
    shown = {one["title"] for one in told["matches"]}  # those for which there is room
    assert shown == wanted or (told["left_out"] and shown < wanted)
    assert told["matches_found"] == len(wanted)
    assert known.found("get_observations_by_tag", tag="priced") == set()
    assert known.ask("batch_tag_by_pattern", **asked, dry_run=False)["tagged_count"] == len(wanted)
    assert known.found("get_observations_by_tag", tag="priced") == wanted
    known.undo()
    assert known.found("get_observations_by_tag", tag="priced") == set()


@of("export_observations")
def _export(known: Known) -> None:
    data, cursor = "", ""
    while cursor is not None:
        page = known.ask("export_observations", format="jsonl", cursor=cursor)
        data, cursor = data + page["data"], page.get("next_cursor")
    assert len(data.splitlines()) == 1 + len(known.titles())
    assert any(SECRET in one["note"].get("body", "") for one in known.life.told)
    assert SECRET not in data


@of("get_memory_stats")
def _stats(known: Known) -> None:
    told = known.ask("get_memory_stats")
    notes = known.life.notes.values()
    assert told["observations"]["by_state"] == dict(Counter(note["state"] for note in notes))
    assert told["observations"]["by_type"] == dict(Counter(note["obs_type"] for note in notes))
    assert told["sessions"]["total"] == len(_named_sessions(known))
    ended = len(known.life.replaced) + len(known.planted.undone)
    assert told["relations"]["by_type"]["supersedes"] == ended


@of("get_observation_quality")
def _quality(known: Known) -> None:
    for title in known.some(8):
        note, told = known.life.notes[title], known.ask("get_observation_quality", id=known.id(title))
        stats = told["field_stats"]
        assert (stats["facts"], stats["concepts"], stats["files"]) == tuple(
            len(note[name]) for name in ("facts", "tags", "files")
        )
        assert told["completeness_score"] == round(sum(stats["parts"].values()), 4)


@of("get_data_quality_report")
def _report(known: Known) -> None:
    told = known.ask("get_data_quality_report", limit=500)
    assert told["analyzed"] == min(500, len(known.titles()))
    assert sum(told["quality_summary"]["distribution"].values()) == told["analyzed"]
    assert not {"same title as another", "no embedding"} & {one["issue"] for one in told["top_issues"]}


@of("get_temporal_trends")
def _trends(known: Known) -> None:
    life, days = known.life, known.life.days + 3
    end = datetime.fromtimestamp(life.end / 1000, UTC)
    names = [(end - timedelta(days=at)).strftime("%Y-%m-%d") for at in range(days - 1, -1, -1)]
    moments = [datetime.fromtimestamp(note["at"] / 1000, UTC) for note in life.notes.values()]
    counts = Counter(moment.strftime("%Y-%m-%d") for moment in moments)
    told = known.ask("get_temporal_trends", days=days, max_tokens=50_000)
    assert told["distribution"] == {name: counts[name] for name in names}
    assert told["type_distribution"] == dict(Counter(note["obs_type"] for note in life.notes.values()))
    weeks = known.ask("get_temporal_trends", days=days, group_by="week")["distribution"]
    assert {name: count for name, count in weeks.items() if count} == dict(
        Counter("{}-W{:02}".format(*moment.isocalendar()) for moment in moments)
    )


@of("get_observation_scoring_breakdown")
def _breakdown(known: Known) -> None:
    for title in known.some(6):
        note = known.life.notes[title]
        told = known.ask("get_observation_scoring_breakdown", id=known.id(title))["scoring"]
        parts = [value for name, value in told.items() if name.endswith(("_contrib", "core_score"))]
        assert abs(sum(parts) - told["final_score"]) < 1e-5
        assert told["type_weight"] == TYPE_WEIGHTS[note["obs_type"]]
        assert told["age_days"] == round((known.life.end - note["at"]) / DAY_MS, 3)


@of("analyze_observation_importance")
def _importance(known: Known) -> None:
    told = known.ask("analyze_observation_importance", limit=5)
    assert told["feedback_stats"]["total"] == len(known.titles())
    best = max(known.life.notes[title]["importance"] for title in known.titles())
    assert round(told["top_scoring_observations"][0]["importance_score"], 6) == best


@of("analyze_search_patterns")
def _asked(known: Known) -> None:
    found = [len(known.ask("search", query="volcanoes under quartz")["results"]) for _ in range(3)]
    told = known.ask("analyze_search_patterns", top_n=50, max_tokens=50_000)["top_queries"]
    [row] = [one for one in told if one["query"] == "volcanoes under quartz"]
    assert row["count"] % 3 == 0
    assert row["avg_results"] == found[0]
    assert row["zero_result_count"] == (0 if found[0] else row["count"])


@of("run_consolidation")
def _consolidate(known: Known) -> None:
    assert "superseded" not in known.ask("run_consolidation", dry_run=True)


@of("trigger_maintenance")
def _maintain(known: Known) -> None:
    told = known.ask("trigger_maintenance")
    assert (told["status"], told["deleted_count"]) == ("completed", 0)
    assert known.found("search", include="superseded") == set(known.life.notes)


@of("get_maintenance_stats")
def _maintained(known: Known) -> None:
    told = known.ask("get_maintenance_stats")
    assert (told["enabled"], told["running"], told["total_cleaned_obs"]) == (True, False, 0)
    assert told["consolidation"]["last_run"]


@of("check_system_health")
def _health(known: Known) -> None:
    told = known.ask("check_system_health")["subsystems"]
    assert set(told["indexes"]["metrics"]["lag"].values()) == {0}
    assert told["database"]["metrics"]["observations"] == len(known.life.notes)
    assert told["workers"]["metrics"]["lock_owner"] == told["workers"]["metrics"]["memory"]["pid"]
