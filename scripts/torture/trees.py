"""Hostile trees: folders that no sane project has. Indexing ends, the good files are found, memory
stays bounded.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

from torture.kills import load, look
from torture.record import Record
from torture.world import World, open_world

SCENARIO = "trees"
#: good files beside the hostile files
FILES = 6
#: seconds until the good files must be found, in a usual tree and in a wide one
FOUND_S, WIDE_FOUND_S = 60.0, 400.0
#: files of the widest folder; a run shorter than this many seconds makes a narrower folder
WIDE_FILES, NARROW_FILES, WIDE_FROM_S = 100_000, 3_000, 100.0
#: nested folders: deeper than the longest path from the root
DEPTH = 1_500
#: bytes of a sparse file
GIANT_BYTES = 50 << 30
NAMES = (
    "new\nline.py", "tab\t.py", "quote'\".py", "back\\slash.py", "-rf.py", "--help.py", "*.py", "[a-].py", "$(touch x).py",
    "`id`.py", "ü ß 中文.py", "\u202egnp.py", "\x1b[31mred.py", "a" * 250 + ".py", ".hidden.py", "con.py", " .py", "..py", "%s%n.py",
)  # fmt: skip
BAD_NAMES = (b"\xff\xfe.py", b"caf\xe9.py", b"\x80" * 40 + b".py")
BAD_IGNORES = (
    b"*.[[:digit:]]\n", b"[z-a]\n", b"x" * 100_000 + b"\n", b"\n".join(b"no_%d_*" % n for n in range(100_000)), b"\xff\xfe\0bad\n",
    b"a/**/" * 200 + b"b\n", b"!" * 50 + b"\n", b"\\\n", b"{a,b\n", b"[" * 500 + b"\n", b"(a+)+$\n" + b"*a" * 60 + b"\n",
)  # fmt: skip


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is a tree of three drawn hazards."""
    seconds = until - time.monotonic()
    wide = WIDE_FILES if seconds >= WIDE_FROM_S else NARROW_FILES
    first = True
    while time.monotonic() < until:
        draws = record.draws(SCENARIO)
        names = draws.sample(sorted(HAZARDS), 3)
        if first and "wide" not in names:
            names[0] = "wide"
        first = False
        with open_world(record, SCENARIO, FILES, draws) as world:
            for name in names:
                HAZARDS[name](world.root, draws, wide)
                record.count(f"trees with {name}")
            bound_s = WIDE_FOUND_S if "wide" in names and wide == WIDE_FILES else FOUND_S
            _index(world, record, names, bound_s)
        record.count("hostile trees")


def _index(world: World, record: Record, names: list[str], bound_s: float) -> None:
    started = time.monotonic()
    front = world.front()
    front.initialize()
    what = ", ".join(names)
    while True:
        missing = look(world, front)
        if not missing.has_any:
            break
        if time.monotonic() - started > bound_s or not front.alive:
            detail = f"{what}: {missing}; {_last_log_text(world, front)}; {load()}"
            record.breaks(SCENARIO, "the good files of a hostile tree are found", detail)
            break
        time.sleep(0.1)
    record.measure("a hostile tree until its good files are found, s", time.monotonic() - started)
    if not front.close(5.0):
        record.breaks(SCENARIO, "a front ends with its standard input", what)
    if left := world.wait_for_exit():
        record.breaks(SCENARIO, "no process outlives its purpose", f"{what}: {left}")


def _last_log_text(world: World, front: object) -> str:
    del front
    last = ""
    with contextlib.suppress(OSError):
        last = (world.config.run_dir / "indexer.log").read_text(errors="replace")[-300:]
    return f"the indexer's last words {last!r}"


def _deep(root: Path, draws: random.Random, wide: int) -> None:
    del wide, draws
    descriptor = os.open(root, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    with os.fdopen(os.open("bottom.py", os.O_WRONLY | os.O_CREAT, dir_fd=descriptor), "w") as file:
        file.write("def bottom(): ...\n")
    os.close(descriptor)


def _wide(root: Path, draws: random.Random, wide: int) -> None:
    folder = root / "wide"
    folder.mkdir(exist_ok=True)
    text = draws.choice(("", "x = 1\n"))
    for number in range(wide):
        (folder / f"f{number}{draws.choice(('.py', '.txt', '.dat'))}").write_text(text)


def _names(root: Path, draws: random.Random, wide: int) -> None:
    del wide, draws
    for name in NAMES:
        (root / name).write_text("def strange(): ...\n")
        with contextlib.suppress(OSError):
            (root / f"d {name}").mkdir()
            (root / f"d {name}" / name).write_text("def strange(): ...\n")
    for raw in BAD_NAMES:
        with contextlib.suppress(OSError), open(os.fsencode(root) + b"/" + raw, "w") as file:
            file.write("def strange(): ...\n")


def _pipes(root: Path, draws: random.Random, wide: int) -> None:
    del wide, draws
    for name in ("pipe.py", "README.md", ".gitignore", "src/pipe.go"):
        (root / name).parent.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another attack made this path
            os.mkfifo(root / name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket.py"))


def _links(root: Path, draws: random.Random, wide: int) -> None:
    """Make links to devices, to themselves, to above, in a circle, to nowhere, to root's files."""
    del wide, draws
    places = {
        "zero.py": "/dev/zero", "random.md": "/dev/urandom", "tty.py": "/dev/tty", "self.py": "self.py", "up": "..", "here": ".",
        "one": "two", "two": "one", "all": "/", "proc": "/proc/self", "nowhere.py": "/nowhere", "shadow.txt": "/etc/shadow",
    }  # fmt: skip
    for name, place in (*places.items(), (".gitignore", "/dev/zero")):
        with contextlib.suppress(FileExistsError):
            (root / name).symlink_to(place)


def _giants(root: Path, draws: random.Random, wide: int) -> None:
    """Make sparse files of an enormous size, a line of megabytes, deep brackets, binary files."""
    del wide
    for name in ("giant.py", "giant.json", "giant"):
        with (root / name).open("wb") as file:
            file.truncate(GIANT_BYTES)
    (root / "line.js").write_text("x" * 900_000)
    (root / "deep.json").write_text("[" * 200_000)
    (root / "deep.py").write_text("(" * 50_000 + ")" * 50_000)
    (root / "deep.c").write_text("{" * 50_000)
    (root / "noise.py").write_bytes(draws.randbytes(500_000))
    (root / "nul.py").write_bytes(bytes(100_000))


def _forbidden(root: Path, draws: random.Random, wide: int) -> None:
    """Make files that may not be read (root can: then only the modes are strange)."""
    del wide, draws
    (root / "closed").mkdir()
    (root / "closed" / "in.py").write_text("x = 1\n")
    (root / "secret.py").write_text("x = 1\n")
    (root / "secret.py").chmod(0)
    (root / "closed").chmod(0)


def _nested(root: Path, draws: random.Random, wide: int) -> None:
    """Make projects in the project: clones, a git file that points elsewhere, other settings."""
    del wide, draws
    for number, git in enumerate(("gitdir: /nowhere", "gitdir: ../..", "nonsense\0" * 1000)):
        inner = root / f"inner_{number}"
        (inner / ".cortex" / "chunks").mkdir(parents=True)
        (inner / ".git").write_text(git)
        (inner / ".cortex" / "config.yml").write_text("indexing: {ignore: ['**']}\n")
        (inner / ".cortex" / "chunks" / "a.json").write_text("[{]")
        (inner / ".gitignore").write_text("*\n")
        (inner / "code.py").write_text("def inner(): ...\n")
    shutil.copytree(root / "inner_0", root / "inner_1" / "again")


def _ignores(root: Path, draws: random.Random, wide: int) -> None:
    del wide
    place = draws.choice((root, root / "src", root / "quiet"))
    place.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError), (place / ".gitignore").open("xb") as file:
        file.write(b"".join(draws.sample(BAD_IGNORES, 3)))


#: hazard → function that makes it in a project's folder
HAZARDS: dict[str, Callable[[Path, random.Random, int], None]] = {
    "deep": _deep,
    "wide": _wide,
    "names": _names,
    "pipes": _pipes,
    "links": _links,
    "giants": _giants,
    "forbidden": _forbidden,
    "nested": _nested,
    "ignores": _ignores,
}
