"""The record of a run: counts, broken promises, and its place in the sequence of draws."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

#: broken promises that are recorded with their sentence; the others are counted
KEPT_MAX = 200
#: characters of a broken promise's detail
SAID_CHARS_MAX = 1200


@dataclass
class Record:
    """A run, or a part of it: its place in the sequence and its figures."""

    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    #: the largest value of each measured figure
    worst: dict[str, float] = field(default_factory=dict)
    #: part → the number of its next step
    steps: dict[str, int] = field(default_factory=dict)
    broken: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    #: `--seconds` of the run: a step is repeated at the same pace
    asked_s: float = 0.0

    def draws(self, scenario: str) -> random.Random:
        """Return the random numbers of the part's next step, the same for the same seed and
        number.
        """
        step = self.steps.get(scenario, 0)
        self.steps[scenario] = step + 1
        return random.Random(f"{self.seed} {scenario} {step}")

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def measure(self, what: str, value: float) -> None:
        self.worst[what] = round(max(self.worst.get(what, 0.0), value), 3)

    def breaks(self, scenario: str, promise: str, detail: str) -> None:
        """Record that `promise` was broken in the last drawn step, with the command that repeats
        it.
        """
        step = max(0, self.steps.get(scenario, 1) - 1)
        self.counts["broken"] += 1
        command = f"scripts/torture.py --seed {self.seed} --only {scenario} --step {step} --seconds {self.asked_s:g}"
        print(
            f"BROKEN [{scenario} {step}] {promise}: {detail[:SAID_CHARS_MAX]}\n    {command}",
            file=sys.stderr,
            flush=True,
        )
        if len(self.broken) < KEPT_MAX:
            row = {
                "part": scenario,
                "step": step,
                "promise": promise,
                "said": detail[:SAID_CHARS_MAX],
                "again": command,
            }
            self.broken.append(row | {"at": time.strftime("%H:%M:%S")})

    def dump(self) -> str:
        """Return a line of JSON, which `load` and `--resume` read."""
        names = ("seed", "seconds", "counts", "worst", "steps", "broken", "asked_s")
        return json.dumps({name: getattr(self, name) for name in names})

    @classmethod
    def load(cls, line: str) -> Record:
        record = cls(**json.loads(line))
        record.counts = Counter(record.counts)
        return record

    def join(self, other: Record) -> Record:
        """Return the figures of both records, which have different parts."""
        joined = Record(self.seed, self.counts + other.counts, dict(self.worst), self.steps | other.steps)
        for what, value in other.worst.items():
            joined.measure(what, value)
        joined.broken = self.broken + other.broken
        joined.seconds, joined.asked_s = max(self.seconds, other.seconds), self.asked_s
        return joined
