"""The trial of a whole search for lines: each look is logged and counted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
#: it needs two lines of one file
TASK = "axios-is-url-same-origin"


@pytest.fixture
def trees(tmp_path):
    tasks = map(json.loads, (BENCH / "tasks/agent.jsonl").read_text().splitlines())
    places = next(task for task in tasks if task["id"] == TASK)["needed"]
    for place in places:
        file = tmp_path / "axios" / place["file"]
        lines = file.read_text().splitlines() if file.exists() else []
        file.parent.mkdir(parents=True, exist_ok=True)
        lines += [""] * (place["end"] - len(lines))
        lines[place["start"] - 1] = f"line {place['start']} of {file.stem}"
        file.write_text("\n".join(lines) + "\n")
    return tmp_path


def trial(*arguments):
    command = [sys.executable, BENCH / "trial.py", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_needed_lines_count_when_a_look_printed_them_with_their_file(trees, tmp_path):
    log = tmp_path / "log.jsonl"
    for pattern in ("line .* of resolveConfig", "nothing like it"):
        trial("look", "--trees", trees, "--log", log, "shell", TASK, "grep", "-rhn", pattern, ".")
    counted = trial("score", "--trees", trees, "--log", log).stdout.splitlines()[-1].split()
    assert counted[:3] == ["all", "shell", "2"]
    assert counted[-2:] == ["0", "2"]  # printed without the name of the file
    trial("look", "--trees", trees, "--log", log, "shell", TASK, "grep", "-rn", "line .* of", ".")
    counted = trial("score", "--trees", trees, "--log", log).stdout.splitlines()[-1].split()
    assert counted[-2:] == ["2", "2"]


def test_a_look_runs_only_what_the_system_may(trees, tmp_path):
    refused = trial("look", "--trees", trees, "--log", tmp_path / "log", "shell", TASK, "python", "-c", "1")
    assert refused.returncode == 1
    assert "shell may run cat, find, grep" in refused.stderr
    assert not (tmp_path / "log").exists()


def test_tasks_are_printed_without_their_needed_lines():
    tasks = [json.loads(line) for line in trial("tasks", "--repo", "axios").stdout.splitlines()]
    assert TASK in [task["id"] for task in tasks]
    assert {key for task in tasks for key in task} == {"id", "repo", "task"}
