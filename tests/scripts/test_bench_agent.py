"""The agent benchmark's arithmetic: lines that count as shown, tasks, and searches with ripgrep."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


@pytest.fixture
def load(monkeypatch):
    """Return a function that loads a module of the folder tasks."""
    monkeypatch.syspath_prepend(BENCH)
    return lambda name: importlib.import_module(f"tasks.{name}")


def task(load, kind="trace", question="How is it sent?", places=(("a.py", 1, 1),), **more):
    records = load("records")
    needed = tuple(records.Place(*place) for place in places)
    return records.Task(more.pop("id", "r-1"), more.pop("repo", "r"), kind, question, needed, **more)


def test_the_tasks_cover_every_kind_and_twelve_repositories(load):
    records = load("records")
    tasks = records.read_tasks()
    assert len(tasks) >= 60
    assert len({entry.id for entry in tasks}) == len(tasks)
    assert {entry.kind for entry in tasks} == set(records.KINDS)
    assert len({entry.repo for entry in tasks}) >= 12
    assert {entry.repo for entry in tasks} == {entry.name for entry in records.read_repositories()}
    for entry in tasks:
        assert 1 <= len(entry.lines) <= 9, entry.id
        assert all(place.has and place.start <= place.end for place in entry.needed), entry.id
        assert records.as_line(entry) in (BENCH / "tasks" / "agent.jsonl").read_text().splitlines(), entry.id


def test_each_kind_of_task_has_the_fields_that_its_calls_need(load):
    for entry in load("records").read_tasks():
        wanted = {
            "rename": entry.target,
            "callers": entry.target,
            "tests": entry.target and entry.path,
            "module": entry.path,
            "pattern": entry.pattern and entry.language and entry.grep,
        }.get(entry.kind, entry.question)
        assert wanted, entry.id


def test_half_of_the_repositories_are_kept_for_judging_whatever_else_is_there(load):
    records = load("records")
    assert [records.is_for_judging(name) for name in ("click", "zod", "redis", "cobra")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_tree_that_is_not_the_one_of_the_task_is_named(load, tmp_path):
    records = load("records")
    (tmp_path / "a.py").write_text("def save():\n    pass\n")

    def faults(*place):
        return records.faults([task(load, places=[place])], tmp_path)

    assert faults("a.py", 1, 1, "save") == []
    assert "does not hold" in faults("a.py", 2, 2, "save")[0]
    assert "no lines" in faults("a.py", 2, 9, "")[0]
    assert "no lines" in faults("b.py", 1, 1, "")[0]


CHUNK = {
    "id": "code-a.py#~1",
    "text": "def save(self):\n    return self.store",
    "metadata": {"file_path": "a.py", "start_line": 10, "end_line": 11, "comment_text": "Saves."},
}


def test_a_line_counts_when_a_chunk_shows_its_text_within_its_lines(load):
    answers = load("answers")
    pieces = answers.read_cortex(json.dumps({"results": [{"chunk": CHUNK, "combined_score": 0.5}]}))
    texts = {
        ("a.py", 11): "        return self.store",
        ("a.py", 90): "return self.store",
        ("b.py", 11): "return self.store",
    }
    assert answers.count_shown([("a.py", 11)], texts, pieces) == 1
    assert answers.count_shown([("a.py", 90), ("b.py", 11)], texts, pieces) == 0
    assert answers.count_shown([("a.py", 11)], {("a.py", 11): "return self.other"}, pieces) == 0


def test_lines_around_a_call_and_signatures_of_a_map_count(load):
    answers = load("answers")
    graph = {
        "results": [
            {
                "node": {
                    "id": "a:Store.save",
                    "file": "a.py",
                    "start_line": 10,
                    "end_line": 19,
                    "signature": "save(self)",
                },
                "location": {"file": "a.py", "line": 14},
                "context": [{"line": 13, "text": ""}, {"line": 14, "text": "self.write()"}],
            }
        ]
    }
    outline = {
        "results": [
            {"file": "b.py", "symbols": [{"name": "Disk.load", "lines": [5, 9], "signature": "load(self)"}]}
        ]
    }
    tests = {"tests": [{"file": "t.py", "line": 3, "tests": ["TestStore.test_save"], "why": ["calls"]}]}
    shape = {
        "results": [{"file": "p.ts", "start_line": 7, "end_line": 7, "column": 9, "text": "throw new Gone()"}]
    }
    pieces = [
        piece
        for answer in (graph, outline, tests, shape)
        for piece in answers.read_cortex(json.dumps(answer))
    ]
    texts = {
        ("a.py", 14): "    self.write()",
        ("a.py", 11): "    def save(self):",
        ("b.py", 5): "    def load(self):",
        ("t.py", 40): "def test_save(tmp_path):",
        ("t.py", 50): "def test_save_twice(tmp_path):",
        ("p.ts", 7): "  if (!it) throw new Gone();",
        ("a.py", 16): "    return 1",
    }
    visible_lines = [line for line in texts if answers.count_shown([line], texts, pieces)]
    assert visible_lines == [("a.py", 14), ("a.py", 11), ("b.py", 5), ("t.py", 40), ("p.ts", 7)]


def test_the_parts_of_an_answer_add_up_to_its_bytes(load):
    text = json.dumps(
        {
            "results": [{"chunk": CHUNK | {"tags": ["code"]}, "combined_score": 0.5}],
            "total": 1,
            "index": {"generation": 3},
        },
        separators=(",", ":"),
    )
    parts = load("answers").parts_of(text)
    assert parts.total() == len(text)
    assert parts["comment_text"] == len('"comment_text":"Saves."')
    assert parts["text"] == len('"text":"def save(self):\\n    return self.store"')
    assert parts["index"] == len('"index":{"generation":3}')


def test_output_of_the_peers_is_parsed(load):
    answers = load("answers")
    row = {"file_path": "a.py", "start_line": 3, "end_line": 9, "content": "def save():\n    pass"}
    texts = {("a.py", 3): "def save():", ("b.go", 12): "func Save() {", ("b.go", 40): "func Load() {"}
    assert answers.count_shown([("a.py", 3)], texts, answers.read_semble(json.dumps({"results": [row]}))) == 1
    printed = (
        "- `Load` (b.go:40) — 1 caller\n\n**`b.go`** — Save(function)\n\n```go\n12\tfunc Save() {\n```\n"
    )
    assert answers.count_shown(list(texts), texts, answers.read_codegraph(printed)) == 2
    assert answers.read_semble("not ready") == []


def test_a_changed_line_is_mapped_to_the_revision_before_other_changes(load):
    history = load("history")
    hunks = history.hunks_of("@@ -2,0 +3,2 @@\n+a\n+b\n@@ -10,2 +12 @@\n-c\n-d\n+e\n@@ -20,3 +20,0 @@\n")
    assert [history.mapped_back(line, hunks) for line in (2, 3, 4, 5, 11, 12, 13, 20, 21)] == [
        2, 0, 0, 3, 9, 0, 12, 19, 23,
    ]  # fmt: skip
    assert history.changed_lines(hunks) == [2, 10, 11, 20, 21, 22]


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        ("fix(core): keep the order of equal keys (#123)", "keep the order of equal keys"),
        ("[3.13] LANG-17: Drop cookies on redirect", "Drop cookies on redirect"),
        ("[PR #9/ab backport][3.13] Drop cookies on redirect", ""),
        ("Bump actions/checkout from 4 to 5", ""),
        ("Fix typo in the message of save", ""),
        ("Fix leak", ""),
        ("Handle an empty list in store.py without an error", ""),
    ],
)
def test_only_subjects_that_say_what_is_to_be_done_are_questions(load, subject, question):
    assert load("history").question_of(subject) == question


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_a_commit_becomes_a_task_with_the_lines_it_changed_in_the_past(load, tmp_path):
    records, source = load("records"), tmp_path / "store.py"
    git(tmp_path, "init", "-q", "-b", "main")

    def commit(text, subject):
        source.write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", subject)
        return git(tmp_path, "rev-parse", "HEAD")

    old = "import os\n\n\ndef save(path):\n    # where it goes\n    return path.write_text('saved')\n"
    revision = commit(old, "Begin")
    commit("import os\nimport sys\n" + old.partition("\n")[2], "Import the module of the system too")
    now = commit(source.read_text().replace("'saved'", "'done'"), "Write another word when it is saved (#7)")
    repository = records.Repository("r", "python", "https://github.com/a/r.git", revision)
    (proposed,) = load("history").History(tmp_path, repository).propose()
    assert (proposed.question, proposed.commit) == ("Write another word when it is saved", now[:12])
    assert proposed.needed == (records.Place("store.py", 6, 6, "write_text"),)
    folder = load("trees").check_out(tmp_path, repository, tmp_path / "trees" / "r")
    assert (folder / "store.py").read_text() == old
    assert records.faults([proposed], folder) == []


def test_names_and_words_are_those_of_the_question(load):
    shell = load("shell")
    assert shell.names_of("What does `trust_env` do to Client.send and maxRedirects?") == [
        "trust_env",
        "send",
        "maxRedirects",
    ]
    assert shell.names_of("How does a request reach its handler?") == []
    assert shell.words_of("How are the redirects followed by the client?") == ["redirect", "follow", "client"]


def test_values_are_left_out_of_a_message_that_is_searched_for(load):
    shell = load("shell")
    assert shell.literals_of('Error: required flag(s) "region" not set') == ["required flag(s)", "not set"]
    assert shell.literals_of("ParseException: Unable to parse the date: 31-31-2020") == [
        "Unable to parse the date"
    ]


def test_frames_of_three_languages_are_opened_in_the_order_of_the_trace(load):
    frames_of = load("shell").frames_of
    assert frames_of('  File "/x/site-packages/a/b.py", line 12, in run') == [("/x/site-packages/a/b.py", 12)]
    assert frames_of("at a.B.run(B.java:31)\nat x (/app/lib/c.js:6:10)") == [
        ("B.java", 31),
        ("/app/lib/c.js", 6),
    ]
    assert frames_of("#0 /app/src/Vite.php(390): chunk()") == [("/app/src/Vite.php", 390)]


@pytest.mark.skipif(shutil.which("rg") is None, reason="needs ripgrep")
def test_ripgrep_opens_the_window_with_most_words_and_counts_what_is_printed(load, tmp_path):
    lines = ["pass"] * 100
    lines[79] = "def send_request(client):  # follow a redirect"
    (tmp_path / "client.py").write_text("\n".join(lines))
    (tmp_path / "other.py").write_text("redirect = None\n")
    done = load("shell").search(task(load, question="How does the client follow a redirect?"), tmp_path)
    assert done.calls == 2 + 1
    visible_lines = [
        number
        for number in range(1, 101)
        if any(piece.shows("client.py", number, "") for piece in done.pieces)
    ]
    assert visible_lines == list(range(70, 101))
    assert done.bytes > sum(len(line) + 1 for line in lines[69:])


def result_of(load, system, tokens, lines_found, **more):
    entry = task(load, places=(("a.py", 1, 4),), **more)
    return load("figures").TaskResult(system, entry, 1, 4 * tokens, lines_found, 1.0)


def test_systems_are_compared_task_by_task_and_repository_by_repository(load):
    rows = [
        result_of(load, name, tokens, lines_found, id=f"{repo}-1", repo=repo)
        for repo, name, tokens, lines_found in [
            ("click", "grep", 100, 1),
            ("redis", "grep", 100, 1),
            ("click", "cortex", 400, 3),
            ("redis", "cortex", 100, 1),
        ]
    ]
    table = load("figures").tabulate(rows, ["grep", "cortex"])
    assert table["all"]["cortex"] | {"ms_p50": 0, "ms_p95": 0} == {
        "tasks": 2, "calls": 2, "tokens": 500, "needed": 8, "found": 4, "missing": 4, "whole": 0, "nothing": 0,
        "per_1000": 8.0, "ms_p50": 0, "ms_p95": 0, "errors": 0,
    }  # fmt: skip
    assert table["paired"]["cortex"] == {
        "found": 0.25,
        "found_se": 0.25,
        "log2_tokens": 1.0,
        "log2_tokens_se": 1.0,
    }
    assert table["half"]["open"]["grep"]["found"] == 1
    assert set(table["half"]) == {"open", "judging"}


def test_the_program_says_what_it_is_for():
    done = subprocess.run(
        [sys.executable, BENCH / "agent.py", "--help"], check=True, capture_output=True, text=True, timeout=60
    )
    assert "needed lines" in done.stdout
