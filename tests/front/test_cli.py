"""The program `cortex` without any worker: exit codes, imports and output."""

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console

from cortex.front.cli import main as cli
from cortex.front.cli.rendering import render
from cortex.front.cli.running import sets
from cortex.front.cli.setup import doctor
from cortex.front.cli.status import memory_state
from cortex.front.mcp.errors import code_of, is_for_the_model
from cortex.memory.library import Library
from cortex.memory.operations import carry_out
from cortex.settings import config as configuration
from cortex.settings.folders.home import open_home
from cortex.system import hosts
from cortex.system.errors import BY_CODE, EXIT_NOTHING, StillStarting
from cortex.system.loaded_code import full_version


def imported(code):
    """Return the top-level modules that are loaded after `code` ran in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


HEAVY = {"tree_sitter", "tantivy", "usearch", "simsimd", "watchdog"}


def test_the_mcp_front_imports_no_engine_no_parser_and_nothing_for_people():
    code = "import cortex.front.cli.commands, cortex.front.mcp.stdio\ncortex.front.mcp.stdio.import_sdk()"
    loaded = imported(code)
    assert "mcp" in loaded
    assert not loaded & (HEAVY | {"rich", "shtab"})


#: a front that answers `initialize` and the list of tools, as it does while the SDK is imported
ANSWERING = """
import asyncio, os
from pathlib import Path
from cortex.front.link import Link
from cortex.front.mcp import stdio
from cortex.front.mcp.transport.fast_path import FastPath
from cortex.front.open_projects import OpenProjects
from cortex.front.mcp.transport.lines import Line
from cortex.settings.config import Config

HELLO = '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}'

async def asked():
    yield Line('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": %s}' % HELLO)
    yield Line('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    yield Line('{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}')

async def answer():
    read, write = os.pipe()
    tools = stdio.choose(("code", "memory"))
    early = FastPath(tools, OpenProjects(Link(Config(root=Path.cwd()))), stdio.Wire(write, 1.0))
    assert all(tools[name] for name in tools)
    early.tools_ready.set()
    early.begin(asked())
    with os.fdopen(read, "rb") as told:
        for _ in range(2):
            assert b'"result"' in await asyncio.to_thread(told.readline)

asyncio.run(answer())
"""
#: modules of an HTTP server
WEB = {"h11", "prometheus_client", "starlette", "uvicorn"}


def test_the_mcp_front_answers_before_an_http_server_is_imported():
    """Later imports add no more of them than the SDK itself does."""
    assert not imported(ANSWERING) & (WEB | {"mcp"})
    later = imported(f"{ANSWERING}\nstdio.import_sdk()")
    assert "mcp" in later
    assert later & WEB == imported("import mcp.server.lowlevel, mcp.server.stdio") & WEB
    assert not later & {"h11", "prometheus_client"}


def test_a_command_that_is_no_tool_does_without_the_tools():
    code = "from cortex.front.cli.main import main\nassert main(['version', '--project', '.']) == 0\n"
    script = (
        f"{code}import sys; print(not sys.modules.keys().isdisjoint(('cortex.front.tools', 'cortex.ask')))"
    )
    result = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"


def test_the_workers_of_a_front_are_started_before_its_tools_are_imported():
    """They are selected and refused by name: their own modules are imported meanwhile."""
    loaded = imported("from cortex.front.mcp import stdio\nstdio.choose(('code',))")
    assert "zmq" in loaded
    assert not loaded & {"numpy", "mcp", "pathspec"}


def test_the_commands_import_neither_mcp_nor_an_engine_before_they_run():
    assert not imported("import cortex.front.cli.commands") & (HEAVY | {"mcp", "mcp_types"})


def test_the_version_is_printed(capsys):
    assert cli.main(["version"]) == 0
    assert capsys.readouterr().out == f"cortex {full_version()}\n"


@pytest.mark.parametrize("code", BY_CODE)
def test_every_error_has_an_exit_code_and_a_json_rpc_code(code):
    error = BY_CODE[code]("A sentence.")
    assert cli.exit_code(error) == (
        5
        if code == "occupied"
        else 3
        if code in {"unavailable", "still_starting", "not_ready", "damaged"}
        else 2
    )
    wrong = code in {"bad_request", "bad_query", "not_found", "too_large"}
    assert code_of(error) == (-32602 if wrong else -32603)
    assert is_for_the_model(error) is ((wrong and code != "bad_query") or isinstance(error, StillStarting))


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["search", "x", "--mode", "magic"], (2, "--mode cannot be used")),
        (["up"], (3, "The embedding server at http://127.0.0.1:1/embed does not answer")),
    ],
)
def test_an_error_is_one_sentence_on_standard_error(capsys, monkeypatch, tmp_path, arguments, end):
    monkeypatch.setenv("CORTEX_EMBEDDING_PROVIDER", "http")
    monkeypatch.setenv("CORTEX_EMBEDDING_ENDPOINT", "http://127.0.0.1:1")
    code, sentence = end
    assert cli.main([*arguments, "--project", str(tmp_path)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"cortex: {sentence}")
    assert err.count("\n") == 1


COMMANDS = (
    "init index mcp up down status trust search exact graph outline pattern context related doctor completion version"
).split()


def test_an_empty_diff_is_reported_as_an_empty_diff(capsys, monkeypatch, tmp_path):
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    assert cli.main(["explore", "--diff", "--project", str(tmp_path)]) == EXIT_NOTHING
    assert capsys.readouterr() == ("", "The diff is empty: nothing has changed.\n")
    assert cli.main(["explore", "--diff=", "--project", str(tmp_path)]) == EXIT_NOTHING


@pytest.mark.parametrize("name", [*COMMANDS, "embed"])
def test_every_command_is_listed(capsys, name):
    assert cli.main(["--help"]) == 0
    assert name in capsys.readouterr().out.split()


@pytest.mark.parametrize("name", [*COMMANDS, "embed serve", "stdio"])
def test_every_command_takes_a_project(capsys, name):
    assert cli.main([*name.split(), "--help"]) == 0
    assert "--project" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["embed"], ["--nonsense"], ["index", "--nope"]])
def test_without_a_command_that_exists_usage_is_shown_and_the_exit_code_is_2(capsys, arguments):
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: cortex")


def test_init_writes_a_file_of_defaults_once(tmp_path, capsys):
    assert cli.main(["init", "--project", str(tmp_path)]) == 0
    path = tmp_path / ".cortex" / "config.yml"
    assert path.read_text() == render.CONFIG_TEMPLATE
    assert "mcpServers" in capsys.readouterr().out
    assert list((tmp_path / ".cortex").iterdir()) == [path]
    path.write_text("fusion: {bm25_weight: 0.5}\n")
    assert cli.main(["init", "--project", str(tmp_path)]) == 0
    assert path.read_text() == "fusion: {bm25_weight: 0.5}\n"


def test_the_template_names_every_setting_with_its_default():
    import dataclasses

    import yaml

    from cortex.settings.table import SECTIONS, rules

    text = "\n".join(line.removeprefix("# ") for line in render.CONFIG_TEMPLATE.splitlines()[1:])
    written = yaml.safe_load(text)
    for section, cls in SECTIONS.items():
        defaults = {
            f.name: list(f.default) if isinstance(f.default, tuple) else f.default
            for f in dataclasses.fields(cls)
            if not rules(section)[f.name].personal
        }
        assert written.get(section, {}) == defaults


@pytest.mark.parametrize(
    "before", [("--project", "{}"), ("--project={}",), ("--yes-really", "--project", "{}")]
)
def test_the_project_may_be_named_before_the_command(tmp_path, capsys, monkeypatch, before):
    monkeypatch.setenv("CORTEX_YES_REALLY", "")
    words = [word.format(tmp_path / "gone") for word in before]
    assert cli.main([*words, "status"]) == 2
    assert str(tmp_path / "gone") in capsys.readouterr().err


def test_progress_without_a_terminal_is_plain_lines_now_and_then(capsys):
    clock = iter(range(0, 100, 4))
    with render.Progress(clock=lambda: next(clock)) as progress:
        for done in range(4):
            progress(done, 10, 5 * done)
    assert capsys.readouterr().err.splitlines() == [
        "indexing: 1 of 10 files, 5 chunks, 0.1 files/s, 1 min 12 s left",
        "indexing: 3 of 10 files, 15 chunks, 0.2 files/s, 37 s left",
    ]


def test_progress_on_a_terminal_is_a_bar_with_rate_and_time_left():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, color_system=None)
    with render.Progress(console) as progress:
        progress(100, 300, 900)
        progress(300, 300, 2700)
    screen_text = screen.getvalue()
    assert "━" in screen_text
    assert "300 of 300 files, 2700 chunks, linking names" in screen_text
    assert render.say_pace(100, 300, 900, 2.0) == "100 of 300 files, 900 chunks, 50 files/s, 4 s left"


def test_the_first_files_give_no_time_left():
    # A run of three minutes read eight of 2 000 files in seven seconds.
    assert render.say_pace(8, 2000, 40, 7.0) == "8 of 2000 files, 40 chunks, 1.1 files/s"
    assert render.say_pace(99, 2000, 500, 10.0) == "99 of 2000 files, 500 chunks, 9.9 files/s"
    assert render.say_pace(100, 2000, 500, 10.0).endswith("10 files/s, 3 min 10 s left")
    assert render.say_pace(90, 2000, 500, 30.0).endswith("left")


def test_doctor_names_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    fine = {check.name: check for check in doctor.examine(str(tmp_path))}
    assert {check.state for check in fine.values()} <= {"fine", "odd"}
    assert {
        "python",
        "packages",
        "configuration",
        "folders",
        "sockets",
        "file system",
        "model",
        "workers",
    } <= set(fine)
    (tmp_path / ".cortex").mkdir()
    (tmp_path / ".cortex" / "config.yml").write_text("fusion: {bm25_wait: 1}\n")
    wrong = doctor.examine(str(tmp_path))[-1]
    assert (wrong.name, wrong.state) == ("configuration", "wrong")
    assert "bm25_weight" in wrong.text


def test_cortex_home_moves_memory_and_doctor_and_status_name_the_store_left_behind(tmp_path, monkeypatch):
    def memory_texts():
        status = sets.say_memory(hosts.run(memory_state(configuration.load_data())))
        return status, next(check.text for check in doctor.examine(project) if check.name == "memory")

    project = str(make_folder(tmp_path / "project"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.delenv("CORTEX_HOME", raising=False)
    monkeypatch.delenv("CORTEX_MEMORY_DATA_DIR", raising=False)
    former = configuration.load_data().root
    assert former == tmp_path / "person" / ".cortex" / "default"
    with Library.open(former, project="shop") as library:
        library.store("Retries use back-off")
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "trial"))
    moved = configuration.load_data().root
    assert moved == tmp_path / "trial" / "memory"
    assert all(f"those in {former} stay there" in text for text in memory_texts())
    with Library.open(moved, project="shop") as library:
        for operation, arguments in (("recall", {"query": "retries"}), ("timeline", {"newest_first": True})):
            answer = carry_out(library, operation, arguments, project="shop")
            assert not any(answer.get(name) for name in ("results", "items"))
            assert str(former) in answer["message"]
        library.store("Trials are thrown away")
        answer = carry_out(library, "recall", {"query": "capital of France"}, project="shop")
        assert str(former) not in answer.get("message", "")
    monkeypatch.setenv("CORTEX_MEMORY_DATA_DIR", "~/.cortex/default")
    assert configuration.load_data().root == former
    assert not any("stay there" in text for text in memory_texts())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_doctor_notices_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir(mode=0o500)
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    checks = {check.name: check for check in doctor.examine(str(tmp_path))}
    assert checks["folders"].state == "wrong"


def test_doctor_names_the_folders_of_projects_that_are_gone(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    gone, existing = (
        configuration.load(place)
        for place in (make_folder(tmp_path / "gone"), make_folder(tmp_path / "here"))
    )
    open_home(gone)

    def cache_check():
        return {check.name: check for check in doctor.examine(str(existing.root))}["cache"]

    assert cache_check().state == "fine"
    gone.root.rmdir()
    assert cache_check().state == "odd"
    assert gone.home.name in cache_check().text
    assert existing.home.name not in cache_check().text
    assert gone.home.exists()


def test_index_writes_the_chunk_files_where_it_is_told_to(tmp_path):
    (tmp_path / "shop.py").write_text("def pay(): ...\n")
    assert cli.main(["index", "--project", str(tmp_path), "--chunks-dir", ".cortex/chunks"]) == 0
    assert (tmp_path / ".cortex" / "chunks" / "code-source.json").is_file()


def make_folder(folder):
    folder.mkdir()
    return folder
