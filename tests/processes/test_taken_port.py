"""The HTTP server of a set without its port: the holder is named, and no restart follows."""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Iterator

import pytest

from cortex.front.cli.commands import run as cortex
from cortex.front.http import tcp_port
from cortex.processes import attach, starting
from cortex.settings.config import Config
from cortex.system.errors import Misconfigured, Unavailable
from tests.processes.tiny_sets import OBEDIENT, child, member, running, start
from tests.wait_until import until

#: the true server, on a port that its variable names
SERVE = (
    "import sys; sys.argv[1:] = ['serve', '--port', '0', '--project', sys.argv[1]]; "
    "from cortex.front.cli.main import main; sys.exit(main())"
)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port in use by this process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("options", [["--detach"], []])
def test_up_names_the_holder_of_a_taken_port_and_starts_nothing(
    config: Config, taken: int, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(tcp_port, "PORT", taken)
    with pytest.raises(Misconfigured, match=rf"Port {taken} .* by process {os.getpid()} "):
        cortex(["up", "--http", *options, "--project", str(config.root)])
    assert not attach.set_status(config)["running"]
    with pytest.raises(Unavailable, match=rf"start one.* Port {taken} is taken by process {os.getpid()} "):
        cortex(["open", "--print", "--project", str(config.root)])


def test_a_server_without_its_port_is_not_restarted_until_somebody_starts_it_again(
    config: Config, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORTEX_MCP_SSE_PORT", str(taken))
    commands = {"text": child(OBEDIENT, config), "http": child(SERVE, config)}
    start(
        dataclasses.replace(
            starting.spec_of(config, idle_exit=False), idle_exit_s=None, commands=commands, forked=()
        )
    )
    running(config, "text")
    until(lambda: member(config, "http").get("state") == "failed", "the server has ended")
    assert member(config, "http")["restarts"] == 0
    with pytest.raises(Unavailable, match=rf"has ended: Port {taken} .* by process {os.getpid()} "):
        cortex(["open", "--print", "--project", str(config.root)])
    attach.add_process(config, "http")
    log = config.run_dir / "http.log"
    until(lambda: log.read_text().count(f"Port {taken} ") == 2, "the server was started again, once")
