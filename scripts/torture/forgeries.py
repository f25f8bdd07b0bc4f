"""Forged `.git` of each kind, hostile archives and agents' files, drawn from a grammar.

A forged `.git` claims to be of a victim's repository beside the clone. Its notes must never be
found from the clone, nor the clone's commits become notes of the victim.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from cortex.settings.folders.identity import identity_of, origin_of
from torture.record import Record
from torture.world import World

#: words of the victim's note, and of the clone's commit
NOTE, PLANTED = "victimnoteword", "plantedcommitword"
WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
#: forgeries besides the one that is used
MANY = 100
#: bytes after decompression of a member of a bomb
BOMB_BYTES = 400 << 20
SUFFIXES = (".docx", ".xlsx", ".pptx", ".zip", ".jar", ".ipynb.gz", ".tar.gz", ".pdf", ".epub", ".whl")
_XML = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "' + b"x" * 999 + b'">%s]><a>&z;</a>'


def make_victim(base: Path, environment: dict[str, str]) -> Path:
    """Make the victim's repository, with a worktree, in `base`; return its folder."""
    victim = base / "victim"
    victim.mkdir()
    (victim / "secret.py").write_text("def secret(): ...\n")
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        ("commit", "-qm", "victim"),
        ("remote", "add", "origin", "https://example.org/a/victim"),
        ("worktree", "add", "-q", str(base / "worktree")),
    ):
        run_git(victim, environment, *arguments)
    return victim


def run_git(folder: Path, environment: dict[str, str], *arguments: str) -> None:
    clean = environment | {"GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nowhere"}
    subprocess.run(
        ["git", *WHO, *arguments], cwd=folder, env=clean, check=True, timeout=60, capture_output=True
    )


def forge(root: Path, victim: Path, draws: random.Random) -> str:
    """Replace `.git` of the clone by a drawn forgery; return its description."""
    git = root / ".git"
    if git.is_dir() and not git.is_symlink():
        git.rename(root / "gitfolder")
    else:  # of an attack before
        git.unlink()
    kind = draws.choice(sorted(KINDS))
    return f"{kind}: {KINDS[kind](root, victim / '.git', draws)}"


def _name(path: Path, root: Path, draws: random.Random) -> str:
    """Return a drawn way to write a path."""
    relative = os.path.relpath(path, root)
    return draws.choice(
        (
            str(path),
            relative,
            f"./{relative}",
            f"{path}/.",
            f"{path}/../{path.name}",
            f"gitfolder/../{relative}",
        )
    )


def _text(path: str, draws: random.Random) -> str:
    """Return a pointer to a path with drawn blanks, line ends and more around it."""
    before = draws.choice(("", "", "", " ", "\t", "\n", "\ufeff"))
    after = draws.choice(("", "", "\n", "\r\n", "\n\n", " ", "\0more", "\nsecond", "x" * 9000))
    return before + path + after


def _link(root: Path, git: Path, draws: random.Random) -> str:
    target = draws.choice((git, git.parent / "../worktree/.git", git / "worktrees" / "worktree"))
    (root / ".git").symlink_to(_name(target, root, draws))
    return str(target)


def _file(root: Path, git: Path, draws: random.Random) -> str:
    """A pointer file to the victim's data."""
    target = draws.choice((git, git / "worktrees" / "worktree", git / "modules" / "a", root / "gitfolder"))
    head = draws.choice(("gitdir: ", "gitdir: ", "gitdir:", "GITDIR: ", " gitdir: ", "gitdir:  "))
    text = head + _text(_name(target, root, draws), draws)
    (root / ".git").write_text(text)
    return repr(text[:200])


def _fake(root: Path, git: Path, draws: random.Random) -> str:
    """A git folder elsewhere in the clone, with a forged commondir and a way back."""
    place = draws.choice(("fake", "worktrees/worktree", "repo.git/worktrees/worktree", ".cortex/worktrees/a"))
    folder = root / place
    folder.mkdir(parents=True)
    common = draws.choice((git, git, git / ".", root / "gitfolder", git / "worktrees" / ".."))
    files = {
        "commondir": _text(_name(common, folder, draws), draws),
        "gitdir": _text(_name(root / ".git", folder, draws), draws),
        "HEAD": draws.choice(("ref: refs/heads/main\n", "ref: refs/heads/worktree\n", "0" * 40)),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (root / ".git").write_text("gitdir: " + _name(folder, root, draws))
    return f"{place} {files['commondir'][:100]!r} {files['gitdir'][:100]!r}"


def _linked_fake(root: Path, git: Path, draws: random.Random) -> str:
    """A git folder elsewhere in the clone that leads to the victim's by a link on the way."""
    link, target, pointer = draws.choice(
        (
            ("fake", git / "worktrees" / "worktree", "fake"),
            ("fake", git, "fake/worktrees/worktree"),
            ("repo.git/worktrees", git / "worktrees", "repo.git/worktrees/worktree"),
            ("fake", git.parent, "fake/.git"),
        )
    )
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(target)
    (root / ".git").write_text(f"gitdir: {pointer}\n")
    return f"{link} → {target}"


def _folder(root: Path, git: Path, draws: random.Random) -> str:
    """A real git folder that borrows the victim's commits, objects or settings."""
    folder = root / ".git"
    (root / "gitfolder").rename(folder)
    trick = draws.choice(("commondir", "alternates", "config", "linked refs", "linked objects"))
    if trick == "commondir":
        (folder / "commondir").write_text(_text(_name(git, folder, draws), draws))
    elif trick == "alternates":
        (folder / "objects" / "info").mkdir(exist_ok=True)
        (folder / "objects" / "info" / "alternates").write_text(f"{git / 'objects'}\n")
    elif trick == "config":
        (folder / "config").write_text(
            f"[core]\n\tworktree = {git.parent}\n[include]\n\tpath = {git / 'config'}\n"
        )
    else:
        name = trick.partition(" ")[2]
        (folder / name).rename(folder / f"own {name}")
        (folder / name).symlink_to(git / name)
    return trick


def _taken_worktree(root: Path, git: Path, draws: random.Random) -> str:
    """The pointer file of the victim's own worktree: a copy, or the same file under a second
    name.
    """
    pointer = git.parent.parent / "worktree" / ".git"
    if draws.random() < 0.5:
        (root / ".git").hardlink_to(pointer)
        return "a hard link"
    (root / ".git").write_bytes(pointer.read_bytes())
    return "a copy"


def _nonsense(root: Path, git: Path, draws: random.Random) -> str:
    del git
    if draws.random() < 0.3:
        os.mkfifo(root / ".git")
        return "a pipe"
    (root / ".git").write_bytes(
        draws.choice((b"", b"gitdir: ", b"gitdir: /\n", b"gitdir: .git\n", draws.randbytes(5000)))
    )
    return "bytes"


#: kind of a forged `.git` → function that makes it
KINDS: dict[str, Callable[[Path, Path, random.Random], str]] = {
    "link": _link,
    "file": _file,
    "gitdir elsewhere": _fake,
    "gitdir by a link": _linked_fake,
    "borrowing folder": _folder,
    "another's worktree": _taken_worktree,
    "nonsense": _nonsense,
}


def write_archives(root: Path, canaries: Path, draws: random.Random) -> None:
    """Put archives and compressed documents into the clone that explode, or name paths outside."""
    folder = root / "archives"
    folder.mkdir(exist_ok=True)
    for number, suffix in enumerate(draws.sample(SUFFIXES, 4)):
        path = folder / f"a{number}{suffix}"
        if suffix == ".tar.gz":
            _write_tar(path, canaries)
        elif draws.random() < 0.25:
            path.write_bytes(
                draws.choice(
                    (
                        b"PK\x03\x04",
                        b"PK\x05\x06" + b"\xff" * 18,
                        b"%PDF-1.7\n" + b"[" * 100_000,
                        b"\x1f\x8b\x08",
                    )
                )
            )
        else:
            _write_zip(path, canaries, draws)


def _write_zip(path: Path, canaries: Path, draws: random.Random) -> None:
    entities = b"".join(b'<!ENTITY %c "%s">' % (99 + at, b"&%c;" % (98 + at) * 10) for at in range(9))
    members = {
        "word/document.xml": _XML % (entities + b'<!ENTITY z "&k;">'),
        "xl/worksheets/sheet1.xml": _XML % b'<!ENTITY z SYSTEM "file:///etc/passwd">',
        "ppt/slides/slide1.xml": b"<a>" * 100_000,
        str(canaries / "file"): b"replaced",
        "../../canaries/file": b"replaced",
        "[Content_Types].xml": b"\0" * draws.choice((10, BOMB_BYTES)),
    }
    names = draws.sample(sorted(members), 4)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            archive.writestr(name, members[name])
    if draws.random() < 0.3:
        raw = bytearray(path.read_bytes())
        for _ in range(20):
            raw[draws.randrange(len(raw))] ^= 1 << draws.randrange(8)
        path.write_bytes(raw)


def _write_tar(path: Path, canaries: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name in (str(canaries / "file"), "../../canaries/file", "link/file"):
            if name.startswith("link"):
                link = tarfile.TarInfo("link")
                link.type, link.linkname = tarfile.SYMTYPE, str(canaries)
                archive.addfile(link)
            info = tarfile.TarInfo(name)
            info.size = 8
            archive.addfile(info, io.BytesIO(b"replaced"))


def write_agent_entries(root: Path, program: Path, port: int, draws: random.Random) -> None:
    """Put the attacker's program, or a server of his, into files of agents."""
    command, *words = draws.choice(
        (
            ("cortex", "mcp", "--server", f"http://localhost:{port}"),
            ("cortex", "purge", "--notes", "--yes"),
            (str(program), "mcp", "--for", "agent"),
            ("./cortex", "mcp"),
            ("sh", "-c", str(program)),
        )
    )
    (root / "cortex").symlink_to(program)
    entry = json.dumps({"cortex": {"command": command, "args": words}})
    for place, key in (
        (".mcp.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".vscode/mcp.json", "servers"),
    ):
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text(f'{{"{key}": {entry}}}')


def unpack_anew(root: Path, draws: random.Random) -> None:
    """Pack the clone, and unpack it in its place as a person unpacks an archive: links, pipes and
    modes come along, and times are as drawn.
    """
    packed = root.with_name("clone.tar")
    subprocess.run(
        ["tar", "-cf", packed, "-C", root.parent, root.name], check=False, timeout=60, capture_output=True
    )
    root.rename(root.with_name("packed"))
    subprocess.run(["tar", "-xf", packed, "-C", root.parent], check=True, timeout=60, capture_output=True)
    packed.unlink()
    moment = draws.choice((0.0, 1e9, 4e9))
    for path in root.rglob("*"):
        with contextlib.suppress(OSError):
            os.utime(path, (moment, moment), follow_symlinks=False)


def draw_many(base: Path, victim: Path, draws: random.Random, number: int) -> list[str]:
    """Draw so many forgeries in new folders of `base`; return those that are taken for the
    victim's.
    """
    victims = {identity_of(victim), identity_of(victim.with_name("worktree"))}
    joined = []
    for at in range(number):
        root = base / f"forged{at}" / "clone"
        (root / ".git" / "objects").mkdir(parents=True)
        (root / ".git" / "refs").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        what = forge(root, victim, draws)
        if identity_of(root) in victims or origin_of(root):
            joined.append(what)
    return joined


def judge_notes(world: World, victim: Path, record: Record, draws: random.Random, what: str) -> None:
    """Check that the clone has none of the victim's notes, and the victim none of the clone's; and
    that no other drawn forgery would have them.
    """
    scenario = "clones"
    record.count("forged repositories")
    joined = draw_many(world.base / "many", victim, draws, MANY)
    record.count("drawn forgeries", MANY)
    if identity_of(world.root) == identity_of(victim):
        joined.append(what)
    for forgery in joined[:3]:
        record.breaks(scenario, "a forged repository is a project of its own", forgery)
    if NOTE not in (output := run_memory(world, victim, "recall", NOTE)):
        record.breaks(scenario, "a note of another project stays", f"{what}: {output[-300:]}")
    for place, word in ((world.root, NOTE), (victim, PLANTED)):
        if word in (output := run_memory(world, place, "recall", word)):
            record.breaks(scenario, "a forged repository joins no other's notes", f"{what}: {output[:300]}")
    run_memory(world, None, "down")


def run_memory(world: World, project: Path | None, *arguments: str) -> str:
    """Run a command for memory; return all its output. Raises subprocess.TimeoutExpired."""
    place = ("--project", str(project)) if project else ()
    done = world.run("memory", *arguments, *place, bound_s=90.0)
    return done.stdout + done.stderr
