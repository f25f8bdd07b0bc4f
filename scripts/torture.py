"""A program that hurts Cortex for a given time: kills, damaged files, hostile trees and input.

    python scripts/torture.py [--seconds 120] [--seed N] [--only PART] [--step N] [--json]
        [--resume FILE]

Parts: kills, corruptions, hnsw, trees, clones, keys, servers, queries, wire, growth. Each part
draws its steps from the seed, so `--only PART --step N` starts at that step again; the load of the
parts that ran beside it is not repeated. Counts are printed once a minute and at the end, with
`--json` as one line each; `--resume FILE` continues after the last line of such an output. Ends
with 1 if a promise was broken, and prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from torture.record import Record

#: part → its share of the time. Drawn queries run all the time, in a separate process: they are
#: also the load for the other parts
SHARES = {
    "kills": 0.3,
    "corruptions": 0.22,
    "hnsw": 0.02,
    "trees": 0.08,
    "clones": 0.12,
    "keys": 0.08,
    "servers": 0.08,
    "wire": 0.04,
    "growth": 0.06,
}
SEPARATE = "queries"
#: seconds of one round over all parts: long runs repeat it, with new steps
ROUND_S = 600.0
#: seconds that are too few for another part
LEAST_S = 5.0
#: seconds between two printed counts
PRINT_S = 60.0
#: broken promises after which a run ends early: a longer run would show no more
BROKEN_MAX = 500


def main() -> int:
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that every world is removed
    record = begin(options)
    finished = threading.Event()
    separate = SeparateProcess(record, options) if options.only is None else None
    printer = threading.Thread(
        target=print_often, args=(record, separate, finished, options.json), daemon=True
    )
    printer.start()
    cut_short = True
    try:
        run_rounds(record, options)
        cut_short = False
    finally:
        finished.set()
        printer.join()
        total = record.join(separate.end(at_once=cut_short)) if separate else record
        show(total, json=options.json)
    return 1 if total.counts["broken"] else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=[*SHARES, SEPARATE])
    parser.add_argument("--step", type=int, default=0, help="begin with this step of the part")
    parser.add_argument("--json", action="store_true", help="print the counts as lines of JSON")
    parser.add_argument("--resume", type=Path, help="go on after the last line of this output")
    return parser.parse_args()


def begin(options: argparse.Namespace) -> Record:
    """Return an empty record, or the record to resume."""
    if options.resume:
        lines = [line for line in options.resume.read_text().splitlines() if line.startswith("{")]
        if lines:
            return Record.load(lines[-1])
    record = Record(options.seed, asked_s=options.seconds)
    if options.only and options.step:
        record.steps[options.only] = options.step
    return record


def run_rounds(record: Record, options: argparse.Namespace) -> None:
    """Run the parts in rounds until the time is over."""
    shares = {options.only: 1.0} if options.only else SHARES
    left = options.seconds - record.seconds
    while left > LEAST_S and record.counts["broken"] < BROKEN_MAX:
        round_s = left if left < 2 * ROUND_S else ROUND_S
        for scenario, share in shares.items():
            module = importlib.import_module(f"torture.{scenario}")
            attempt(module.run, scenario, record, round_s * share)
        left = options.seconds - record.seconds


def attempt(run: Callable[[Record, float], None], scenario: str, record: Record, seconds: float) -> None:
    """Run a part; if it raises, record that as a broken promise of this program, for the others to
    run.
    """
    started = time.monotonic()
    try:
        run(record, started + seconds)
    except Exception as error:
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        place = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
        record.breaks(
            scenario, "the part itself ends without an error", f"{type(error).__name__}: {error} at {place}"
        )
    took = time.monotonic() - started
    record.seconds += took
    record.count(f"seconds of {scenario}", round(took))


class SeparateProcess:
    """A part that runs in a process of its own and prints its counts as its last line."""

    def __init__(self, record: Record, options: argparse.Namespace) -> None:
        self._seed, self._last = record.seed, ""
        command = [sys.executable, str(Path(__file__).resolve()), "--only", SEPARATE, "--json"]
        command += ["--seed", str(record.seed), "--seconds", str(options.seconds - record.seconds)]
        command += ["--step", str(record.steps.get(SEPARATE, 0))]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._last = line

    def now(self) -> Record:
        return Record.load(self._last) if self._last else Record(self._seed)

    def end(self, *, at_once: bool) -> Record:
        """Wait for the process and return its record.

        It has a minute more than its time, or none with `at_once`.
        """
        if at_once:
            self._process.terminate()
        try:
            code = self._process.wait(PRINT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join(5.0)
        record = self.now()
        if code not in (0, 1):
            record.breaks(SEPARATE, "the part itself ends without an error", f"it ended with {code}")
        return record


def print_often(
    record: Record, separate: SeparateProcess | None, finished: threading.Event, json: bool
) -> None:
    while not finished.wait(PRINT_S):
        show(record.join(separate.now()) if separate else record, json=json)


def show(record: Record, *, json: bool) -> None:
    """Print the figures so far."""
    if json:
        print(record.dump(), flush=True)
        return
    print(f"seed {record.seed}")
    for figures in (record.counts, record.worst):
        for what in sorted(figures):
            print(f"  {what:<50} {figures[what]:>12}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
