"""The command line against a real project and real workers."""

import json

import pytest

from cortex.front.cli.main import main
from tests.e2e.conftest import BIN
from tests.wait_until import until

pytestmark = pytest.mark.e2e


def lines(process):
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_a_project_is_indexed_searched_and_shown_from_the_shell(project):
    first_run = project.run("index")
    assert first_run.returncode == 0
    assert all(line.startswith(("indexing:", "serving:")) for line in first_run.stderr.splitlines())
    assert first_run.stdout.startswith("3 files: 3 indexed (3 now, 0 unchanged); ")
    second_run = project.run("index", "--verbose")
    assert "3 indexed (0 now, 3 unchanged)" in second_run.stdout
    (project.root / "blank.py").write_text("\n")
    (project.root / "long.js").write_text("x" * 50_000)
    (project.root / "large.py").write_text("x = 1\n" * 400_000)
    report = project.run("index").stdout
    assert report.startswith(
        "6 files: 3 indexed (0 now, 3 unchanged), 1 without text, 2 left out (1 of them unread);"
    )

    assert project.run("status").returncode == 3
    project.environment["CORTEX_SERVER_IDLE_EXIT_S"] = "60"  # one set for all commands from here on
    searched = project.run("search", "how is the password compared", "-k", "2")
    assert searched.returncode == 0
    assert searched.stdout.startswith("auth/login.py:")
    assert "check_password" in searched.stdout

    exact = project.run("exact", "TransferFunds", "--json")
    answer = json.loads(exact.stdout)
    assert (exact.returncode, answer["match_type"]) == (0, "exact")
    assert list(answer)[-1] == "index"

    places = lines(project.run("search", "-q", "exponential backoff", "--jsonl"))
    assert places[0]["file"] == "docs/guide.md"
    assert set(places[0]) == {"file", "start", "end", "score"}
    assert [place["score"] for place in places] == sorted((place["score"] for place in places), reverse=True)

    nothing = project.run("exact", "zzyzxquux")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "zzyzxquux" in nothing.stderr

    outline = project.run("outline", "auth/login.py")
    assert (outline.returncode, outline.stdout.splitlines()[0]) == (0, "auth/login.py")
    assert "check_password" in outline.stdout
    shape = project.run("pattern", "len($TEXT)", "python")
    assert (shape.returncode, shape.stdout.partition(":")[0]) == (0, "auth/login.py")
    hits = json.loads(project.run("context", "how is the password compared", "-k", "1", "--json").stdout)[
        "hits"
    ]
    assert [hit["file"] for hit in hits] == ["auth/login.py"]

    documents = lines(project.run("search", "money", "--type", "documentation", "--jsonl"))
    assert {place["file"] for place in documents} == {"docs/guide.md"}

    assert project.run("up", "--detach").returncode == 0
    project.member("watcher")
    why = project.run("why", "auth/login.py", "how is the password compared")
    assert why.returncode == 0
    verdict, place = why.stdout.splitlines()
    assert verdict.startswith("auth/login.py is indexed: ")
    assert place.startswith("  1. auth/login.py:")
    assert project.run("why", "how is the password compared").stdout.splitlines()[0] == place
    status = project.run("status", "--json")
    status_report = json.loads(status.stdout)
    assert (status.returncode, status_report["set"]["running"], status_report["index"]["chunks"] > 3) == (
        0,
        True,
        True,
    )
    assert set(status_report["workers"]) == {"vector", "text", "graph", "watcher"}
    assert status_report["index"]["degraded"] == []

    entry = {"command": str(BIN / "cortex"), "args": ["mcp", "--for", "agent"]}
    (project.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"cortex": entry}}))
    checks = {check["name"]: check for check in json.loads(project.run("doctor", "--json").stdout)}
    assert checks["agents"]["state"] == "fine"
    assert f"Claude Code ({project.root}/.mcp.json) answers, version" in checks["agents"]["text"]
    assert project.run("down").returncode == 0
    assert "No workers are running" in project.run("down").stdout


#: modules that no query needs: libraries for other commands, for people, and for files
NEVER = {"mcp", "rich", "shtab", "yaml", "pathspec", "re2", "unidiff", "tantivy", "usearch", "tree_sitter"}
#: modules that a query to one worker does not need either
ALONE = {"numpy", "cortex.query.parse", "cortex.ranking", "cortex.ask.search", "cortex.ask.exploring.explore"}
QUESTIONS = (
    (("exact", "TransferFunds"), ALONE),
    (("graph", "callers", "check_password"), ALONE),
    (("outline", "auth"), ALONE),
    (("search", "how is the password compared"), {"cortex.ask.exploring.explore"}),
    (("related", "auth/login.py"), {"cortex.ask.exploring.explore"}),
    (("explore", "how is the password compared"), set()),
)


def test_a_question_from_the_shell_loads_only_what_it_needs(project, monkeypatch):
    assert project.run("up", "--detach").returncode == 0
    until(lambda: project.run("exact", "TransferFunds").returncode == 0, "something is served")
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    for question, unneeded in QUESTIONS:
        done = project.run(*question)
        assert done.returncode in (0, 1), done.stderr[-500:]
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
        assert "cortex.ask.query_context" in loaded
        assert (question, loaded & (NEVER | unneeded)) == (question, set())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("search",), 2, "pass one question"),
        (("search", "  "), 2, "query is empty"),
        (("search", "x", "--detail", "nope"), 2, "it takes auto"),
        (("search", "x", "--mode", "magic"), 2, "it takes hybrid, semantic"),
        (("exact", "word~9"), 2, "distance"),
        (("nonsense",), 2, "nonsense"),
        (("mcp", "--toolsets", "cod"), 2, "toolset"),
    ],
)
def test_wrong_usage_is_a_sentence_and_exit_code_2(project, capsys, arguments, code, words):
    assert main([*arguments, "--project", str(project.root)]) == code
    output, sentence = capsys.readouterr()
    assert words in sentence
    assert "Traceback" not in sentence
    assert output == ""
