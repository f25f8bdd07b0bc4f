"""The files that third-party programs read: registries, containers, systemd, Claude Code."""

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

from cortex import __version__
from cortex.front.agents import rules
from cortex.front.agents.table import BY_NAME
from cortex.front.cli.commands import find

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "scripts" / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def options(command: str, words: list[str]) -> dict:
    """Return our own parser's result for a command line in a file."""
    return vars(find(command).parser().read(words))


def test_the_registrys_entry_starts_this_package_in_this_version():
    entry = json.loads((FOLDER / "server.json").read_text())
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert package["identifier"] == PROJECT["name"]
    command, *_ = [
        argument["value"] for argument in package["packageArguments"] if argument["type"] == "positional"
    ]
    named = [argument for argument in package["packageArguments"] if argument["type"] == "named"]
    words = [f"{argument['name']}={argument.get('value', 'x')}" for argument in named]
    read = options(command, words)
    assert (read["project"], read["audience"]) == ("x", "agent")


def test_the_plugin_starts_the_server_and_its_agent_reads_the_rules():
    plugin = json.loads((FOLDER / "claude-plugin" / ".claude-plugin" / "plugin.json").read_text())
    assert plugin["version"] == __version__
    server = plugin["mcpServers"]["cortex"]
    assert server["command"] in PROJECT["scripts"]
    assert options(server["args"][0], server["args"][1:])["audience"] == "agent"
    place = BY_NAME["claude-code"].user.subagent
    agent = FOLDER / "claude-plugin" / "agents" / "cortex.md"
    assert agent.read_text() == place.head + rules.RULES
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert (ROOT / market["plugins"][0]["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_the_unit_runs_an_existing_command():
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(FOLDER / "cortex.service")
    program, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name in PROJECT["scripts"]
    assert options(command, words)["project"] == "%f"


def test_the_container_copies_what_is_there_and_serves():
    text = (FOLDER / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE):
        *sources, _ = line.split()
        assert all((ROOT / source).exists() for source in sources)
    program = json.loads(re.search(r"^ENTRYPOINT (.+)$", text, re.MULTILINE)[1])
    command, *words = json.loads(re.search(r"^CMD (.+)$", text, re.MULTILINE)[1])
    assert program == ["cortex"]
    assert options(command, words)["behind_proxy"]
