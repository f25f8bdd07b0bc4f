"""The tools of observations that change something: edits, tags, merges, bulk calls, and an export
that comes back.
"""

import asyncio

import orjson
import pytest

from cortex.system.errors import BadRequest, NotFound
from tests.shop import titles


def test_an_edit_is_found_at_once_and_keeps_former_values(window, related):
    answer = window.ask(
        "edit_observation",
        id=str(related[1]),
        title="Fixed the walrus race",
        concepts=["walrus"],
        files_read=["b.py"],
    )
    assert answer["updated"] == ["concepts", "files_read", "title"]
    assert answer["observation"]["files_modified"] == ["src/net/queue.py"]
    assert answer["observation"]["files_read"] == ["b.py"]
    assert titles(window.ask("search", query="walrus")) == ["Fixed the walrus race"]
    window.ask("memory_undo")
    assert window.ask("get_observation", id=str(related[1]))["title"] == "Fixed a race in the retry queue"
    with pytest.raises(BadRequest, match="Nothing to change"):
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
    answer = window.ask("merge_observations", source_id=source, target_id=target, boost=0.2)
    assert answer["target_new_score"] == pytest.approx(answer["target_old_score"] + 0.2)
    merged = window.ask("get_observation", id=target)
    assert set(merged["files_modified"]) == {"src/net/queue.py", "src/net/retry.py"}
    assert "network" in merged["concepts"]
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
    answer = window.ask("bulk_boost_observations", ids=[*ids, "4711"], boost=0.3)
    assert (answer["boosted"], answer["total"]) == (3, 4)
    assert "4711" in answer["errors"][0]
    assert window.ask("get_observation", id=ids[0])["importance_score"] == 1.0
    assert window.ask("bulk_mark_superseded", ids=ids[:1], superseded_by=ids[2])["updated"] == 1
    assert window.ask("get_observation", id=ids[0])["superseded_by"] == related[2]
    assert window.ask("bulk_delete_observations", ids=ids[1:])["deleted"] == 2
    assert window.ask("get_observation", id=ids[1])["state"] == "deleted"
    # another note has "Retry-After"
    assert set(titles(window.ask("search", query="race retry queue"))) <= {
        "The payment provider allows twenty calls a second"
    }
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
    answers = [asyncio.run(call) for call in calls]
    assert answers[0] == answers[1]
    assert window.ask("get_observation", id=str(related[1]))["importance_score"] == pytest.approx(0.6)


@pytest.mark.usefixtures("shop")
def test_tags_by_a_pattern_change_matches_alone_and_nothing_by_default(window):
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
