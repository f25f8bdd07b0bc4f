"""A benchmark of a sealed project beside a plain one, and a search of the disk for leaks:

    scripts/bench/sealed_project.py PROJECT [--rounds N] [--strings N] [--kills N] [--harms N]
        [--notes N] [--json]

Two copies of the project are indexed in turns, one of them sealed: seconds of a first index, of the
first answer of a starting set, and of queries. Then the disk is searched for distinctive words of
the sources, while sets are killed; and sealed files are damaged in drawn places: each must be
refused by name, and the index must heal afterwards. Last, a memory is sealed and made plain again,
and queried in both forms.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import product
import psutil
import report

from cortex.memory.library import Library
from cortex.memory.store.sealed import driver_of, seal_folder, unseal_folder
from cortex.processes import attach
from cortex.sealing import plain_folder
from cortex.sealing.keys import project_keys
from cortex.sealing.mirror import LIST, OBJECTS, Mirror
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.system.errors import Damaged

#: characters of a word that is distinctive if it is in one file only
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{9,}")
#: queries that are timed, in each round
QUESTIONS = 40
#: seconds after its start at which a set is killed, at most
KILL_S = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("project", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strings", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--harms", type=int, default=500)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    report.add_json(parser)
    options = parser.parse_args()
    figures = report.begin("private") | {"project": options.project.name}
    chance = random.Random(options.seed)
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        two_copies(options.project, Path(folder)) as (plain, sealed),
    ):
        figures |= measure_times(plain, sealed, options.rounds)
        words = distinctive_words(sealed.root, options.strings, chance)
        figures |= {"strings": len(words), "readable": count_leaks(Path(folder), sealed, words)}
        figures |= run_kills(Path(folder), sealed, words, options.kills, chance)
        figures |= run_harms(sealed, options.harms, chance)
        figures |= measure_memories(Path(folder), options.notes)
    report.print_machine(figures)
    report.print_figures({name: value for name, value in figures.items() if name != "machine"})
    if options.json:
        report.write(figures)
    bad = figures["readable"] + figures["readable_after_kills"] + figures["believed"]
    sys.exit(1 if bad or not figures["healed"] else 0)


@contextlib.contextmanager
def two_copies(source: Path, folder: Path) -> Iterator[tuple[Config, Config]]:
    """Yield two copies of the project, the second of which is sealed by its own
    configuration file.
    """
    settings = {"security_key_path": folder / "keys" / "master", "memory_data_dir": folder / "memory"}
    with product.isolated_environment(folder / "cache", server_idle_exit_s=1, **settings):
        configs = []
        for name in ("plain", "sealed"):
            root = (folder / name / source.name).resolve()
            shutil.copytree(source, root, symlinks=True)
            (root / ".git").mkdir(exist_ok=True)
            if name == "sealed":
                (root / ".cortex").mkdir(exist_ok=True)
                (root / ".cortex" / "config.yml").write_text("security:\n  encrypt_index: true\n")
            configs.append(configuration.load(str(root)))
        plain, sealed = configs
        assert sealed.sealing is not None
        try:
            yield plain, sealed
        finally:
            for config in configs:
                attach.stop(config)
            wait_for_exit(sealed)
            shutil.rmtree(sealed.sealing.base, ignore_errors=True)


def wait_for_exit(config: Config) -> None:
    """Wait until no process of the project is left, and no plain data of it in memory."""
    until = time.monotonic() + 60
    while product.processes_of(config.root) and time.monotonic() < until:
        time.sleep(0.05)


def measure_times(plain: Config, sealed: Config, rounds: int) -> dict[str, Any]:
    """Return medians in turns: a first index, the first answer of a set that starts, a query."""
    seconds_by_name: dict[str, list[float]] = {}

    def record_time(what: str, config: Config, seconds: float) -> None:
        seconds_by_name.setdefault(f"{what}_{'sealed' if config.sealing else 'plain'}_s", []).append(seconds)

    for count in range(rounds):
        for config in (plain, sealed) if count % 2 else (sealed, plain):
            attach.stop(config)
            wait_for_exit(config)
            shutil.rmtree(config.sealing.store if config.sealing else config.home, ignore_errors=True)
            shutil.rmtree(configuration.cache_base() / "embeddings", ignore_errors=True)
            started = time.perf_counter()
            run = [product.CORTEX, "index", "--project", str(config.root)]
            subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            record_time("first_index", config, time.perf_counter() - started)
        for config in (plain, sealed):
            attach.stop(config)
            wait_for_exit(config)
            first, questions = asyncio.run(ask(config))
            record_time("warm_start", config, first)
            for seconds in questions:
                record_time("question", config, seconds)
    medians = {name: round(statistics.median(values), 4) for name, values in seconds_by_name.items()}
    ratios = {
        f"{what}_ratio": round(medians[f"{what}_sealed_s"] / medians[f"{what}_plain_s"], 3)
        for what in ("first_index", "warm_start", "question")
    }
    return medians | ratios


async def ask(config: Config) -> tuple[float, list[float]]:
    """Return (seconds to the first complete answer of a set that starts, seconds of queries)."""
    started = time.perf_counter()
    async with product.connect(config.root) as front:
        while True:
            answer = await front.call("cortex_search", query="parse the options", limit=5)
            if answer.get("results") and not answer["index"]["degraded"]:
                break
        first = time.perf_counter() - started
        took = []
        for number in range(QUESTIONS):
            began = time.perf_counter()
            await front.call("cortex_search", query=f"where is value {number} read", limit=5)
            took.append(time.perf_counter() - began)
        return first, took


def distinctive_words(root: Path, count: int, chance: random.Random) -> list[bytes]:
    """Return words that are in one file of the sources only, and the files' own paths."""
    file_counts: Counter[bytes] = Counter()
    paths = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    for path in paths:
        file_counts.update(set(WORD.findall(path.read_bytes()[: 1 << 20])))
    once = sorted(word for word, files in file_counts.items() if files == 1)
    names = sorted(path.relative_to(root).as_posix().encode() for path in paths if len(path.name) > 9)
    return chance.sample(once, min(count, len(once))) + chance.sample(names, min(count // 4, len(names)))


def count_leaks(folder: Path, sealed: Config, words: list[bytes]) -> int:
    """Return how many of the words are in any byte, or name, of the files on the disk.

    The sources and the files of the plain copy are left out.
    """
    form = re.compile(b"|".join(map(re.escape, words)))
    places = [folder / "cache" / "sealed", folder / "cache" / "embeddings", sealed.root / ".cortex"]
    leaked = set()
    for place in places:
        for path in place.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                raw = path.read_bytes() if path.is_file() else b""
                leaked |= set(form.findall(raw)) | set(form.findall(os.fsencode(path.name)))
    old = [path for path in (folder / "cache" / "projects").iterdir() if sealed.root_id in path.name]
    return len(leaked) + len(old)


def run_kills(
    folder: Path, sealed: Config, words: list[bytes], count: int, chance: random.Random
) -> dict[str, Any]:
    """Kill sets at drawn moments while they index and seal a change.

    No word may be on the disk then, and the next set must answer.
    """
    leaks, unanswered = 0, 0
    for number in range(count):
        (sealed.root / "zz_changed.py").write_text(f"def changed_{number}():\n    return {number}\n" * 50)
        run = [product.CORTEX, "search", "changed", "--project", str(sealed.root)]
        process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * KILL_S)
        for victim in product.processes_of(sealed.root):
            with contextlib.suppress(psutil.Error):
                victim.kill()
        process.wait()
        wait_for_exit(sealed)
        leaks += count_leaks(folder, sealed, words)
    try:
        asyncio.run(asyncio.wait_for(product.wait_until_indexed(sealed.root), 300))
    except (TimeoutError, SystemExit):
        unanswered = 1
    return {"kills": count, "readable_after_kills": leaks, "unanswered_after_kills": unanswered}


def run_harms(sealed: Config, count: int, chance: random.Random) -> dict[str, Any]:
    """Damage drawn files; each must be refused by its name, and one of them, met by a set, must be
    healed from the sources.
    """
    attach.stop(sealed)
    wait_for_exit(sealed)
    place = sealed.sealing
    assert place is not None
    plain_folder.close(place.base)
    key = project_keys(place)[0]
    files = [place.store / LIST, *sorted((place.store / OBJECTS).iterdir())]
    believed = 0
    for number in range(count):
        path, other = chance.sample(files, 2)
        raw = path.read_bytes()
        at = chance.randrange(len(raw))
        flipped = raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
        path.write_bytes(chance.choice((flipped, raw[:at], other.read_bytes(), raw + b"\0")))
        with tempfile.TemporaryDirectory(prefix="cortex-bench-", dir="/dev/shm") as home:
            mirror = Mirror(place.store, Path(home), key)
            try:
                mirror.read()
                mirror.restore()
                believed += 1
            except Damaged as error:
                believed += path.name not in str(error)
        if number < count - 1:
            path.write_bytes(raw)
    with contextlib.suppress(TimeoutError, SystemExit):
        asyncio.run(asyncio.wait_for(product.wait_until_indexed(sealed.root), 300))
        return {"harms": count, "believed": believed, "healed": True}
    return {"harms": count, "believed": believed, "healed": False}


def measure_memories(folder: Path, count: int) -> dict[str, Any]:
    """Measure a memory of so many notes, plain and sealed in turns.

    Processor time of opening, of storing a note and of a query; then seconds of sealing and
    unsealing.
    """
    figures: dict[str, Any] = {"notes": count}
    key_path, data = str(folder / "keys" / "memory"), folder / "memory-of-notes"
    plain = DataFolder(data)
    library = Library.open(data)
    for number in range(count):
        library.store(f"Decision {number}: service {number % 97} keeps {number % 89} copies")
    library.close()
    sealed = DataFolder(data, seals=True, key_path=key_path)
    for name, notes_folder in (("plain", plain), ("sealed", sealed)):
        started = time.perf_counter()
        notes_folder.make()
        seal_folder(notes_folder)
        figures[f"memory_{name}_turned_s"] = round(time.perf_counter() - started, 2)
        figures |= {f"memory_{name}_{what}": value for what, value in _memory(notes_folder).items()}
    started = time.perf_counter()
    unseal_folder(sealed)
    return figures | {"memory_unsealed_s": round(time.perf_counter() - started, 2)}


def _memory(data: DataFolder) -> dict[str, float]:
    """Return milliseconds of processor time, medians; bytes of the database."""
    opening, storing, context = [], [], []
    for number in range(QUESTIONS):
        started = time.process_time()
        library = Library.open(data.root, home=data.home, driver=driver_of(data))
        opening.append(time.process_time() - started)
        started = time.process_time()
        library.store(f"Another decision {number} of {data.is_sealed}")
        storing.append(time.process_time() - started)
        started = time.process_time()
        library.recall(f"how many copies keeps service {number}")
        context.append(time.process_time() - started)
        size = library.stats()["db_bytes"]
        library.close()
    seconds_by_name = {"open_cpu_ms": opening, "store_cpu_ms": storing, "recall_cpu_ms": context}
    return {name: round(1000 * statistics.median(values), 2) for name, values in seconds_by_name.items()} | {
        "database_bytes": size
    }


if __name__ == "__main__":
    main()
