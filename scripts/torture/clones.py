"""Hostile clones: attacks that a repository can carry. No file outside is changed, no program of
the attacker runs, nothing is sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from torture.forgeries import (
    NOTE,
    PLANTED,
    forge,
    judge_notes,
    make_victim,
    run_git,
    run_memory,
    unpack_anew,
    write_agent_entries,
    write_archives,
)
from torture.kills import load, look
from torture.record import Record
from torture.world import World, open_world

SCENARIO = "clones"
FILES = 5
#: seconds within which each command ends, and for which a front is queried
COMMAND_S, ASK_S = 60.0, 8.0
#: commands that a person types in a fresh clone: two of them, and always the last
COMMANDS = (("status",), ("doctor",), ("index",), ("exact", "shared"), ("search", "adds one"))
#: paths that Cortex makes below `.cortex` or its cache folder: each is replaced by a link once
PLACES = (
    "run", "run/watcher.log", "run/text.log", "run/supervisor.log", "run/indexer.json", "index", "index/CURRENT", "index/.CURRENT.tmp",
    "index/segments", "index/text", "index/vectors", "index/graph", "index/writer.lock", "index/6", "index/6/CURRENT", "chunks",
    "chunks/.tmp", "chunks/code-source.json.zst", "graph", "graph/.facts", "graph/code-graph.000.json.zst", "manifest.json", "project.json",
    "config.yml", ".gitignore", "trust.json", "embeddings", "memory.db", "chunks_dir",
)  # fmt: skip
#: settings of git that run a program
PROGRAMS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
    "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge", "filter.x.process", "credential.helper",
    "gpg.program", "sequence.editor", "uploadpack.packObjectsHook", "pager.ls-files", "pager.diff", "pager.log", "pager.status",
    "alias.ls-files", "interactive.diffFilter", "trace2.eventTarget", "browser.x.cmd", "merge.x.driver", "log.showSignature",
)  # fmt: skip
HOOKS = ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman")


@dataclass
class Attack:
    """The attacker's side, outside the project: canaries, a program, a port that nobody may
    call.
    """

    base: Path
    port: int
    calls: list[str] = field(default_factory=list)
    #: another repository of the person's, and the forged `.git` that claims to be of it
    victim: Path | None = None
    forgery: str = ""

    @property
    def canaries(self) -> Path:
        return self.base / "canaries"

    @property
    def mark(self) -> Path:
        """Return the path that the attacker's program writes when it runs."""
        return self.base / "ran"

    @property
    def program(self) -> Path:
        return self.base / "program"

    def state(self) -> dict[str, str]:
        """Return each canary → mode, size, time and hash."""
        states = {}
        for path in sorted((self.canaries, *self.canaries.rglob("*"))):
            info = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            states[str(path)] = f"{info.st_mode:o} {info.st_size} {info.st_mtime_ns} {content}"
        return states


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is a clone with three drawn attacks."""
    while time.monotonic() < until:
        draws = record.draws(SCENARIO)
        names = sorted(draws.sample(sorted(ATTACKS), 3), key=[*ATTACKS].index)
        with open_world(record, SCENARIO, FILES, draws) as world, _attack(world.base) as attack:
            _clone(world)
            if draws.random() < 0.5:  # as a person who consents to the files of other programs
                world.environment["CORTEX_TRUST_CHUNKS"] = "1"
                record.count("clones with consent")
            if "git forged" in names:
                attack.victim = make_victim(world.base, world.environment)
                run_memory(world, attack.victim, "store", "--title", NOTE, "--body", "b")
            for name in names:
                with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                    ATTACKS[name](world.root, attack, draws)
                record.count(f"clones with {name}")
            what = ", ".join((*names, attack.forgery))
            _use(world, attack, record, draws, what)
            if attack.victim is not None:
                judge_notes(world, attack.victim, record, draws, what)
        record.count("hostile clones")


@contextlib.contextmanager
def _attack(base: Path) -> Iterator[Attack]:
    """Make the canaries, a program and a listening port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        attack = Attack(base, listener.getsockname()[1])
        for name in ("file", "folder/old", "folder/1.seg", "folder/deep/file", "empty/.keep"):
            path = attack.canaries / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("left alone\n")
            os.utime(path, (1e9, 1e9))  # old enough for a program that prunes by age
        attack.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{attack.mark}'\n")
        attack.program.chmod(0o755)
        threading.Thread(target=_listen, args=(listener, attack), daemon=True).start()
        yield attack
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _listen(listener: socket.socket, attack: Attack) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(1.0)
                received = b""
                with contextlib.suppress(OSError):
                    received = connection.recv(300)
            attack.calls.append(received.decode(errors="replace"))


def _clone(world: World) -> None:
    """Make the world's project a real repository that tracks every file."""
    (world.root / ".git").rmdir()
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        ("commit", "-qm", f"{PLANTED}: ask evil.example"),
    ):
        run_git(world.root, world.environment, *arguments)
    world.environment |= {"CORTEX_MEMORY_DATA_DIR": str(world.base / "memory"), "CORTEX_MEMORY_GIT": "true"}


def _use(world: World, attack: Attack, record: Record, draws: random.Random, what: str) -> None:
    """Use the clone as an agent and a person would; then check that nothing outside changed."""
    before = attack.state()
    front = world.front()
    reply = front.initialize()
    ended = reply.kind == "gone"  # the configuration is unusable: the front prints why and ends
    if reply.kind == "silent":
        record.breaks(SCENARIO, "a front answers soon after its start", f"{what}: {load()}")
    deadline = time.monotonic() + ASK_S
    while not ended and time.monotonic() < deadline and look(world, front).has_any:
        time.sleep(0.2)
    world.save("saved.py", random.Random(1))
    if not ended and attack.victim is not None:
        front.call("cortex_recall", query=f"{NOTE} {PLANTED}")  # memory follows git from now on
    front.close(5.0)
    for arguments in (*draws.sample(COMMANDS, 2), ("down",)):
        try:
            done = world.command(*arguments, bound_s=COMMAND_S)
        except subprocess.TimeoutExpired:
            record.breaks(
                SCENARIO,
                "every command ends in a hostile clone",
                f"{what}: cortex {' '.join(arguments)}; {load()}",
            )
            continue
        if "Traceback" in done.stderr or done.returncode not in (0, 1, 2, 3):
            message = (
                f"{what}: cortex {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-300:]}"
            )
            record.breaks(SCENARIO, "a hostile clone is one sentence", message)
        if "\x1b" in done.stdout + done.stderr:
            record.breaks(
                SCENARIO,
                "no terminal sequence of a clone's is printed",
                f"{what}: cortex {' '.join(arguments)}",
            )
    _judge(attack, record, what, before)


def _judge(attack: Attack, record: Record, what: str, before: dict[str, str]) -> None:
    after = attack.state()
    changed = [
        f"{path}: {before.get(path)} → {after.get(path)}"
        for path in before | after
        if before.get(path) != after.get(path)
    ]
    if changed:
        record.count("canaries changed", len(changed))
        record.breaks(SCENARIO, "nothing outside the project is changed", f"{what}: {changed[:4]}")
    if attack.mark.exists():
        record.count("programs run")
        record.breaks(SCENARIO, "no program of a clone's runs", f"{what}: {attack.mark.read_text()[:300]}")
    if attack.calls:
        record.count("connections", len(attack.calls))
        record.breaks(SCENARIO, "nothing is sent to where a clone says", f"{what}: {attack.calls[:3]}")


def _links(root: Path, attack: Attack, draws: random.Random) -> None:
    """Put links below `.cortex`, to canaries."""
    for place in draws.sample(PLACES, 6):
        path = root / ".cortex" / place
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(attack.canaries / draws.choice(("folder", "file", "empty", "new")))


def _replace_with_link(root: Path, attack: Attack, draws: random.Random) -> None:
    """Replace `.cortex`, or a path that git reads, with a link."""
    name = draws.choice((".cortex", ".gitignore", ".git/info", "src/.gitignore", ".gitattributes"))
    path = root / name
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name("moved"))
        path.symlink_to(attack.canaries / draws.choice(("folder", "file", "new")))


def _devices(root: Path, attack: Attack, draws: random.Random) -> None:
    """Put endless and silent files where a configuration is read."""
    del attack
    for place in draws.sample(
        (
            ".gitignore",
            ".cortex/config.yml",
            ".cortex/chunks/a.json",
            ".git/info/exclude",
            ".cortex/graph/a.json",
        ),
        3,
    ):
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if draws.random() < 0.5:
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")


def _settings(root: Path, attack: Attack, draws: random.Random) -> None:
    """Write a configuration that explodes, runs code, or names an endpoint or a folder
    elsewhere.
    """
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    hosts = (
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "127.1",
        "2130706433",
        "user@127.0.0.1",
        socket.gethostname(),
    )
    host = draws.choice(hosts)
    texts = (
        bomb + "server: *a11\n",
        f"embedding: {{provider: http, endpoint: 'http://{host}:{attack.port}/embed'}}\n",
        f"embedding: {{provider: local, endpoint: 'http://{host}:{attack.port}/embed'}}\n",
        f"embedding: {{endpoint: 'http://{host}:{attack.port}/embed', model: x, dimensions: 3}}\n",
        f"server: {{chunks_dir: '{attack.canaries}/folder'}}\n",
        "server: {chunks_dir: ../canaries/folder}\n",
        f"a: !!python/object/apply:os.system ['{attack.program}']\n",
        "x" * 5_000_000,
        "[" * 50_000,
        "? " * 20_000,
        "server: {deadline_s: .inf, debounce_ms: -1, idle_exit_s: 1.0e+308}\n",
        "indexing: {ignore: ['" + "**/" * 3000 + "x']}\n",
        "server: {toolsets: ['\\e[2J\\e]0;title\\a']}\n",
        '"\\e[31mkey\\n": 1\n',
        "\0\xff",
    )
    path = root / ".cortex" / "config.yml"
    path.parent.mkdir(exist_ok=True)
    with path.open("x") as file:
        file.write(draws.choice(texts))


def _git_programs(root: Path, attack: Attack, draws: random.Random) -> None:
    """Write a git configuration that runs the attacker's program at any occasion."""
    config = root / ".git" / "config"
    hooks = root / ".git" / ("hooks" if draws.random() < 0.5 else "other-hooks")
    lines = ["[core]", "\trepositoryformatversion = 0", f"\thooksPath = {hooks}"]
    for name in PROGRAMS:
        section, _, key = name.rpartition(".")
        head, _, sub = section.partition(".")
        shell = "!" if head in ("alias", "credential") else ""
        lines += [f'[{head} "{sub}"]' if sub else f"[{head}]", f"\t{key} = {shell}{attack.program} {name}"]
    config.write_text("\n".join(lines) + "\n")
    (root / ".gitattributes").unlink(missing_ok=True)
    (root / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\n{attack.program} {name}\n")
        (hooks / name).chmod(0o755)
    for path in root.rglob("*.py"):
        path.touch()  # gives git a reason to read the files


def _git_elsewhere(root: Path, attack: Attack, draws: random.Random) -> None:
    """Make `.git` a file or a link to outside, or let its settings include an outside file."""
    (attack.base / "config-elsewhere").write_text(f"[core]\n\tfsmonitor = {attack.program} included\n")
    kind = draws.randrange(3)
    config = root / ".git" / "config"
    if kind == 0:
        with config.open("a") as file:
            file.write(
                f"[include]\n\tpath = {attack.base}/config-elsewhere\n[core]\n\tworktree = {attack.canaries}\n"
            )
        return
    (root / ".git").rename(root / "gitfolder")
    if kind == 1:
        (root / ".git").write_text("gitdir: gitfolder\n")
    else:
        (root / ".git").symlink_to("gitfolder")
    with (root / "gitfolder" / "config").open("a") as file:
        file.write(f"[core]\n\tfsmonitor = {attack.program} moved\n")


def _chunks(root: Path, attack: Attack, draws: random.Random) -> None:
    """Write chunk and graph files with commands, terminal sequences and outside paths as ids, paths
    and texts; damaged files; enormous numbers.
    """
    evil = (
        f"\n$(touch '{attack.mark}')\n",
        "\x1b]0;x\x07\x1b[2J",
        "../../canaries/file",
        str(attack.canaries / "file"),
        "\0",
        "a" * 100_000,
    )
    chunks = [
        {
            "id": draws.choice(evil) + str(number),
            "chunk_type": draws.choice(("code", "documentation", "\x1b[31m", "nonsense")),
            "title": draws.choice(evil),
            "text": f"def hostile_{number}(): ... {draws.choice(evil)} shared adds one",
            "tags": [draws.choice(evil)],
            "metadata": {
                "file_path": draws.choice(evil),
                "start_line": draws.choice((1, -5, 2**70, "x")),
                "end_line": draws.choice((1, 2**64)),
                "language": draws.choice(evil),
                "symbols": [draws.choice(evil)],
            },
        }
        for number in range(40)
    ]
    folder = root / ".cortex" / "chunks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "theirs.json").write_text(
        json.dumps({"_metadata": {"dimensions": 2**40, "generator": evil[1]}, "chunks": chunks})
    )
    (folder / "broken.json").write_text(
        draws.choice(("", "[{]", "[" * 100_000, "{}", '{"chunks": 5}', "[1, null]"))
    )
    graph = root / ".cortex" / "graph"
    graph.mkdir(exist_ok=True)
    (graph / "theirs.json").write_text(
        draws.choice(("{}", "[" * 100_000, json.dumps({"nodes": chunks, "edges": [[1, 2]]})))
    )
    with contextlib.suppress(subprocess.SubprocessError):
        subprocess.run(
            ["git", "add", "-Af"], cwd=root, check=False, timeout=20, capture_output=True
        ) if draws.random() < 0.5 else None


def _modules(root: Path, attack: Attack, draws: random.Random) -> None:
    """Add modules with Cortex's module names, and files that Python or a shell runs at its
    start.
    """
    del draws
    for name in (
        "cortex",
        "workers",
        "ipc",
        "sitecustomize",
        "usercustomize",
        "json",
        "yaml",
        "conftest",
        "numpy",
        "zmq",
    ):
        (root / f"{name}.py").write_text(f"import os\nos.system({str(attack.program)!r})\n")
    (root / ".envrc").write_text(f"{attack.program}\n")
    (root / ".env").write_text(
        f"CORTEX_EMBEDDING_ENDPOINT=http://127.0.0.1:{attack.port}/\nPYTHONSTARTUP=sitecustomize.py\n"
    )
    (root / "pyvenv.cfg").write_text("home = .\n")


def _git_forged(root: Path, attack: Attack, draws: random.Random) -> None:
    assert attack.victim is not None
    attack.forgery = forge(root, attack.victim, draws)


#: attack → function that adds it to a clone, in their order: those on git go last, as the torture
#: itself runs git before, and then the clone's archive
ATTACKS: dict[str, Callable[[Path, Attack, random.Random], None]] = {
    "links": _links,
    "links for the whole": _replace_with_link,
    "devices": _devices,
    "settings": _settings,
    "chunk files": _chunks,
    "modules": _modules,
    "archives": lambda root, attack, draws: write_archives(root, attack.canaries, draws),
    "agents": lambda root, attack, draws: write_agent_entries(root, attack.program, attack.port, draws),
    "git elsewhere": _git_elsewhere,
    "git programs": _git_programs,
    "git forged": _git_forged,
    "unpacked": lambda root, _attack, draws: unpack_anew(root, draws),
}
