"""The refusals of a sandbox, one sentence each, and the recognition of sets in a sandbox."""

from __future__ import annotations

import dataclasses
import os

import pytest

from cortex.processes import sandbox, starting
from cortex.settings.config import Config, load
from cortex.settings.data import DataFolder
from cortex.settings.table import Embedding, Security, Server
from cortex.system.errors import Misconfigured
from ipc.locks import hold, holder_of

#: a program in place of bubblewrap, as if the kernel refused
REFUSES = "#!/bin/sh\necho 'bwrap: Creating new namespace failed: Operation not permitted' >&2\nexit 1\n"
ALLOWS = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def config(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return Config(root=root, security=Security(sandbox=True))


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return a function that puts a program in the place of bubblewrap."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(text, folder=folder):
        program = folder / sandbox.PROGRAM
        program.write_text(text)
        program.chmod(0o755)
        return folder

    return put


def refusal(config):
    with pytest.raises(Misconfigured) as caught:
        starting.check_start(config)
    message = str(caught.value)
    assert "switch security.sandbox off" in message
    assert message.count(". ") == 0
    return message


def test_without_bubblewrap_the_error_tells_how_to_install_it(config, stand_in):
    assert "apt install bubblewrap" in refusal(config)
    stand_in(ALLOWS)
    starting.check_start(config)


def test_a_bubblewrap_in_the_project_is_not_run(config, stand_in, monkeypatch):
    folder = config.root / "bin"
    folder.mkdir()
    stand_in(ALLOWS, folder)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}.")
    assert "no bwrap is on the PATH" in refusal(config)


def test_a_system_that_forbids_the_sandbox_is_quoted_with_a_remedy(config, stand_in):
    stand_in(REFUSES)
    message = refusal(config)
    assert "Creating new namespace failed: Operation not permitted" in message
    assert any(
        advice in message for advice in (sandbox.DEFAULT_REMEDY, *(switch[2] for switch in sandbox.SWITCHES))
    )


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"embedding": Embedding(provider="http")}, "embedding.provider is http, which needs a network"),
        ({"embedding": Embedding(provider="local")}, "embedding.provider is local, which needs a network"),
        ({"embedding": Embedding(provider="onnx", device="cuda:0")}, "embedding.device is cuda:0"),
        ({"explicit_chunks": True, "server": Server(chunks_dir="made")}, "server.chunks_dir is 'made'"),
    ],
)
def test_settings_that_cannot_work_in_a_sandbox_are_refused_by_name(config, stand_in, more, sentence):
    stand_in(ALLOWS)
    assert sentence in refusal(dataclasses.replace(config, **more))


def test_a_project_that_holds_the_home_folder_is_refused(config, stand_in, monkeypatch):
    stand_in(ALLOWS)
    monkeypatch.setenv("HOME", str(config.root / "home"))
    assert "holds your home folder" in refusal(config)


def test_no_http_server_is_started_in_a_sandbox(config, stand_in):
    stand_in(ALLOWS)
    with pytest.raises(Misconfigured, match="run `cortex serve` beside it"):
        sandbox.check(config, http=True)


def test_a_project_switches_no_sandbox_on_or_off(config):
    (config.root / ".cortex").mkdir()
    (config.root / ".cortex" / "config.yml").write_text("security:\n  sandbox: true\n")
    loaded = load(config.root)
    assert not loaded.sandbox
    assert loaded.ignored == ("security.sandbox",)


def test_a_set_in_a_sandbox_serves_all_fronts_and_others_only_fronts_without_sandbox(config):
    open_to_all = dataclasses.replace(config, security=Security())
    assert starting.expected_hello(config)["sandbox"] is True
    assert "sandbox" not in starting.expected_hello(open_to_all)
    assert starting.expected_hello(config)["config"] == starting.expected_hello(open_to_all)["config"]


def test_a_process_number_of_another_namespace_counts_as_unknown(tmp_path):
    path = tmp_path / "x.lock"
    with hold(path, RuntimeError):
        assert holder_of(path) == os.getpid()
        path.write_text(f"{os.getppid()} 1")
        assert holder_of(path) == 0
        path.write_text(str(os.getppid()))
        assert holder_of(path) == os.getppid()


def test_an_embedder_of_memory_that_cannot_work_in_a_sandbox_is_refused_by_name(tmp_path, stand_in):
    stand_in(ALLOWS)
    data = DataFolder(tmp_path, embedding=Embedding(provider="http"), sandbox=True)
    assert "memory.embedding.provider is http, which needs a network" in refusal(data)
