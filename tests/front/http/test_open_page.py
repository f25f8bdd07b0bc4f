"""`cortex open`: finds the project's server, and makes a link that opens once."""

from __future__ import annotations

import http.client
import urllib.parse

import pytest

from cortex.front.cli.commands import run as cortex
from cortex.front.http.server_records import record_url, served_at
from cortex.system.errors import Misconfigured, Unavailable
from tests.front.http.conftest import TOKEN


@pytest.fixture(autouse=True)
def token(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("CORTEX_TOKEN", TOKEN)


def opens(link):
    parts = urllib.parse.urlsplit(link)
    line = http.client.HTTPConnection(parts.netloc, timeout=30)
    line.request("GET", f"{parts.path}?{parts.query}")
    try:
        return line.getresponse().status
    finally:
        line.close()


def test_the_link_of_the_projects_own_server_opens_once(server, capsys):
    root = str(server.link.served.config.root)
    with record_url([server.link.served.config], server.url):
        assert cortex(["open", "--print", "--project", root]) == 0
    link = capsys.readouterr().out.strip()
    assert link.startswith(f"{server.url}/enter?code=")
    assert [opens(link), opens(link)] == [200, 401]


def test_without_a_server_it_says_how_to_start_one(server):
    root = str(server.link.served.config.root)
    with record_url([server.link.served.config], server.url):
        assert served_at(server.link.served.config) == server.url
    assert served_at(server.link.served.config) == ""
    with pytest.raises(Unavailable, match="cortex serve"):
        cortex(["open", "--print", "--project", root])


def test_a_second_server_of_a_project_leaves_the_note_of_the_first(server):
    config = server.link.served.config
    with record_url([config], server.url), record_url([config], "http://127.0.0.1:1"):
        assert served_at(config) == server.url


def test_a_named_server_is_called_and_its_refusal_shown(server, capsys, monkeypatch):
    assert cortex(["open", "--print", "--server", server.url]) == 0
    assert capsys.readouterr().out.startswith(server.url)
    monkeypatch.setenv("CORTEX_TOKEN", "another-token-of-a-test")
    with pytest.raises(Unavailable, match="The token is wrong"):
        cortex(["open", "--print", "--server", server.url])


@pytest.mark.parametrize(
    ("url", "fault", "words"),
    [
        ("http://127.0.0.1:1", Unavailable, "does not answer"),
        ("http://elsewhere.example", Misconfigured, "in the clear"),
        ("nonsense", Misconfigured, "pass a URL"),
    ],
)
def test_an_unreachable_server_is_one_sentence(url, fault, words):
    with pytest.raises(fault, match=words):
        cortex(["open", "--print", "--server", url])
