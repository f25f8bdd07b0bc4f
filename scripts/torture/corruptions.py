"""Corruptions: any file of the index, the cache and the runtime folder is cut, zeroed, scrambled,
replaced or taken away, under a running set and between two. Everything is found again by itself.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import stat
import time
from pathlib import Path

from torture.front import Front
from torture.kills import Missing, load, look
from torture.record import Record
from torture.world import World, made_world

PART = "corruptions"
#: files of the project
FILES = 8
#: seconds in which what was damaged must be whole again without a save, on a machine that does
#: nothing else; counted above it, and broken above HEALED_S_MAX, which leaves room for a load
HEALED_S, HEALED_S_MAX = 5.0, 40.0
#: damages between two saves, which have what was damaged read and written again
DAMAGES_BETWEEN_SAVES = 5
#: share of the damages that are done between two sets; each start reads all that was damaged before
COLD_SHARE = 0.35
#: bytes that are overwritten in one place
BYTES_MAX = 4096
#: names of one kind differ in these: numbers and content hashes
_NUMBER = re.compile(r"[0-9a-f]{16,}|\d+")


def run(record: Record, until: float) -> None:
    """Steps until `until` (monotonic), hot and cold in turns."""
    with made_world(record, PART, FILES) as world:
        front = world.front()
        front.initialize()
        healed(world, front, record, "nothing")
        seen: dict[str, int] = {}
        done: list[str] = []
        number = 0
        while time.monotonic() < until:
            draws = record.draws(PART)
            number += 1
            if number % DAMAGES_BETWEEN_SAVES == 0:
                world.save(draws.choice(sorted(world.words.values())), draws)
            front = step(world, front, record, draws, seen, done)
        record.measure("kinds of files damaged", len(seen))
        front = _restart(world, front)
        healed(world, front, record, f"cold start after {done}").close(5.0)


def step(
    world: World, front: Front, record: Record, draws: random.Random, seen: dict[str, int], done: list[str]
) -> Front:
    """Damage one file, of the kinds that were damaged least, and wait until all is well again.

    `done`: the damages since the last start; what nobody reads is noticed by the next one.
    """
    cold = draws.random() < COLD_SHARE
    if cold:
        front.close(5.0)
        world.command("down")
    kinds = kinds_of(world)
    least = min(seen.get(kind, 0) for kind in kinds)
    kind = draws.choice(sorted(kind for kind in kinds if seen.get(kind, 0) == least))
    seen[kind] = seen.get(kind, 0) + 1
    path = draws.choice(kinds[kind])
    how = draws.choice(sorted(DAMAGES))
    what = f"{'cold' if cold else 'hot'} {how} of {path.relative_to(world.base)}"
    done.append(what)
    try:
        DAMAGES[how](path, draws)
    except OSError:
        record.count("damages that the system refused")
        return _again(world, front, cold)
    record.count("corruptions")
    record.count(f"corruptions {'cold' if cold else 'hot'}")
    record.count(f"corruptions of {kind}")
    front = _again(world, front, cold)
    before = f" (before it {done[:-1]})" if cold and len(done) > 1 else ""
    front = healed(world, front, record, what + before)
    if cold:
        done.clear()
    return front


def _restart(world: World, front: Front) -> Front:
    front.close(5.0)
    world.command("down")
    return _again(world, front, cold=True)


def _again(world: World, front: Front, cold: bool) -> Front:
    if cold or not front.alive:
        front = world.front()
        front.initialize()
    return front


def healed(world: World, front: Front, record: Record, what: str) -> Front:
    """Wait until every word is found where it is; takes another front for one that ended."""
    started = time.monotonic()
    missing = Missing()
    while time.monotonic() - started < HEALED_S_MAX:
        if not front.alive:
            record.breaks(PART, "a front lives on", f"after {what} it ended with {front.process.poll()}")
            front.close()
            front = _again(world, front, cold=True)
        asked = time.monotonic()
        missing = look(world, front)
        if not missing.anything:
            break
        time.sleep(0.1)
    took = time.monotonic() - started
    if missing.anything:
        said = f"{what}: after {took:.0f} s {missing}; {_sign(world, front)}; {load()}"
        record.breaks(PART, "a damage is healed by itself", said)
        return _from_nothing(world, front)
    # The look that found nothing missing is no part of the healing.
    took = asked - started
    record.measure(f"healed {what.split(maxsplit=1)[0]}, s", took)
    if took > HEALED_S:
        record.count(f"healed after more than {HEALED_S:g} s")
    record.count("healed")
    return front


def _sign(world: World, front: Front) -> str:
    """What an answer and the watcher's log say meanwhile."""
    word = next(iter(world.words))
    told = front.call("cortex_exact", query=word, detail="location").index.get("message", "")
    lines = []
    with contextlib.suppress(OSError):
        lines = (world.config.run_dir / "watcher.log").read_text(errors="replace").splitlines()
    return f"says {told!r}, watcher's last line {lines[-1][:200] if lines else ''!r}"


def _from_nothing(world: World, front: Front) -> Front:
    """The next damage meets a whole index again, and is not blamed for this one."""
    front.close(5.0)
    with contextlib.suppress(Exception):
        world.command("down", bound_s=40)
    world.kill_all()
    shutil.rmtree(world.cache, ignore_errors=True)
    front = world.front()
    front.initialize()
    return front


def kinds_of(world: World) -> dict[str, list[Path]]:
    """Every file in the cache and the runtime folder by what its name says it is."""
    kinds: dict[str, list[Path]] = {}
    for base in (world.cache, world.runtime):
        for folder, _, names in os.walk(base):
            for name in names:
                path = Path(folder, name)
                shown = str(path.relative_to(world.base)).replace(world.config.root_id, "ID")
                kinds.setdefault(_NUMBER.sub("N", shown), []).append(path)
    return {kind: sorted(paths) for kind, paths in kinds.items()}


def _truncate(path: Path, draws: random.Random) -> None:
    _regular(path)
    os.truncate(path, draws.choice((0, 1, draws.randrange(path.stat().st_size + 1))))


def _zero(path: Path, draws: random.Random) -> None:
    _overwrite(path, draws, bytes)


def _scramble(path: Path, draws: random.Random) -> None:
    _overwrite(path, draws, draws.randbytes)


def _overwrite(path: Path, draws: random.Random, content) -> None:  # type: ignore[no-untyped-def]
    """In place, so that who has mapped the file sees it."""
    size = _regular(path)
    with path.open("r+b") as file:
        start = draws.choice((0, draws.randrange(size + 1)))
        file.seek(start)
        file.write(content(min(BYTES_MAX, size - start) or 1))


def _regular(path: Path) -> int:
    """Its size. Raises OSError for a socket."""
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise OSError(f"{path} is no regular file")
    return info.st_size


def _folder(path: Path, draws: random.Random) -> None:
    path.unlink()
    path.mkdir()
    if draws.random() < 0.5:
        (path / "something").write_text("in it")


def _remove(path: Path, draws: random.Random) -> None:
    del draws
    path.unlink()


def _forbid(path: Path, draws: random.Random) -> None:
    del draws
    path.chmod(0)


def _link(path: Path, draws: random.Random) -> None:
    path.unlink()
    path.symlink_to(draws.choice(("/dev/zero", "/nowhere/at/all", str(path))))


def _pipe(path: Path, draws: random.Random) -> None:
    del draws
    path.unlink()
    os.mkfifo(path)


def _other(path: Path, draws: random.Random) -> None:
    """Another whole file of the same folder under this name."""
    others = [one for one in path.parent.iterdir() if one.is_file() and one != path]
    if not others:
        raise OSError("no other file")
    made = path.with_name(f"{path.name}.torture")
    shutil.copyfile(draws.choice(sorted(others)), made)
    made.replace(path)


#: what is done to a file; in-place damages are seen by who has it mapped
DAMAGES = {
    "truncate": _truncate,
    "zero": _zero,
    "scramble": _scramble,
    "folder": _folder,
    "remove": _remove,
    "chmod 000": _forbid,
    "link": _link,
    "pipe": _pipe,
    "another file": _other,
}
