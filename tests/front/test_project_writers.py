"""Writers into a project follow no link of it: a clone can bring a link to any place."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex.front.agents.table import AGENTS
from cortex.front.cli import commands
from cortex.system.errors import CortexError

#: a text that every writer would change, were it behind a link
CANARY = "# of the person\n"


def _files_of_agents() -> list[tuple[str, str]]:
    """Return (agent, file in the project) for each file that `cortex install --project` writes."""
    places = []
    for agent in AGENTS:
        if (scope := agent.project) is not None:
            texts = [text.path for text in (scope.rules, scope.subagent) if text is not None]
            places += [(agent.name, path) for path in (scope.server.path, scope.allows, *texts) if path]
    return places


def _install(agent: str) -> Callable[[Path], list[str]]:
    return lambda root: ["install", agent, f"--project={root}", "--yes", "--memory-hooks"]


#: (the command for a project, a file that it writes there)
WRITERS = [
    *((_install(agent), path) for agent, path in _files_of_agents()),
    (lambda root: ["init", "--project", str(root)], ".cortex/config.yml"),
    *(
        (lambda root: ["index", "--project", str(root), "--chunks-dir", ".cortex/chunks"], path)
        for path in (".cortex/chunks/code-source.json", ".cortex/chunks/.tmp/code-source.json")
    ),
]


def _cases() -> list[tuple[Callable[[Path], list[str]], str, str]]:
    """Return (command, written file, link on the way to it) for each part of the path."""
    cases = []
    for command, path in WRITERS:
        parts = Path(path).parts
        cases += [(command, path, "/".join(parts[: depth + 1])) for depth in range(len(parts))]
    return cases


@pytest.mark.parametrize("target", ["a file or folder", "nothing"])
@pytest.mark.parametrize("case", _cases(), ids=lambda case: f"{case[1]} {case[2]}")
def test_nothing_is_written_through_a_link_of_a_project(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[Callable[[Path], list[str]], str, str],
    target: str,
) -> None:
    command, path, linked = case
    home, root, elsewhere = tmp_path / "home", tmp_path / "project", tmp_path / "elsewhere"
    for folder in (home, root, elsewhere):
        folder.mkdir()
    for variable in ("HOME", "XDG_CONFIG_HOME", "CORTEX_HOME"):
        monkeypatch.setenv(variable, str(home if variable == "HOME" else home / variable))
    monkeypatch.chdir(root)
    (root / "a.py").write_text("def f(): pass\n")
    rest = Path(path).relative_to(linked)
    if target != "nothing":
        (elsewhere / "made" / rest).parent.mkdir(parents=True, exist_ok=True)
        (elsewhere / "made" / rest).write_text(CANARY)
    (root / linked).parent.mkdir(parents=True, exist_ok=True)
    (root / linked).symlink_to(os.path.relpath(elsewhere / "made", (root / linked).parent))
    before = _everything(elsewhere)
    with contextlib.suppress(CortexError):
        commands.run(command(root))
    assert _everything(elsewhere) == before


def _everything(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


def test_install_names_the_link_and_writes_the_other_files(tmp_path, monkeypatch, capsys):
    home, root = tmp_path / "home", tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".bashrc").write_text(CANARY)
    (root / "CLAUDE.md").symlink_to("../home/.bashrc")
    (root / ".claude" / "settings.json").symlink_to("../../home/settings.json")
    commands.run(["install", "claude-code", f"--project={root}", "--yes"])
    errors = capsys.readouterr().err
    assert f"{root / 'CLAUDE.md'} is a link of the project" in errors
    assert f"{root / '.claude' / 'settings.json'} is a link of the project" in errors
    assert (home / ".bashrc").read_text() == CANARY
    assert not (home / "settings.json").exists()
    assert "cortex" in (root / ".mcp.json").read_text()
    assert os.readlink(root / "CLAUDE.md") == "../home/.bashrc"


def test_a_link_above_the_project_is_the_persons_own(tmp_path, monkeypatch):
    (tmp_path / "real" / "project" / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "link").symlink_to("real")
    assert (
        commands.run(["install", "claude-code", f"--project={tmp_path / 'link' / 'project'}", "--yes"]) == 0
    )
    assert (tmp_path / "real" / "project" / ".mcp.json").is_file()
