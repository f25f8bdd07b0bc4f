"""Clients that do not keep to the protocol or leave without a word: their roots, arguments, first
bytes, standard streams and end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from cortex.front.mcp import stdio
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.system.errors import EXIT_OK, EXIT_UNAVAILABLE
from tests.e2e.conftest import FACTS, Project
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

CORTEX = str(Path(sys.executable).parent / "cortex")
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def hello(**capabilities: Any) -> dict[str, Any]:
    client = {"name": "odd", "version": "0"}
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def call(number: int, arguments: Any, tool: str = "cortex_exact") -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def lines(*messages: Any) -> bytes:
    return b"".join(orjson.dumps(message) + b"\n" for message in messages)


class Client:
    """A client that answers `roots/list` with `roots`, in any form."""

    def __init__(self, project: Project, roots: list[Any], folder: str) -> None:
        environment = {
            key: value
            for key, value in (os.environ | project.environment).items()
            if key not in ("CORTEX_PROJECT", "CLAUDE_PROJECT_DIR")
        }
        self.roots = roots
        self.process = subprocess.Popen(
            [CORTEX, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder
        )
        self._answers: dict[Any, dict[str, Any]] = {}
        #: resources whose changes the client was told
        self.changed: list[str] = []
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.send(hello(roots={"listChanged": True}), INITIALIZED)

    def send(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines(*messages))
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = orjson.loads(line)
            if message.get("method") == "roots/list":
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": self.roots}})
            elif message.get("method") == "notifications/resources/updated":
                self.changed.append(message["params"]["uri"])
            elif "id" in message:
                self._answers[message["id"]] = message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the whole answer to a request."""
        self._number += 1
        number = self._number
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer: dict[str, Any] = until(lambda: self._answers.pop(number, None), f"the answer to {method}")
        return answer

    def ask(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of cortex_exact, or {"error": …}."""
        self._number += 1
        number = self._number
        self.send(call(number, arguments))
        answer = until(lambda: self._answers.pop(number, None), f"the answer to {arguments}")
        if "error" in answer:
            return {"error": answer["error"]["message"]}
        read: dict[str, Any] = orjson.loads(answer["result"]["content"][0]["text"])
        return read

    def until_found(self, word: str) -> tuple[list[str], str]:
        """Return the files with `word` once there is one, and all messages until then."""
        messages = ""
        end = time.monotonic() + BOUND_S
        while time.monotonic() < end:
            answer = self.ask({"query": word})
            messages += f"{answer.get('error', '')} {answer.get('index', {}).get('message', '')} "
            if files := [hit["chunk"]["metadata"]["file_path"] for hit in answer.get("results", ())]:
                return files, messages
            time.sleep(0.1)
        raise AssertionError(messages)


@contextlib.contextmanager
def opened(project: Project, roots: list[Any], folder: str = "/") -> Iterator[Client]:
    client = Client(project, roots, folder)
    try:
        yield client
    finally:
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.wait(BOUND_S)


def test_roots_that_cannot_be_used_are_left_out_and_named(shared_project: Project) -> None:
    odd: list[Any] = [
        {"uri": "file:///gone/zz"},
        {"uri": (shared_project.root / "auth" / "login.py").as_uri()},
        {"uri": "${workspaceFolder}"},
        {"uri": "some/folder"},
        {"uri": "vscode-remote://host/zz"},
        {"uri": 5},
    ]
    with opened(shared_project, [*odd, {"uri": shared_project.root.as_uri()}]) as client:
        files, messages = client.until_found("check_password")
    assert files == [FACTS["check_password"]]
    for root in odd[:-1]:
        assert f"{root['uri']!r} is left out" in messages


@pytest.mark.parametrize("form", ["plain path", "text", "localhost", "escaped"])
def test_a_root_in_another_form_is_understood(shared_project: Project, form: str) -> None:
    path = str(shared_project.root)
    root: Any = {
        "plain path": {"uri": path, "name": "project"},
        "text": path,
        "localhost": {"uri": f"file://localhost{path}"},
        "escaped": {"uri": f"file://{path.replace('p', '%70')}"},
    }[form]
    with opened(shared_project, [root]) as client:
        assert client.until_found("check_password")[0] == [FACTS["check_password"]]


def test_without_a_usable_root_each_call_names_those_there_are(shared_project: Project) -> None:
    with opened(shared_project, [{"uri": "file:///gone/zz"}, {"uri": "relative"}]) as client:
        for _ in range(2):
            error = client.ask({"query": "x"})["error"]
            assert "'file:///gone/zz'" in error
            assert "'relative'" in error
            assert "--project" in error
        client.roots = [{"uri": shared_project.root.as_uri()}]
        assert client.until_found("check_password")[0] == [FACTS["check_password"]]


def test_changed_roots_are_followed(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "zoo.py").write_text("def feed_wombat(): pass\n")
    (other / ".git").mkdir()
    changed = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    with opened(project, [{"uri": project.root.as_uri()}]) as client:
        client.until_found("check_password")
        client.roots = [{"uri": project.root.as_uri()}, {"uri": other.as_uri()}]
        client.send(changed)  # the project stays, and the other may be named
        client.until_found("check_password")
        until(lambda: client.ask({"query": "feed_wombat", "project": "other"}).get("results"), "the other")
        client.roots = [{"uri": other.as_uri()}]
        client.send(changed)
        assert client.until_found("feed_wombat")[0] == ["zoo.py"]
        assert client.ask({"query": "check_password"})["results"] == []
        client.roots = [{"uri": "file:///gone/zz"}]
        client.send(changed)  # none can be used: the present project stays
        assert client.until_found("feed_wombat")[0] == ["zoo.py"]
    attach.stop(configuration.load(other))


def test_a_subscriber_hears_of_changed_and_deleted_files_and_is_refused_for_missing_ones(
    project: Project,
) -> None:
    login, store, gone = (f"cortex://outline/{path}" for path in ("auth/login.py", "store", "no/such.py"))
    with opened(project, [{"uri": project.root.as_uri()}]) as client:
        client.until_found("check_password")
        until(lambda: client.ask({"query": "jitter"}).get("results"), "the whole index")
        for uri in (login, store):
            assert client.request("resources/subscribe", uri=uri)["result"] == {}
        for uri in (gone, "cortex://nothing", "cortex://node/nobody", "file:///etc/passwd"):
            error = client.request("resources/subscribe", uri=uri)["error"]
            assert error["code"] == -32602
            assert error["data"] == {"uri": uri}
        path = project.root / "auth" / "login.py"
        path.write_text(path.read_text().replace("name != ", "not name == "))  # no definition moves
        until(lambda: client.changed, "the news of a change")
        assert set(client.changed) == {login}
        client.changed.clear()
        (project.root / "store" / "new.go").write_text("package store\n\nfunc Audit() {}\n")
        until(lambda: store in client.changed, "the news of a new file in a folder")
        client.changed.clear()
        path.unlink()
        until(lambda: login in client.changed, "the news of a deleted file")
        assert client.request("resources/unsubscribe", uri=store)["result"] == {}
        client.changed.clear()
        (project.root / "store" / "new.go").unlink()
        path.write_text("def check_password(): pass\n")
        until(lambda: login in client.changed, "the news of a file that is back")
        assert store not in client.changed


def speak(project: Project, data: bytes, **options: Any) -> dict[Any, dict[str, Any]]:
    front = project.spawn(
        "mcp", "--project", str(project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
    )
    out, _ = front.communicate(data, timeout=BOUND_S)
    assert front.returncode == 0
    return {answer.get("id"): answer for answer in map(orjson.loads, out.splitlines())}


#: forms of the arguments {"query": "check_password"}
FORMS: list[Any] = [
    {"query": "check_password"},
    '{"query": "check_password"}',
    {"arguments": {"query": "check_password"}},
    {"input": '{"query": "check_password"}'},
    {"params": {"query": "check_password"}},
    {"name": "cortex_exact", "arguments": {"query": "check_password"}},
    [{"query": "check_password"}],
    '[{"query": "check_password"}]',
]


@pytest.mark.parametrize("indexed", [True, False], ids=["without the SDK", "with the SDK"])
def test_arguments_as_a_text_or_wrapped_once_are_understood(project: Project, indexed: bool) -> None:
    if indexed:
        assert project.run("index").returncode == 0
    messages = [call(number, form) for number, form in enumerate(FORMS, 1)]
    answers = speak(project, lines(hello(), INITIALIZED, *messages))
    for number, form in enumerate(FORMS, 1):
        answer = orjson.loads(answers[number]["result"]["content"][0]["text"])
        assert answer.get("query") == "check_password", form


def test_empty_arguments_in_any_form_are_none(shared_project: Project) -> None:
    forms: list[Any] = ["", "{}", [], "null", None]
    messages = [call(number, form, "cortex_outline") for number, form in enumerate(forms, 1)]
    answers = speak(shared_project, lines(hello(), INITIALIZED, *messages))
    assert not [form for number, form in enumerate(forms, 1) if answers[number]["result"]["isError"]]


def test_other_arguments_are_refused_in_a_sentence(shared_project: Project) -> None:
    forms: list[Any] = ["check_password", 5, [1, 2], {"arguments": {"arguments": {}}}]
    messages = [call(number, form) for number, form in enumerate(forms, 1)]
    answers = speak(shared_project, lines(hello(), INITIALIZED, *messages))
    for number in (1, 2, 3):
        assert answers[number]["error"]["code"] == -32602
        assert "must be a JSON object" in answers[number]["error"]["message"]
    assert answers[4]["result"]["isError"]  # wrapped twice


def test_a_byte_order_mark_before_the_first_message_is_skipped(shared_project: Project) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answers = speak(shared_project, b"\xef\xbb\xbf" + lines(hello(), INITIALIZED, ping))
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[1]["result"] == {}


#: a client that starts the command behind it and a process that holds the command's input open,
#: says hello, writes both process ids, and waits
PARENT = """
import os, subprocess, sys, time
reader, writer = os.pipe()
front = subprocess.Popen(sys.argv[2:], stdin=reader, stdout=subprocess.DEVNULL)
os.close(reader)
holder = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL, stdout=writer)
os.write(writer, sys.argv[1].encode())
print(front.pid, holder.pid, flush=True)
time.sleep(300)
"""


@pytest.mark.skipif(not hasattr(os, "getppid"), reason="Windows tells no parent's end")
def test_a_front_ends_with_its_parent_though_another_process_holds_its_pipe(shared_project: Project) -> None:
    text = lines(hello(), INITIALIZED).decode()
    command = [CORTEX, "mcp", "--project", str(shared_project.root)]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, text, *command],
        env=os.environ | shared_project.environment,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        front, holder = (psutil.Process(int(pid)) for pid in parent.stdout.readline().split())
        try:
            time.sleep(stdio.LAUNCH_S + 2.0)
            assert front.is_running()
            parent.send_signal(signal.SIGKILL)
            front.wait(stdio.ORPHANED_S + BOUND_S)
            assert holder.is_running()
        finally:
            holder.kill()
            parent.kill()


def through_shell(
    project: Project, command: str, data: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", f'exec "$0" {command}', CORTEX],
        input=data,
        capture_output=True,
        env=os.environ | project.environment | environment,
        cwd=project.root,
        timeout=BOUND_S,
        check=False,
    )


def test_a_front_and_every_command_work_with_closed_standard_streams(project: Project) -> None:
    project.run("index")
    project.environment["CORTEX_SERVER_IDLE_EXIT_S"] = "60"  # one set for all commands from here on
    data = lines(hello(), INITIALIZED, call(1, {"query": "check_password"}))
    front = through_shell(project, "mcp 2>&-", data)
    assert front.returncode == 0
    answers = [orjson.loads(line) for line in front.stdout.splitlines()]
    assert {answer["id"] for answer in answers} == {0, 1}
    for command in ("exact check_password", "status", "index", "--help"):
        for closed in ("2>&-", ">&-", "2>&- >&- <&-"):
            ended = through_shell(project, f"{command} {closed}")
            assert ended.returncode in (EXIT_OK, EXIT_UNAVAILABLE), (command, closed, ended.stderr)
            assert b"Traceback" not in ended.stderr, (command, closed)


def test_an_output_in_a_small_alphabet_gets_the_other_letters_as_in_json(project: Project) -> None:
    (project.root / "odd.py").write_text('MARKED = "ü → 𝄞"\n')
    project.run("index")
    project.environment["CORTEX_SERVER_IDLE_EXIT_S"] = "60"  # one set for all commands from here on
    for encoding, letter in {"ascii": "\\u00fc", "latin-1": "ü", "cp1252": "ü"}.items():
        environment = {"PYTHONIOENCODING": encoding}
        read = through_shell(project, "read odd.py", **environment)
        assert f"{letter} \\u2192 \\ud834\\udd1e" in read.stdout.decode(encoding)
        answer = through_shell(project, "exact MARKED --json", **environment)
        assert "ü → 𝄞" in orjson.loads(answer.stdout.decode(encoding))["results"][0]["chunk"]["text"]
    assert through_shell(project, "doctor", PYTHONIOENCODING="ascii").returncode == 0


def test_arguments_in_a_locale_of_ascii_are_read_as_utf_8(project: Project) -> None:
    (project.root / "odd.py").write_text('MARKED = "grün"\n')
    project.run("index")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    answer = through_shell(project, "exact grün --json", **locale)
    assert len(orjson.loads(answer.stdout)["results"]) == 1
