"""Records of the calls of a project, their lifetime, and the figures of `cortex stats`."""

import asyncio
import dataclasses
import datetime as dt
import json

import orjson
import pytest

from cortex.front import usage
from cortex.front.cli.commands import run
from cortex.front.cli.stats import summarise
from cortex.front.link import Link
from cortex.front.tools import TOOLS
from cortex.front.usage import Call, Usage, read_calls
from cortex.settings.config import Config, load
from cortex.system.errors import EXIT_OK, BadRequest


@pytest.fixture
def config(tmp_path):
    project_config = Config(root=tmp_path)
    project_config.run_dir.mkdir(parents=True, mode=0o700)
    return project_config


def answer_of(served, tool, **arguments):
    called = TOOLS[tool]
    return asyncio.run(called.call(served.context(), called.check(arguments)))


def note(config, *calls):
    async def all_of_them():
        notes = Usage(config)
        for call in calls:
            notes.note(*call)
        notes.flush()

    asyncio.run(all_of_them())


def test_an_answer_is_noted_with_its_tokens_and_those_of_the_files_that_it_names(sample):
    arguments = {"query": "store a value", "limit": 2, "detail": "snippet"}
    answer = answer_of(sample, "cortex_search", **arguments)
    sample.config.run_dir.mkdir(parents=True, exist_ok=True)
    note(sample.config, ("cortex_search", 0.0125, "ok", arguments, answer))
    [call] = read_calls(sample.config)
    hits = orjson.loads(orjson.dumps(answer))["results"]
    names = {hit["chunk"]["metadata"]["file_path"] for hit in hits}
    size = sum((sample.config.root / name).stat().st_size for name in names)
    assert (call.tool, call.ms, call.files, call.question) == ("cortex_search", 12.5, size // 4, "")
    assert call.tokens > 0


def test_what_a_person_browses_on_the_page_is_not_noted(config):
    async def browse():
        notes = Usage(config)
        notes.note("cortex_uses", 0.01, "ok", {"symbol": "a_name_of_a_text"}, {"sites": []}, agent=usage.PAGE)
        notes.flush()

    asyncio.run(browse())
    assert not [*read_calls(config)]


def test_files_that_callers_are_in_count_each_once_as_they_are_named_with_their_lines(sample):
    arguments = {"operation": "callers", "target": "rotate"}
    answer = orjson.loads(orjson.dumps(answer_of(sample, "cortex_graph", **arguments)))
    sample.config.run_dir.mkdir(parents=True, exist_ok=True)
    note(sample.config, ("cortex_graph", 0.0125, "ok", arguments, answer))
    *_, call = read_calls(sample.config)
    names = {row["at"].rpartition(":")[0] for row in answer["results"]}
    assert names
    assert call.files >= sum((sample.config.root / name).stat().st_size for name in names) // 4 > 0


def test_usage_stores_only_queries_without_results(config):
    answer = {"results": [{"file_path": "a.py"}]}
    note(
        config,
        ("cortex_exact", 0.001, "ok", {"query": "here"}, answer),
        ("cortex_exact", 0.001, "ok", {"query": "not here"}, {"results": []}),
        ("cortex_exact", 0.001, "bad_request", {"query": "wrong"}, None),
    )
    assert [call.question for call in read_calls(config)] == ["", "not here", ""]
    [path] = config.run_dir.glob("usage-*")
    assert path.stat().st_mode & 0o077 == 0
    assert b"wrong" not in path.read_bytes()


def test_nothing_is_noted_where_it_is_switched_off(config):
    off = dataclasses.replace(config, server=dataclasses.replace(config.server, stats=False))
    note(off, ("cortex_exact", 0.001, "ok", {"query": "x"}, {"results": []}))
    assert not list(read_calls(config))
    assert off.hash() == config.hash()


def test_notes_of_more_than_thirty_days_ago_go_with_the_first_of_a_day(config):
    def path(days_ago):
        day = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=days_ago)
        return config.run_dir / f"usage-{day}.jsonl"

    old, recent = path(30), path(29)
    for file in (old, recent):
        file.write_bytes(b'{"tool":"cortex_exact","at":1,"ms":1.0}\nhalf a li')
        file.chmod(0o600)
    note(config, ("cortex_search", 0.001, "ok", {}, {"results": []}))
    assert (old.exists(), recent.exists()) == (False, True)
    assert [call.tool for call in read_calls(config)] == ["cortex_exact", "cortex_search"]
    assert [call.tool for call in read_calls(config, 1)] == ["cortex_search"]


def test_a_day_has_a_bound_and_a_folder_that_is_gone_costs_nothing_but_the_notes(config, monkeypatch):
    monkeypatch.setattr(usage, "DAY_BYTES_MAX", 100)
    for _ in range(9):
        note(config, ("cortex_exact", 0.001, "ok", {}, {"results": [1]}))
    assert 0 < len(list(read_calls(config))) < 9
    gone = Config(root=config.root / "elsewhere")
    note(gone, ("cortex_exact", 0.001, "ok", {}, {"results": []}))
    assert not list(read_calls(gone))


def test_each_call_of_a_front_is_noted_also_one_that_is_refused(config, monkeypatch):
    monkeypatch.setattr("cortex.front.link.FIRST_GENERATION_S", 0.05)

    async def ask():
        link = Link(config)
        await link.call(TOOLS["cortex_outline"], {})
        with pytest.raises(BadRequest):
            await link.call(TOOLS["cortex_pattern"], {"pattern": ""})
        await link.close()

    asyncio.run(ask())
    assert [(call.tool, call.code) for call in read_calls(config)] == [
        ("cortex_outline", "ok"),
        ("cortex_pattern", "bad_request"),
    ]


def test_calls_are_summed_by_tool_the_most_called_first():
    summary = summarise(
        [
            Call("cortex_exact", 1, 5.0, tokens=10, files=100),
            Call("cortex_search", 1, 1.0, tokens=1, files=7),
            Call("cortex_exact", 1, 15.0, question="lost"),
            Call("cortex_exact", 1, 25.0, code="unavailable", question="lost"),
        ]
    )
    assert [row["tool"] for row in summary["tools"]] == ["cortex_exact", "cortex_search"]
    assert summary["tools"][0] == {
        "tool": "cortex_exact", "calls": 3, "failed": 1, "nothing_found": 2, "p50_ms": 15.0, "p95_ms": 25.0,
        "tokens": 10, "tokens_of_files": 100,
    }  # fmt: skip
    assert (summary["all"]["calls"], summary["all"]["tokens_of_files"]) == (4, 107)
    assert summary["nothing_found"] == [{"question": "lost", "times": 2}]


def test_stats_prints_the_figures_and_questions_without_results(tmp_path, capsys):
    assert run(["stats", "--project", str(tmp_path)]) == EXIT_OK
    assert "This project has no calls yet." in capsys.readouterr().out
    config = load(str(tmp_path))
    config.run_dir.mkdir(parents=True, mode=0o700, exist_ok=True)
    note(config, ("cortex_exact", 0.002, "ok", {"query": "lost\x1b[31m"}, {"results": []}))
    assert run(["stats", "--project", str(tmp_path)]) == EXIT_OK
    output = capsys.readouterr().out
    assert "cortex_exact" in output
    assert "1 ×  lost" in output
    assert "\x1b[31m" not in output
    assert run(["stats", "--json", "--project", str(tmp_path)]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["all"]["calls"] == 1
