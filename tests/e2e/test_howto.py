"""docs/HOWTO.md, section by section: each block is run as it is on the page, in a new project and a
new home, and has the effect that its heading promises.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest

from tests.e2e.conftest import Project, make_project
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

PAGE = (Path(__file__).parents[2] / "docs" / "HOWTO.md").read_text(encoding="utf-8")
#: heading → its blocks, as (language, text)
TASKS = {
    section.partition("\n")[0]: re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
    for section in PAGE.split("\n## ")[1:]
    if "```" in section
}
#: lines that end with another code than 0, as the page says or its reader expects
NOT_ZERO = {"cortex why generated/api.py": 1}
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
DIMENSIONS = 384


class Compatible(BaseHTTPRequestHandler):
    """An embedding server with the protocol of OpenAI: a vector has a part for each word."""

    models: list[str]

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.models.append(question["model"])
        rows = [{"embedding": _vector(text)} for text in question["input"]]
        self.send_response(200 if self.path == "/v1/embeddings" else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"data": rows}).encode())

    def log_message(self, *_):
        pass


def _vector(text):
    vector = [0.01] * DIMENSIONS
    for word in text.split():
        vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return vector


@contextmanager
def compatible_server() -> Iterator[tuple[int, list[str]]]:
    """Yield the port of a server, and the models that it was asked for."""
    handler = type("Handler", (Compatible,), {"models": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, handler.models
        server.shutdown()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    # one set for all lines of a block
    with make_project(tmp_path, tmp_path / "cache", monkeypatch, idle_exit_s=20) as project:
        (project.root / "auth" / "enter.py").write_text(
            "from auth.login import check_password\n\n\ndef enter():\n    return check_password('a', 'b')\n"
        )
        (project.root / ".git").rmdir()
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
            subprocess.run([*GIT, *words], cwd=project.root, check=True)
        yield project


def shell(project: Project, text: str) -> str:
    """Run a block for a shell and return its output; each line has the code that it should have."""
    trap = f"trap 'echo \"$?: $BASH_COMMAND\" >> {project.root.parent}/failed' ERR"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail\n{trap}\n{text}"],
        cwd=project.root,
        env=os.environ | project.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * BOUND_S,
        check=False,
    )
    log = project.root.parent / "failed"
    failed = log.read_text().splitlines() if log.exists() else []
    expected = [f"{code}: {line}" for line, code in NOT_ZERO.items() if line in text]
    assert failed == expected, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def only(task: str, language: str = "sh") -> str:
    """Return the one block of a task in this language."""
    (text,) = (text for kind, text in TASKS[task] if kind == language)
    return text


def test_exclude_a_folder(place):
    (place.root / "generated").mkdir()
    (place.root / "generated" / "api.py").write_text("def made():\n    return 1\n")
    assert "generated/ is ignored by .cortexignore, line 1" in shell(place, only("Exclude a folder"))
    settings = Path(place.environment["XDG_CONFIG_HOME"]) / "cortex" / "config.yml"
    (place.root / ".cortexignore").unlink()
    settings.parent.mkdir(parents=True)
    setting, value = re.search(r"`indexing\.(ignore): (\[.*?\])`", PAGE).groups()
    settings.write_text(f"indexing: {{{setting}: {value}}}\n")
    assert "not indexed" in place.run("why", "generated/api.py").stdout


def test_use_an_embedding_server_of_your_own(place):
    task = "Use an embedding server of your own"
    with compatible_server() as (port, models), socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own_port = str(free.getsockname()[1])
        free.close()
        program = place.root.parent / "translator.py"
        text = only(task, "python").replace("localhost:11434", f"127.0.0.1:{port}").replace("8200", own_port)
        program.write_text(text)
        settings = only(task, "yaml").replace("8200", own_port)
        assert settings.startswith("# ~/.config/cortex/config.yml\n")
        file = Path(place.environment["XDG_CONFIG_HOME"]) / "cortex" / "config.yml"
        file.parent.mkdir(parents=True)
        file.write_text(settings)
        with subprocess.Popen([sys.executable, str(program)], stderr=subprocess.DEVNULL) as translator:
            try:
                until(lambda: _listens(int(own_port)), "the translator listens")
                shell(place, only(task))
                assert set(models) == {"all-minilm"}
                assert "all-minilm" in place.run("status").stdout
                assert "auth/login.py" in place.run("search", "Compare the password").stdout
            finally:
                translator.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_index_a_monorepo_and_ask_a_folder_of_it(place):
    output = shell(place, only("Index a monorepo of 50 000 files"))
    assert "all of it is served" in output
    assert "login.py:" in output
    assert "auth/login.py" not in output


def test_share_memory_in_a_team(place):
    shell(place, only("Share memory in a team"))
    other = ["--data-dir", str(place.root.parent / "memory" / "of another person")]
    assert place.run("memory", "import", "notes.jsonl", *other).returncode == 0
    assert "Refunds are booked at night" in place.run("memory", "list", *other).stdout
    assert place.run("memory", "down", *other).returncode == 0


def test_see_why_a_file_is_not_found(place):
    assert place.run("index").returncode == 0
    assert "auth/login.py is indexed" in shell(place, only("See why a file is not found"))


def test_remove_everything(place):
    assert place.run("index").returncode == 0
    assert place.run("memory", "store", "Refunds are booked at night").returncode == 0
    listed = shell(place, only("Remove everything"))
    assert str(place.config.home.parent) in listed
    assert not (Path(place.environment["CORTEX_HOME"]) / "projects").exists()
    assert not Path(place.environment["CORTEX_MEMORY_DATA_DIR"]).exists()
    assert "The program itself:" in listed


def test_use_it_from_python(place):
    done = subprocess.run(
        [sys.executable, "-P", "-c", only("Use it from Python", "python")],
        cwd=place.root,
        env=os.environ | place.environment,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "No workers are running" in lines[0]
    assert "auth/login.py 6 check_password" in lines
    assert {"True", "auth/enter.py 5"} <= set(lines)
    assert "def check_password" in done.stdout


def test_use_it_in_ci(place):
    path = place.root / "auth" / "login.py"
    path.write_text(path.read_text().replace("MAX_ATTEMPTS = 5", "MAX_ATTEMPTS = 6"))
    subprocess.run([*GIT, "commit", "-qam", "Allow one more"], cwd=place.root, check=True)
    shell(place, only("Use it in CI"))
    assert json.loads((place.root / "review.json").read_text())["functions"]
    assert (place.root / ".cortex-cache" / "projects").is_dir()


def test_limit_memory_and_processor(place):
    first, last = only("Limit memory and processor").rstrip().rsplit("\n", 1)
    assert last == "cortex down"
    shell(place, first)
    workers = until(lambda: place.members() and place.processes(), "the workers run")
    allowed = [process.cpu_affinity() for process in workers if isinstance(process, psutil.Process)]
    assert all(cores == [0] for cores in allowed), allowed
    shell(place, last)
    place.nothing_left()


def test_work_on_two_branches_in_two_worktrees(place):
    assert place.run("memory", "store", "Refunds are booked at night").returncode == 0
    output = shell(place, only("Work on two branches in two worktrees"))
    assert "auth/login.py" in output
    assert "Refunds are booked at night" in output


def test_every_task_of_the_page_is_run():
    source = Path(__file__).read_text(encoding="utf-8")
    assert len(TASKS) == 10
    assert [task for task in TASKS if f'"{task}"' not in source] == []
