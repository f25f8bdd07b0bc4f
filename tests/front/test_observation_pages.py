"""Every list of observations page by page, and every answer within its tokens."""

import itertools
from shutil import copytree

import orjson
import pytest

from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.terms.observations import REQUIRED, ROWS, TOKENS
from tests.front.conftest import Window
from tests.front.test_code_notes import Desk
from tests.shop import BEGIN, record

COUNT = 9
QUERY = "which rule does the parser follow"
#: tool, its arguments besides the page, key of its rows
LISTS = (
    ("search", {}, "results"),
    ("search", {"query": QUERY}, "results"),
    ("search", {"query": QUERY, "orderBy": "date_asc"}, "results"),
    ("search", {"type": "sessions", "query": "walrus"}, "results"),
    ("search", {"type": "prompts", "query": "walrus"}, "results"),
    ("timeline", {"dateStart": "2023-01-01", "before": 2, "after": 2}, "results"),
    ("search_sessions", {"query": "walrus"}, "results"),
    ("list_sessions", {}, "results"),
    ("decisions", {"query": QUERY}, "results"),
    ("changes", {"query": QUERY}, "results"),
    ("how_it_works", {"query": QUERY}, "results"),
    ("find_by_concept", {"concepts": "parser"}, "results"),
    ("find_by_file", {"files": "src/parser.py"}, "results"),
    ("find_by_type", {"type": "bugfix"}, "results"),
    (
        "find_similar_observations",
        {"query": "The parser follows rule 3", "min_similarity": 0.3},
        "observations",
    ),
    ("find_related_observations", {"id": "1"}, "observations"),
    ("get_recent_context", {}, "results"),
    ("get_observations_by_tag", {"tag": "parser"}, "observations"),
    ("get_observation_relationships", {"id": "1"}, "relations"),
    ("suggest_consolidations", {"min_similarity": 0.8}, "groups"),
    ("get_patterns", {}, "patterns"),
)
RECURRING = (
    ("The invoice export loses cents", "Rounding happens on each line."),
    ("A login cookie expires at midnight", "Its clock is that of the browser."),
    ("The deployment script leaves containers", "Nobody stops the old ones."),
    ("Dark colours hide the buttons", "Their contrast is too low."),
)


def tell_sessions(library, count):
    for at in range(count):
        parts = [
            {
                "begins": True,
                "at": BEGIN + at,
                "user": f"Feed the walrus for the {at}. time",
                "assistant": "Fed.",
            }
        ]
        session = {
            "kind": "claude",
            "source_id": f"s{at}",
            "workstation": "w",
            "file": f"/{at}",
            "last_at": BEGIN + at,
        }
        portion = {
            "session": session,
            "start": 0,
            "place": {"offset": 9, "size": 9, "tail": ""},
            "parts": parts,
        }
        finish(carry_out(library, "take_session", {"portion": portion}, project="here"))
    library.memory.exchange_index.commit(wait=True)


@pytest.fixture(scope="module")
def paged_window(tmp_path_factory, empty):
    """A window on a store in which each list has more than one page."""
    folder = tmp_path_factory.mktemp("paged")
    with Library.open(copytree(empty, folder / "data")) as library:
        window = Window(library, folder)
        rules = {"labels": ["parser"], "files": ["src/parser.py"], "obs_type": "bugfix"}
        records = [record(f"The parser follows rule {at} {'x' * at}", at, **rules) for at in range(COUNT)]
        library.of(project="here").import_records(records, trusted=True)
        for at in range(2, COUNT):
            window.ask("cortex_relate", from_id="1", to_id=str(at))
        for session in ("Ada", "Ben", "Cleo"):
            of = library.of(project="here", source=Source("claude", session))
            for what, why in RECURRING:
                of.store(f"{what}, seen by {session}", why, kind="event")
        tell_sessions(library, COUNT)
        window.ask("run_consolidation", cycle="associations")
        yield window


def row_key(row):
    """Return the identity of a row."""
    return orjson.dumps(row.get("id", row.get("primary")), option=orjson.OPT_SORT_KEYS)


def pages(window, tool, arguments, name, most=60):
    """Return the rows of all pages."""
    rows, offset = [], 0
    for _ in range(most):
        page = window.ask(tool, **arguments, offset=offset)
        rows += [row_key(row) for row in page[name]]
        if "next_offset" not in page:
            return rows
        assert page["next_offset"] == len(rows)
        offset = page["next_offset"]
    raise AssertionError("There is no end of pages.")


@pytest.mark.parametrize(("tool", "arguments", "name"), LISTS)
def test_every_list_has_each_of_its_rows_on_one_page(paged_window, tool, arguments, name):
    allowed = ROWS[tool].arguments
    all_of_it = (
        {"limit": 100} if "limit" in allowed else {"before": 100, "after": 100} if "before" in allowed else {}
    )
    few = {"limit": 2} if "limit" in allowed else {"before": 1, "after": 0} if "before" in allowed else {}
    full_page = paged_window.ask(tool, **(arguments | all_of_it), max_tokens=50_000)
    assert "next_offset" not in full_page
    rows = [row_key(row) for row in full_page[name]]
    assert len(rows) == len(set(rows)) > 3
    for some in (few, all_of_it | {"max_tokens": 300}):
        assert pages(paged_window, tool, arguments | some, name) == rows


def test_every_tool_that_takes_an_offset_is_paged_here():
    assert {name for name, row in ROWS.items() if "offset" in row.arguments} == {tool for tool, _, _ in LISTS}


ARGUMENTS = {
    "query": "which rule does the parser follow " + "and why " * 60,
    "anchor_id": "7",
    "id": "7",
    "concepts": "parser",
    "tag": "parser",
    "files": "src",
    "type": "bugfix",
}
PATHS = tuple(f"src/a/long/way/down/to/the/module/number_{at:02}.py" for at in range(14))


@pytest.fixture(scope="module")
def stale(tmp_path_factory, serve, empty):
    """A window on a project with notes about many files, all changed since."""
    root = tmp_path_factory.mktemp("stale") / "project"
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("A = 1\n")
    served = serve(root)
    with Library.open(copytree(empty, root.parent / "data")) as library:
        desk = Desk(served, Window(library, root).memory)
        for at in range(12):
            desk.ask(
                "cortex_store",
                title=f"The parser follows rule {at} <note> {'x' * 9 * at}",
                body="It says <note> so. " * 40 * at,
                tags=["parser"],
                facts=["A fact of it"] * at,
                obs_type="bugfix",
                files=list(PATHS),
                supersedes=[],
            )
        for at in range(2, 12):
            desk.ask("cortex_relate", from_id="7" if at != 7 else "1", to_id=str(at))
        for path in PATHS:
            (root / path).write_text("A = 2\n")
        tell_sessions(library, 3)
        yield desk


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not row.writes])
def test_no_answer_is_above_its_tokens_however_stale_and_long_its_notes_are(stale, name):
    allowed = ROWS[name].arguments
    required = {argument: ARGUMENTS[argument] for argument, value in allowed.items() if value is REQUIRED}
    required |= {"min_similarity": 0.0} if name == "find_similar_observations" else {}
    required |= {"query": "walrus " + "and " * 200} if name == "search_sessions" else {}
    full = {"format": "full"} if allowed.get("format") == "index" else {}
    least = int(allowed["max_tokens"].least) if "max_tokens" in allowed else TOKENS
    for tokens in (
        (least, least + 17, 2 * least, 5 * least, 1_999, 4_000) if "max_tokens" in allowed else (TOKENS,)
    ):
        arguments = required | full | ({"max_tokens": tokens} if "max_tokens" in allowed else {})
        answer = stale.ask(name, **arguments)
        assert len(orjson.dumps(answer)) <= 4 * max(tokens, least), (tokens, answer)
        assert all(answer.get(rows, True) for rows in ("results", "observations", "relations"))


THEN = (
    ("search", {}),
    ("search", {"query": "which port has the gateway", "obs_type": "bugfix"}),
    ("decisions", {"query": "which port has the gateway"}),
    ("changes", {"query": "which port has the gateway"}),
    ("how_it_works", {"query": "which port has the gateway"}),
    ("find_by_type", {"type": "bugfix"}),
    ("find_by_file", {"files": "src/old.py"}),
    ("find_by_file", {"files": "src/old.py", "orderBy": "date_asc"}),
    ("find_by_concept", {"concepts": "old"}),
    ("find_by_concept", {"concepts": "old,net", "match": "all"}),
    ("get_observations_by_tag", {"tag": "old"}),
    ("get_recent_context", {}),
    ("timeline", {"dateStart": "2023-01-01"}),
    ("timeline", {"query": "which port has the gateway"}),
    ("get_context_timeline", {"anchor_id": "1"}),
    ("get_timeline_by_query", {"query": "which port has the gateway"}),
)


def test_every_list_can_show_an_earlier_state(window, library):
    clock = itertools.count(BEGIN, 1_000)
    library.memory.now = library.memory.store._now = lambda: next(clock)
    fields = {"obs_type": "bugfix", "files": ["src/old.py"], "tags": ["old", "net"]}
    old = window.ask("cortex_store", title="The gateway has port 8080", **fields)
    then = str(next(clock))
    fields = {"obs_type": "feature", "files": ["src/new.py"], "tags": ["new"]}
    window.ask("cortex_store", id=old["id"], title="The gateway has no port", **fields)
    window.ask("cortex_store", title="The gateway has port 9090", supersedes=[old["id"]], **fields)
    for tool, arguments in THEN:
        rows = "observations" if tool == "get_observations_by_tag" else "results"
        believed = [row["title"] for row in window.ask(tool, **arguments, as_of=then)[rows]]
        assert believed == ["The gateway has port 8080"], (tool, arguments)
        current = [row["title"] for row in window.ask(tool, **arguments)[rows]]
        assert "The gateway has port 8080" not in current, (tool, arguments)
    assert {name for name, row in ROWS.items() if "as_of" in row.arguments} == {tool for tool, _ in THEN}
