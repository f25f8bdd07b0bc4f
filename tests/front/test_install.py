"""`cortex install` and `uninstall` in a scratch home folder: each agent's format, and the exact
bytes after an uninstall.
"""

import json
import os
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cortex.front.agents import connections, record, rules
from cortex.front.agents import plan as planning
from cortex.front.agents.edits import json_files
from cortex.front.agents.plan import locate, reading_tools
from cortex.front.agents.table import AGENTS, NAME, VARIABLES, Agent
from cortex.front.cli import commands
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured

#: files with comments, trailing commas and an order of their own
BEFORE = {
    "json": '{\n    // mine\n    "theme": "dark", /* not bright */\n    "deep": {"a": [1, 2,], },\n}\n',
    "toml": '# mine\nmodel = "o3"  # the large one\n\n[mcp_servers.git]\ncommand = "git"\n',
    "yaml": "# mine\nmodel: large   # really\nextensions:\n  dev: # keep\n    enabled: true\nmcpServers:\n  - name: git\n    command: git\n",
}
#: what `cortex install` of version 0.1.0 wrote for all agents: files, and the record of its pieces
INSTALLED = Path(__file__).parent.parent / "golden" / "installed_0_1_0.json"
SCOPES = [
    pytest.param(agent, scope, id=f"{agent.name}-{scope}")
    for agent in AGENTS
    for scope in ("user", "project")
    if getattr(agent, scope)
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for variable, _ in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return folder


def every_byte(*folders: Path) -> dict[str, bytes]:
    """Return path → content, including folders."""
    paths = (path for folder in folders for path in folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else b"/" for path in paths}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def run(*words: str) -> int:
    return commands.run([*words])


def entry(agent: Agent, scope: str, root: Path):
    server = getattr(agent, scope).server
    text = locate(server.path, root).read_text()
    if server.form == "json":
        return json_files.json_value(text, server.keys)
    node = tomllib.loads(text) if server.form == "toml" else yaml.safe_load(text)
    for key in server.keys:
        node = node[key]
    return next(item for item in node if item["name"] == NAME) if isinstance(node, list) else node


@pytest.mark.parametrize("exists", [True, False], ids=["beside-others", "from-nothing"])
@pytest.mark.parametrize(("agent", "scope"), SCOPES)
def test_an_agent_is_connected_once_and_every_byte_comes_back(agent, scope, exists, home, capsys):
    project = Path.cwd()
    place = getattr(agent, scope)
    if exists:
        put(locate(place.server.path, project), BEFORE[place.server.form])
        if place.rules and not place.rules.head:
            put(locate(place.rules.path, project), "# House rules\r\n\r\nBe kind.\r\n")
        if place.allows:
            put(locate(place.allows, project), '{"permissions": {"allow": ["Bash(ls:*)"]}, "model": "x"}')
    before = every_byte(home, project)
    where = ["--project"] if scope == "project" else []

    assert run("install", agent.name, "--yes", *where) == EXIT_OK
    written_entry = entry(agent, scope, project)
    command = connections._entry_command(written_entry)
    assert command[0].endswith("cortex")
    assert command[1] == "mcp"
    if exists:
        now = iter(locate(place.server.path, project).read_text().splitlines())
        assert all(line in now for line in BEFORE[place.server.form].splitlines())
    if place.rules:
        assert rules.RULES.splitlines()[0] in locate(place.rules.path, project).read_text()
    written = every_byte(home, project)
    assert run("install", agent.name, "--yes", *where) == EXIT_OK
    assert "Everything is as it should be" in capsys.readouterr().out
    assert every_byte(home, project) == written

    assert run("uninstall", "--yes") == EXIT_OK
    assert every_byte(home, project) == before


def test_installed_agents_are_found_and_a_shared_section_goes_with_the_last(home, capsys):
    for sign in (".codex", ".config/opencode", ".claude"):
        (home / sign).mkdir(parents=True)
    before = every_byte(home, Path.cwd())
    assert run("install", "--project", "--yes", "--memory-hooks") == EXIT_OK
    settings = json.loads(Path(".claude/settings.json").read_text())
    allowed = settings["permissions"]["allow"]
    assert allowed == [f"mcp__cortex__{name}" for name in reading_tools()]
    assert "mcp__cortex__cortex_store" not in allowed
    assert set(settings["hooks"]) >= {"SessionStart", "Stop"}
    assert Path("AGENTS.md").read_text().count(rules.BEGIN) == 1
    assert run("uninstall", "codex", "--yes") == EXIT_OK
    assert not Path(".codex").exists()
    assert rules.BEGIN in Path("AGENTS.md").read_text()
    assert run("uninstall", "--yes") == EXIT_OK
    assert every_byte(home, Path.cwd()) == before
    capsys.readouterr()
    assert run("uninstall") == EXIT_OK
    assert "Nothing is installed" in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_nothing_is_written_unless_it_is_agreed_to(capsys):
    assert run("install", "cursor", "--project") == EXIT_NOTHING
    assert run("install", "cursor", "--project", "--print") == EXIT_OK
    assert '+      "type": "stdio"' in capsys.readouterr().out
    assert every_byte(Path.cwd()) == {str(Path.cwd() / ".git"): b"/"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "no JSON object"),
        ('{"mcpServers": {"cortex": {"command": "mine"}}}', 'another "cortex"'),
        ('{"mcpServers": []}', "no object"),
        ('{"mcpServers": {', "no JSON object"),
    ],
)
def test_a_file_that_is_not_understood_stays_and_the_sentence_says_why(home, capsys, text, why):
    path = put(home / ".cursor" / "mcp.json", text)
    assert run("install", "cursor", "--yes") == EXIT_NOTHING
    assert path.read_text() == text
    error = capsys.readouterr().err
    assert str(path) in error
    assert why in error


def test_edits_since_the_installation_stay(home, capsys):
    assert run("install", "cursor", "codex", "--yes") == EXIT_OK
    servers = home / ".cursor" / "mcp.json"
    settings = json.loads(servers.read_text())
    settings["mcpServers"]["git"] = {"command": "git"}
    servers.write_text(json.dumps(settings, indent=4))
    agents = home / ".codex" / "AGENTS.md"
    agents.write_text("Mine.\n\n" + agents.read_text().replace("callers", "who calls"))
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("args", "args   "))
    subagent = home / ".cursor" / "agents" / "cortex.md"
    subagent.write_text("Mine now.\n" + subagent.read_text()[4:])
    for _ in range(2):  # a refused part stays on record
        assert run("uninstall", "--yes") == EXIT_NOTHING
        printed = capsys.readouterr()
        assert f"{subagent} stays unchanged" in printed.err
        assert "as it should be" not in printed.out
    assert json.loads(servers.read_text()) == {"mcpServers": {"git": {"command": "git"}}}
    assert agents.read_text() == "Mine.\n\n"
    assert not config.exists()
    subagent.unlink()
    assert run("uninstall", "--yes") == EXIT_OK
    capsys.readouterr()
    assert run("uninstall", "--yes") == EXIT_OK
    assert "Nothing is installed" in capsys.readouterr().out


def test_another_program_takes_the_place_of_the_one_before(home, tmp_path, monkeypatch):
    assert run("install", "cursor", "--yes") == EXIT_OK
    for name in ("cortex",):
        put(tmp_path / "bin" / name, "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin" / "python"))
    assert run("install", "cursor", "--yes") == EXIT_OK
    servers = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert servers["cortex"]["command"] == str(tmp_path / "bin" / "cortex")
    assert run("uninstall", "--yes") == EXIT_OK
    assert not (home / ".cursor").exists()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("cursr",), r"'cursr' \(did you mean 'cursor'\?\)"),
        (("kiro",), "only be connected in a project"),
        (("goose", "--project"), "only be connected for all projects"),
        (("cursor", "--user", "--project"), "choose one"),
    ],
)
def test_an_impossible_connection_is_refused_with_a_sentence(words, why):
    with pytest.raises(Misconfigured, match=why):
        run("install", *words)


def test_links_and_rights_of_a_file_stay(home, tmp_path):
    real = put(tmp_path / "dotfiles" / "mcp.json", "{}\n")
    real.chmod(0o640)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert run("install", "cursor", "--yes") == EXIT_OK
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "cortex" in real.read_text()
    assert run("uninstall", "--yes") == EXIT_OK
    assert real.read_text() == "{}\n"


def test_rules_take_at_most_two_hundred_tokens():
    assert len(rules.section()) / 4 <= 200


def test_doctor_lists_connected_agents_and_failed_starts(home):
    put(home / ".cursor" / "mcp.json", '{"mcpServers": {"cortex": {"command": "/nowhere/cortex"}}}')
    put(
        home / ".codex" / "config.toml",
        '[mcp_servers.cortex]\ncommand = "sh"\nargs = ["-c", "echo broken >&2"]\n',
    )
    connected = {connection.agent.name: connection for connection in connections.entries(Path.cwd())}
    assert set(connected) == {"cursor", "codex"}
    with pytest.raises(Exception, match="cannot be started: No such file"):
        connections.try_out(connected["cursor"].command, Path.cwd())
    with pytest.raises(Exception, match="it ended: broken"):
        connections.try_out(connected["codex"].command, Path.cwd())


def test_an_agent_without_a_folder_gets_the_project_and_waits_for_one(home, monkeypatch, capsys):
    (home / ".config" / "Claude").mkdir(parents=True)
    (home / ".claude").mkdir()
    project = Path.cwd()
    monkeypatch.chdir(home)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Misconfigured, match="No project found"):
        run("install", "claude-desktop", "--yes")
    assert run("install", "--yes") == EXIT_OK
    assert [entry.agent.name for entry in connections.entries(project)] == ["claude-code"]
    monkeypatch.chdir(project)
    assert run("install", "claude-desktop", "--yes") == EXIT_OK
    [entry] = [candidate for candidate in connections.entries(project) if candidate.agent.placeless]
    assert entry.command[-2:] == ("--project", str(project))


@pytest.mark.parametrize(("agent", "scope"), SCOPES)
def test_each_agent_starts_the_server_for_the_project_at_hand(agent, scope, home):
    root = Path.cwd()
    assert run("install", agent.name, f"--{scope}", "--yes") == EXIT_OK
    [entry] = connections.entries(root)
    program, *words = entry.command
    assert Path(program).name == "cortex"
    assert words in (["mcp", "--for", "agent"], ["mcp", "--for", "agent", "--project", str(root)])
    assert words[1:] or not agent.placeless


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent.project], ids=lambda agent: agent.name)
def test_an_entry_that_came_with_a_clone_starts_no_other_program_and_asks_no_server(agent, home, monkeypatch):
    root = Path.cwd()
    trap = put(root / "bin" / "cortex", "#!/bin/sh\ntouch ran\n")
    trap.chmod(0o755)
    assert run("install", agent.name, "--project", "--yes") == EXIT_OK
    [entry] = connections.entries(root)
    program, *words = entry.command
    monkeypatch.setenv("PATH", f"{trap.parent}:.:{os.environ['PATH']}")
    ours = connections.trial_command(entry, root)
    assert (Path(ours[0]).name, Path(ours[0]).is_relative_to(root), ours[1:]) == (
        "cortex",
        False,
        tuple(words),
    )
    for hostile in (
        *(
            ("sh", "-c", "touch ran"),
            (str(trap), *words),
            ("bin/cortex", *words),
            (sys.executable, "-m", "cortex", "mcp"),
        ),
        *(
            (program, "mcp", "--server", "https://evil.example"),
            (program, "purge", "--notes", "--yes"),
            (program,),
        ),
        *((program, *words, "--sandbox"), (program, "mcp", "--project", "/")),
    ):
        assert connections.trial_command(replace(entry, command=hostile), root) == ()
        assert connections.trial_command(replace(entry, command=hostile, of_project=False), root) == hostile


def test_doctor_starts_no_command_of_a_clone(home, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    attack = {"command": "sh", "args": ["-c", f"touch {tmp_path}/ran"]}
    put(Path.cwd() / ".mcp.json", json.dumps({"mcpServers": {"cortex": attack}}))
    run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)}
    assert checks["agents"]["state"] == "odd"
    assert "was not started, as its command is not the one of `cortex install`" in checks["agents"]["text"]
    assert not (tmp_path / "ran").exists()


def test_codex_asks_for_no_approval_of_read_only_tools(home):
    put(home / ".codex" / "config.toml", 'model = "m"  # mine\n\n[tools]\nweb = true\n')
    assert run("install", "codex", "--yes") == EXIT_OK
    settings = tomllib.loads((home / ".codex" / "config.toml").read_text())
    tools = settings["mcp_servers"]["cortex"]["tools"]
    assert tools == {name: {"approval_mode": "approve"} for name in reading_tools()}
    assert "cortex_search" in tools
    assert not {name for name in tools if "store" in name or "forget" in name}
    assert settings["tools"] == {"web": True}
    assert run("install", "codex", "--yes") == EXIT_OK
    assert tomllib.loads((home / ".codex" / "config.toml").read_text()) == settings
    assert run("uninstall", "--yes") == EXIT_OK
    assert (home / ".codex" / "config.toml").read_text() == 'model = "m"  # mine\n\n[tools]\nweb = true\n'


def unpack(home: Path, project: Path) -> dict[Path, str]:
    """Write the files and the record that `cortex install` of version 0.1.0 wrote, for every agent
    with hooks, and return file → text.
    """
    installed = json.loads(INSTALLED.read_text())
    places = {"home": home, "project": project, "cortex": "/opt/older/bin/cortex"}

    def filled(text: str) -> str:
        text = text.replace("{rules}", installed["rules"])
        for name, place in places.items():
            text = text.replace(f"{{{name}}}", str(place))
        return text

    texts = {Path(filled(path)): filled(text) for path, text in installed["files"].items()}
    for path, text in texts.items():
        put(path, text)
    entries = [
        recorded
        | {
            "path": filled(recorded["path"]),
            "folders": [filled(folder) for folder in recorded["folders"]],
            "piece": filled(recorded["piece"] or installed["files"][recorded["path"]]),
        }
        for recorded in installed["record"]
    ]
    put(record.path_of(), json.dumps(entries))
    return texts


def install_every(*words: str) -> set[int]:
    return {
        run("install", agent.name, "--yes", *words, *(["--project"] if scope == "project" else []))
        for agent in AGENTS
        for scope in ("user", "project")
        if getattr(agent, scope)
    }


def test_an_upgrade_renews_every_text_of_the_version_before(home, capsys):
    texts = unpack(home, Path.cwd())
    assert install_every() == {EXIT_OK}
    for path, before in texts.items():
        text = path.read_text()
        assert not planning.is_outdated(text), path
        assert "again" not in text
        assert text.count(rules.RULES) == before.count("The `cortex` tools know") <= 1
        assert text.count('"cortex": {') == before.count('"cortex": {')
        assert text.count("cortex-hook") == before.count("cortex-hook")
    entries = list(connections.entries(Path.cwd()))
    assert len({entry.path for entry in entries}) == len(entries)
    assert all("--for" in entry.command for entry in entries)
    capsys.readouterr()

    after = every_byte(home, Path.cwd())
    assert install_every() == {EXIT_OK}
    assert "+++" not in capsys.readouterr().out
    assert every_byte(home, Path.cwd()) == after
    assert run("uninstall", "--yes") == EXIT_OK
    left = [path for path in texts if path.exists()]
    assert not left, left[0].read_text()


def test_an_upgrade_of_a_file_that_the_agent_rewrote_leaves_the_rest(home):
    unpack(home, Path.cwd())
    path = home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    settings["permissions"]["allow"].insert(3, "Bash(ls:*)")
    path.write_text(json.dumps(settings, indent=2))
    assert run("install", "claude-code", "--yes") == EXIT_OK
    renewed = json.loads(path.read_text())
    assert renewed["hooks"] == settings["hooks"]
    names = [f"mcp__cortex__{name}" for name in reading_tools()]
    assert sorted(renewed["permissions"]["allow"]) == sorted(["Bash(ls:*)", *names])


def test_texts_of_an_older_version_are_named_until_they_are_renewed(home):
    project = Path.cwd()
    put(Path(".mcp.json"), '{"mcpServers": {"cortex": {"command": "cortex", "args": ["mcp"]}}}')
    assert connections.outdated(project) == ""
    Path(".mcp.json").unlink()
    unpack(home, project)
    sentence = connections.outdated(project)
    for name in (".claude.json", ".claude/settings.json", "CLAUDE.md", "config.yaml"):
        assert name in sentence
    assert "`cortex install` renews them" in sentence
    assert "opencode.json; `cortex install --project` renews them" in sentence
    assert run("install", "claude-code", "--yes") == EXIT_OK
    assert ".claude.json" not in connections.outdated(project)
    assert install_every() == {EXIT_OK}
    assert connections.outdated(project) == ""


def test_an_upgrade_of_one_agent_keeps_a_shared_section_for_the_others(home):
    unpack(home, Path.cwd())
    assert run("install", "codex", "--project", "--yes") == EXIT_OK
    assert run("uninstall", "codex", "--yes") == EXIT_OK
    assert rules.RULES in Path("AGENTS.md").read_text()


def test_rules_and_sub_agents_name_offered_tools_alone():
    from cortex.front.tools import TOOLSETS

    offered = {line.name for line in TOOLSETS["agent"]}
    assert set(re.findall(r"cortex_\w+", rules.RULES)) <= offered
    assert not planning.is_outdated(rules.RULES)
    assert set(reading_tools()) == offered - {"cortex_store"}


@pytest.mark.parametrize("moved", VARIABLES)
def test_the_variable_by_which_an_agent_is_moved_is_followed(moved, home, tmp_path, monkeypatch, capsys):
    variable, inside = VARIABLES[moved]
    target = tmp_path / "moved" / ("settings.json" if moved.endswith("settings.json") else "")
    agent = next(
        agent
        for agent in AGENTS
        if agent.user and any(str(path).startswith(str(home / moved[2:])) for path in user_places(agent))
    )
    monkeypatch.setenv(variable, str(target))
    before = every_byte(home, tmp_path)
    assert run("install", agent.name, "--yes") == EXIT_OK
    places = user_places(agent)
    base = target / inside if inside else target
    assert any(path == base or base in path.parents for path in places)
    assert all(path.is_file() for path in places)
    assert not (home / moved[2:]).exists()
    assert agent.user.server.path.startswith("~/.config") or [
        entry.path for entry in connections.entries(Path.cwd()) if entry.agent == agent
    ] == [places[0]]
    monkeypatch.delenv(variable)
    assert run("uninstall", "--user", "--yes") == EXIT_OK
    assert every_byte(home, tmp_path) == before


def user_places(agent: Agent) -> list[Path]:
    return list(planning.places_of(agent.user, Path.cwd()))


def test_a_relative_variable_is_refused(home, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", "codex")
    with pytest.raises(Misconfigured, match="CODEX_HOME"):
        run("install", "codex", "--yes")


def rewrite(path: Path, form: str) -> None:
    """Write a file of settings as an agent does that keeps nothing of its spelling."""
    text = path.read_text()
    if form == "json":
        path.write_text(json.dumps(json_files.json_value(text, ()), indent="\t", sort_keys=True))
    elif form == "yaml":
        path.write_text(yaml.safe_dump(yaml.safe_load(text)))
    else:
        path.write_text("\n".join(toml_lines(tomllib.loads(text), ())) + "\n")


def toml_lines(table, keys):
    """Yield the lines of a document with a header for each table."""
    if keys:
        yield f"\n[{'.'.join(keys)}]"
    yield from (f"{key}={json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict))
    for key, value in table.items():
        if isinstance(value, dict):
            yield from toml_lines(value, (*keys, key))


def parsed(path: Path, form: str):
    text = path.read_text()
    if form == "json":
        return json_files.json_value(text, ())
    return (tomllib.loads(text) if form == "toml" else yaml.safe_load(text)) or {}


@pytest.mark.parametrize(("agent", "scope"), SCOPES)
def test_uninstall_takes_its_part_out_of_a_file_that_the_agent_has_rewritten(agent, scope, home, capsys):
    place, project = getattr(agent, scope), Path.cwd()
    server = locate(place.server.path, project)
    put(server, BEFORE[place.server.form])
    before = {server: (parsed(server, place.server.form), place.server.form)}
    if place.allows:
        settings = put(locate(place.allows, project), '{"model": "x", "permissions": {"allow": ["Bash"]}}')
        before[settings] = ({"model": "x", "permissions": {"allow": ["Bash"]}}, "json")
    where = ["--project"] if scope == "project" else []
    assert run("install", agent.name, "--yes", "--memory-hooks", *where) == EXIT_OK
    for path, (_, form) in before.items():
        rewrite(path, form)
    assert run("uninstall", "--yes") == EXIT_OK
    for path, (value, form) in before.items():
        assert parsed(path, form) == value
    assert not record.read()


@pytest.mark.parametrize(
    "text",
    [
        '{"vim_mode": true,\n  // "buffer_font_size": 15\n}\n',
        '{\n  "a": [1, /* two */\n  ], // last\n  /* b */ // c\n}\n',
        "{\n  // nothing yet\n}\n",
    ],
)
def test_a_comment_before_a_closing_brace_is_no_fault(home, text, capsys):
    path = put(home / ".config" / "zed" / "settings.json", text)
    assert run("install", "zed", "--yes") == EXIT_OK
    assert json_files.json_value(path.read_text(), ("context_servers", NAME))["args"]
    assert run("uninstall", "--yes") == EXIT_OK
    assert path.read_text() == text


def test_rules_are_written_only_where_the_entry_is(home, capsys):
    put(home / ".qwen" / "settings.json", '{"mcpServers": {"cortex": {"command": "mine"}}}')
    put(home / ".cursor" / "mcp.json", "[1]")
    before = every_byte(home)
    assert run("install", "cursor", "qwen", "--yes") == EXIT_NOTHING
    assert every_byte(home) == before
    assert "as it should be" not in capsys.readouterr().out
    assert run("install", "cursor", "qwen", "codex", "--yes") == EXIT_NOTHING
    assert capsys.readouterr().out.endswith("restart the agent.\nNot connected: Cursor, Qwen Code.\n")
    assert not (home / ".cursor" / "agents").exists()
    assert not (home / ".qwen" / "QWEN.md").exists()


def test_uninstall_takes_the_places_that_install_took(home, capsys):
    project, before = Path.cwd(), every_byte(home, Path.cwd())
    assert run("install", "codex", "claude-code", "--yes") == EXIT_OK
    user = every_byte(home, project)
    assert run("install", "codex", "claude-code", "--project", "--yes") == EXIT_OK
    assert run("uninstall", "--project", "--yes") == EXIT_OK
    assert set(every_byte(home, project)) == set(user)
    assert run("install", "codex", "--project", "--yes") == EXIT_OK
    assert run("uninstall", "codex", "--user", "--yes") == EXIT_OK
    assert not (home / ".codex").exists()
    assert (home / ".claude.json").exists()
    assert (project / ".codex" / "config.toml").exists()
    assert run("uninstall", "--user", "--yes") == run("uninstall", "--project", "--yes") == EXIT_OK
    assert every_byte(home, project) == before
    with pytest.raises(Misconfigured, match="choose one"):
        run("uninstall", "--user", "--project")


def test_pieces_of_an_older_record_are_known_by_their_place(home):
    unpack(home, Path.cwd())
    assert run("uninstall", "--user", "--yes") == EXIT_OK
    assert not (home / ".claude.json").exists()
    assert Path(".mcp.json").exists()
