"""The benchmark of real agents: tasks, arms, lines that a look shows, grades."""

import importlib
import json
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "scripts" / "bench"


@pytest.fixture
def load(monkeypatch):
    """Return a function that loads a module of the folder agents."""
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.syspath_prepend(BENCH / "agents")
    return importlib.import_module


def task(load, kind="fix", places=(("a.py", 10, 20),), name="r-1"):
    records = load("records")
    gold = tuple(records.Gold(*place) for place in places)
    return records.Task(name, kind, "owner/r", "0" * 40, "Why?", gold)


def named(load, *texts):
    return [load("records").parse_place(text) for text in texts]


def row(name, command, tokens=0, shown=(), command_tokens=1):
    return {
        "task": name,
        "command": command.split(),
        "tokens": tokens,
        "command_tokens": command_tokens,
        "shown": [list(lines) for lines in shown],
    }


def run_of(arm, tasks, list_tokens=0, prompt_tokens=100):
    return {
        "arm": arm,
        "run": f"{arm}-1-1",
        "tasks": [entry.id for entry in tasks],
        "list_tokens": list_tokens,
        "prompt_tokens": prompt_tokens,
    }


def test_the_tasks_are_eight_of_each_kind_or_more_and_their_gold_is_frozen(load):
    load("gold").check_seal()
    assert load("gold").check(None) == []
    tasks = load("records").read_tasks()
    assert [sum(entry.kind == kind for entry in tasks) for kind in load("records").KINDS] == [16, 8, 8]
    lines = load("records").TASKS.read_text(encoding="utf-8").splitlines()
    assert [load("records").as_line(entry) for entry in tasks] == lines


def test_no_repository_of_the_tasks_was_fitted_on(load):
    fitted = [BENCH / "second_set.tsv", ROOT / "scripts" / "train" / "repositories.tsv"]
    fitted_names = {line.split("\t")[0].lower() for file in fitted for line in file.read_text().splitlines()}
    fitted_names |= {
        entry["url"].lower() for entry in json.loads((BENCH / "agents/repositories.json").read_text())
    }
    pages = " ".join((ROOT / "docs" / name).read_text() for name in ("BENCHMARKS.md", "RANKING.md"))
    for repo in {entry.repo for entry in load("records").read_tasks()}:
        assert not any(repo.lower() in name for name in fitted_names), repo
        assert not re.search(rf"\b{re.escape(repo)}\b", pages), repo


def test_a_fix_is_named_by_its_issue_number_and_a_site_by_its_checker(load):
    for entry in load("records").read_tasks():
        if entry.kind == "fix":
            assert re.match(r"issue \d+, fixed by [0-9a-f]{40}", entry.source), entry.id
        if entry.kind == "breaks":
            assert entry.source.split(",")[0] in ("pyright", "typescript", "javac"), entry.id
            assert all(place.start == place.end for place in entry.gold), entry.id


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a/b.py:12", ("a/b.py", 12, 12)),
        ("./a/b.py:12-30", ("a/b.py", 12, 30)),
        ("`a/b.py:12`,", ("a/b.py", 12, 12)),
        ("a/b.py", None),
        ("a/b.py:x", None),
        (":12", None),
    ],
)
def test_a_place_is_a_path_with_a_line_or_a_range(load, text, place):
    expected = load("records").parse_place(text)
    assert (expected and (expected.file, expected.start, expected.end)) == place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py:15", 1),
        ("a.py:1-10", 1),
        ("a.py:20-30", 1),
        ("a.py:21", 0),
        ("a.py:1-9", 0),
        ("b.py:15", 0),
        ("a.py:1-200", 0),
    ],
)
def test_a_named_place_is_right_if_it_meets_the_gold_and_is_no_whole_file(load, text, expected):
    assert load("records").hits(task(load), named(load, text)) == (expected, expected, 1)


def test_the_line_of_a_call_may_be_off_by_one(load):
    site = task(load, "breaks", [("a.py", 10, 10)])
    names = named(load, "a.py:9", "a.py:11", "a.py:12", "a.py:1-40")
    assert load("records").hits(site, names) == (1, 2, 4)


def test_a_place_that_is_named_twice_counts_once(load):
    both = task(load, places=[("a.py", 10, 20), ("a.py", 30, 40)])
    assert load("records").hits(both, named(load, "a.py:15", "a.py:15", "a.py:35")) == (2, 2, 2)


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    lines = [f"def function_{number}(): return {number}" for number in range(1, 31)]
    (folder / "src" / "a.py").write_text("\n".join(lines) + "\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret\n")
    return folder


def test_the_lines_that_sed_shows_are_those_of_its_command(load, tree):
    shown = load("shown").shown_lines("whatever", ["sed", "-n", "3,5p;29,$p", "src/a.py"], tree)
    assert shown == [["src/a.py", 3, 5], ["src/a.py", 29, 31]]
    assert load("shown").shown_lines("", ["sed", "-n", "1,2p", "absent.py"], tree) == []


def test_the_lines_that_ripgrep_shows_are_numbered(load, tree):
    output = "src/a.py:7:def function_7\nsrc/a.py-8-def function_8\nnowhere.py:9:x\nsrc/a.py: no number\n"
    assert load("shown").shown_lines(output, ["rg", "-n", "7"], tree) == [["src/a.py", 7, 8]]
    alone = load("shown").shown_lines("7:def function_7\n", ["rg", "-n", "7", "src/a.py"], tree)
    assert alone == [["src/a.py", 7, 7]]


@pytest.mark.parametrize(
    "output",
    [
        json.dumps({"file": "src/a.py", "text": "def function_7(): return 7\ndef function_8(): return 8"}),
        "src/a.py:7-8\n    def function_7(): return 7\n    def function_8(): return 8\n",
        "src/a.py\n7  def function_7(): return 7\n8  def function_8(): return 8\n",
        "`src/a.py`\n7: def function_7(): return 7\n8\tdef function_8(): return 8\n",
    ],
)
def test_an_answer_shows_the_lines_whose_text_it_holds_with_their_file(load, tree, output):
    assert load("shown").shown_lines(output, ["cortex_search", "{}"], tree) == [["src/a.py", 7, 8]]
    assert load("shown").shown_lines(output.replace("a.py", "b.py"), ["cortex_search"], tree) == []


def test_a_map_names_places_and_shows_none(load, tree):
    assert load("shown").shown_lines("src/a.py:7-8  function_7\n", ["cortex_search", "{}"], tree) == []


def test_a_line_without_number_needs_a_neighbour(load, tree):
    output = "src/a.py\ndef function_7(): return 7\n"
    assert load("shown").shown_lines(output, ["cortex_search"], tree) == []
    numbered = "src/a.py\n7  def function_7(): return 7\n"
    assert load("shown").shown_lines(numbered, ["cortex_search"], tree) == [["src/a.py", 7, 7]]


@pytest.mark.parametrize(
    "command",
    [
        ["sed", "-i", "s/a/b/", "src/a.py"],
        ["sed", "-n", "1e id", "src/a.py"],
        ["sed", "-n", "1,5p", "../outside"],
        ["sed", "-n", "1,5p", ".git/config"],
        ["rg", "--pre", "id", "x"],
        ["rg", "--hostname-bin=id", "x"],
        ["rg", "x", "/etc"],
        ["rg", "x", "../.."],
        ["rg", "secret", ".git"],
        ["rg", "-L", "x"],
    ],
)
def test_no_command_leaves_the_repository_or_runs_another_program(load, tree, command):
    with pytest.raises(load("arm").RefusedError):
        load("arm").shell_command(command, tree)


@pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is not installed")
def test_ripgrep_finds_lines_but_nothing_of_an_index_or_of_git(load, tree):
    output, code = load("arm").run_shell(["rg", "-n", "--hidden", "function_30|secret"], tree)
    assert (output, code) == ("src/a.py:30:def function_30(): return 30\n", 0)


@pytest.fixture
def run(load, tree, tmp_path, monkeypatch):
    """Return a function that looks, as the arm and the task that it is given."""
    arm = load("arm")
    monkeypatch.setattr(arm, "find_task", lambda name: task(load, name=name))
    monkeypatch.setattr(arm, "tree_of", lambda *_: tree)
    log = tmp_path / "log.jsonl"

    def look(name, *command):
        here = {"arm": name, "run": "r", "work": str(tmp_path), "tasks": ["r-1"]}
        line, output = arm.look(here, log, "r-1", command)
        with log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return output

    return look


def test_an_arm_runs_nothing_of_another_arm(load, run):
    assert run("rg", "sed", "-n", "2p", "src/a.py") == "def function_2(): return 2\n"
    for name, command in (("cortex", "rg"), ("codegraph", "rg"), ("rg", "cortex_search"), ("rg", "cat")):
        with pytest.raises(load("arm").RefusedError, match=f"There is no {command}"):
            run(name, command, "x")


def test_an_answer_is_of_places_and_ends_the_task(load, run):
    with pytest.raises(load("arm").RefusedError, match="A place is"):
        run("rg", "answer", "a.py")
    run("rg", "answer", "a.py:12")
    with pytest.raises(load("arm").RefusedError, match="has been answered"):
        run("rg", "sed", "-n", "2p", "src/a.py")


def test_every_arm_gets_the_same_groups_of_mixed_kinds(load):
    groups = load("prompt").groups(load("records").read_tasks())
    assert [len(group) for group in groups] == [4] * 8
    # eight fixes more than questions of the other kinds
    assert all(len({entry.kind for entry in group}) == 3 for group in groups[:6])
    assert sorted(entry.id for group in groups for entry in group) == sorted(
        entry.id for entry in load("records").read_tasks()
    )


def test_a_prompt_holds_questions_and_programs_but_no_gold(load):
    tasks = load("prompt").groups(load("records").read_tasks())[0]
    maps = ["", "THE MAP", "", ""]
    text = load("prompt").text_of("cortex", tasks, "./look", "THE LIST", maps)
    assert f"{tasks[1].question}\nTHE MAP\n" in text
    assert "THE LIST" in text
    assert "./look TASK sed" in text
    assert "./look TASK rg" not in text
    for entry in tasks:
        assert entry.question in text
        assert f"{entry.gold[0].file}:{entry.gold[0].start}" not in text


def test_a_score_counts_looks_their_tokens_and_the_share_of_the_list(load):
    grade, tasks = load("grade"), [task(load), task(load, name="r-2")]
    log = [
        row("r-1", "rg x", 30, [("a.py", 1, 4)]),
        row("r-2", "rg y", 1000),
        row("r-1", "sed -n 1,3p a.py", 12, [("a.py", 1, 3)]),
        row("r-1", "sed -n 4,8p a.py", 12, [("a.py", 4, 8)]),
        row("r-1", "answer a.py:15 b.py:1", 3),
    ]
    score = grade.grade_task(tasks[0], run_of("cortex", tasks, list_tokens=400), log)
    assert (score.found_count, score.right_count, score.named_count) == (1, 1, 2)
    assert (score.looks, score.tokens, score.listed, score.rereads) == (3, 54, 200, 1)
    assert grade.grade_task(tasks[1], run_of("cortex", tasks), log) is None


def test_a_second_reading_shows_more_than_half_of_what_was_shown(load):
    rereads = load("grade").rereads
    first = row("r-1", "rg x", shown=[("a.py", 1, 2)])
    assert rereads([first, row("r-1", "sed", shown=[("a.py", 1, 4)])]) == 0
    assert rereads([first, row("r-1", "sed", shown=[("a.py", 1, 3)])]) == 1
    assert rereads([first, row("r-1", "rg y"), row("r-1", "sed", shown=[("b.py", 1, 2)])]) == 0


def scored(load, figures):
    """Return scores of (task, arm) → (places found, looks, tokens, right, named)."""
    make = load("grade").Score
    return [
        make(name, "fix", arm, 4, 1, expected, right, count, looks, tokens, 0, 0)
        for (name, arm), (expected, looks, tokens, right, count) in figures.items()
    ]


def test_runs_of_a_task_count_as_their_mean_and_unanswered_ones_are_named(load):
    entry = task(load)
    logs = [
        (run_of("rg", [entry]), [row("r-1", "rg x", 100), row("r-1", "answer a.py:15")]),
        (run_of("rg", [entry]), [row("r-1", "answer b.py:1")]),
        (run_of("cortex", [entry]), [row("r-1", "rg x", 100)]),
    ]
    rows, missing = load("grade").scores(logs, [entry])
    assert [(cell.arm, cell.found_count, cell.looks, cell.tokens, cell.runs) for cell in rows] == [
        ("rg", 0.5, 0.5, 50, 2)
    ]
    assert missing == ["cortex-1-1: r-1"]


def test_arms_are_compared_over_the_tasks_that_both_did(load):
    grade = load("grade")
    rows = scored(
        load,
        {
            ("a", "rg"): (2, 10, 1000, 2, 4),
            ("a", "cortex"): (3, 5, 500, 3, 3),
            ("b", "rg"): (2, 10, 3000, 1, 4),
            ("b", "cortex"): (1, 5, 1500, 1, 5),
            ("c", "rg"): (4, 99, 99_999, 4, 4),
        },
    )
    pairs = grade.paired(rows, "cortex", "rg")
    assert [score.task for score, _ in pairs] == ["a", "b"]
    measures = {name: measure(pairs) for name, measure in grade.MEASURES.items()}
    assert (measures["found"], measures["looks"], measures["tokens"]) == (1.0, 0.5, 0.5)
    assert measures["right"] == pytest.approx(4 / 8 - 3 / 8)


def test_an_interval_holds_its_value_and_is_the_same_in_every_run(load):
    grade = load("grade")
    figures = {}
    for number in range(8):
        figures[f"t{number}", "rg"] = (2, 10, 1000, 2, 2)
        figures[f"t{number}", "cortex"] = (2, 5 + number, 1000, 2, 2)
    pairs = grade.paired(scored(load, figures), "cortex", "rg")
    looks = grade.interval(pairs, grade.MEASURES["looks"])
    assert looks["low"] < looks["value"] < looks["high"]
    assert looks == grade.interval(pairs, grade.MEASURES["looks"])
    tokens = grade.interval(pairs, grade.MEASURES["tokens"])
    assert (tokens["low"], tokens["high"]) == (1.0, 1.0)
    assert grade.interval([], grade.MEASURES["looks"]) == {"value": None, "low": None, "high": None}


def test_a_table_has_every_kind_and_the_base_first(load):
    rows = scored(load, {("a", "cortex"): (1, 1, 1, 1, 1), ("a", "rg"): (1, 2, 4, 1, 1)})
    table = load("grade").tabulate(rows, "rg")
    assert list(table) == ["all", "fix", "how", "breaks"]
    assert list(table["all"]) == ["rg", "cortex"]
    assert table["fix"]["cortex"]["paired"]["tokens"]["value"] == 0.25
    assert table["how"]["rg"]["sums"]["tasks"] == 0


def test_kept_logs_hold_no_output_and_no_path_of_the_machine(load):
    run = run_of("rg", [task(load)]) | {"work": "/somewhere"}
    log = [row("r-1", "rg x", 5) | {"output": "their code", "sha256": "ab"}]
    text = json.dumps(load("grade").without_outputs(run, log))
    assert "their code" not in text
    assert "/somewhere" not in text
    assert '"sha256": "ab"' in text


def test_an_agent_holds_its_prompt_the_list_and_all_looks_in_the_end(load):
    logs = [
        (run_of("rg", [task(load)]), [row("r-1", "rg x", 50), row("r-1", "answer a.py:1", 2)]),
        (run_of("rg", [task(load)]), []),
    ]
    assert load("grade").resident(logs) == {"rg": round((100 + 52 + 2 + 100) / 2)}


def test_a_first_look_counts_places_seen_whole_and_named(load, tree):
    look = load("first_looks").look
    entry = task(load, places=[("src/a.py", 7, 8), ("src/a.py", 20, 22), ("src/a.py", 28, 29)])
    shown = "\n".join(f"{number}  def function_{number}(): return {number}" for number in (7, 8, 20))
    figures = look(entry, f"src/a.py:3 first\nsrc/a.py:28-29 last\n{shown}\n", ["cortex_search"], tree)
    assert figures == {"gold": 3, "seen": 2, "whole": 1, "named": 1, "first": 0, "five": 1, "ten": 1}


def test_the_counter_of_tokens_is_o200k(load):
    arms = load("arms")
    folder = Path.home() / ".cache" / "cortex-bench" / "agents"
    if not (folder / "installed").exists():
        pytest.skip("the tokenizer is not installed; scripts/bench/agents/prompt.py installs it")
    assert arms.count_tokens(["", "hello world", "<|endoftext|>"]) == [0, 2, 7]
