"""The verdict on a change of the ranking, by the rule of docs/RANKING.md:

    scripts/bench/paired.py --before FILE... --after FILE...

The files are those of `quality.py --jsonl`, the same questions before and after the change. They
are paired; a repository's difference is the mean over its questions (NDCG@10), and the standard
error is that of the repositories' differences. Pure but for reading the files.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: standard errors that the pooled gain must exceed, and that no set may lose
GAIN_SE, LOSS_SE = 2.0, 1.0


@dataclass(frozen=True, slots=True)
class Difference:
    """The effect of a change on the questions of a set.

    `best` is the repository that gains most, `without_best` the mean and standard error without it.
    """

    name: str
    repositories: int
    questions: int
    before: float
    mean: float
    error: float
    best: str
    without_best: tuple[float, float]


def differences(
    before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return set → repository → (before, after) of each question.

    Raises SystemExit if the questions are not the same.
    """
    old, new = (
        {(row["set"], row["repo"], row["query"]): row["ndcg"] for row in rows} for rows in (before, after)
    )
    if old.keys() != new.keys():
        raise SystemExit(
            f"{len(old.keys() ^ new.keys())} questions are only on one side; measure both on the same ones"
        )
    pairs_by_set: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for key, value in old.items():
        pairs_by_set[key[0]][key[1]].append((value, new[key]))
    return pairs_by_set


def difference_of(name: str, pairs: Mapping[str, list[tuple[float, float]]]) -> Difference:
    gains = {repo: statistics.mean(new - old for old, new in rows) for repo, rows in pairs.items()}
    best = max(gains, key=lambda repo: (gains[repo], repo))
    return Difference(
        name,
        len(pairs),
        sum(map(len, pairs.values())),
        statistics.mean(statistics.mean(old for old, _ in rows) for rows in pairs.values()),
        *_mean(list(gains.values())),
        best,
        _mean([gain for repo, gain in gains.items() if repo != best]),
    )


def _mean(values: list[float]) -> tuple[float, float]:
    """Return (mean, standard error); a single value has no error."""
    if len(values) < 2:
        return (values[0] if values else 0.0), math.inf
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def pooled(sets: Mapping[str, Mapping[str, list[tuple[float, float]]]]) -> Difference:
    """Return all sets together: a repository counts once, with all its questions."""
    joined: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for repositories in sets.values():
        for repo, rows in repositories.items():
            joined[repo] += rows
    return difference_of("pooled", joined)


def verdict(pooled_difference: Difference, set_differences: Iterable[Difference]) -> str:
    """Return a sentence: accepted, or why not."""
    lost = [
        difference.name for difference in set_differences if difference.mean < -LOSS_SE * difference.error
    ]
    if lost:
        return f"refused: {', '.join(lost)} lose more than {LOSS_SE:.0f} standard error"
    if not pooled_difference.mean > GAIN_SE * pooled_difference.error:
        return f"refused: the pooled gain is not above {GAIN_SE:.0f} standard errors"
    mean, error = pooled_difference.without_best
    if not mean > GAIN_SE * error:
        return f"refused: without {pooled_difference.best} the pooled gain is not above {GAIN_SE:.0f} standard errors"
    return "accepted"


def _row(difference: Difference) -> str:
    remaining_gain = "{:+.4f} ± {:.4f}".format(*difference.without_best)
    return (
        f"{difference.name:10}{difference.repositories:6}{difference.questions:10}{difference.before:9.4f}{difference.mean:+10.4f} ± {difference.error:.4f}"
        f"   without {difference.best} {remaining_gain}"
    )


def _read_rows(paths: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, nargs="+", required=True)
    parser.add_argument("--after", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    sets = differences(_read_rows(options.before), _read_rows(options.after))
    set_differences = [difference_of(name, repositories) for name, repositories in sorted(sets.items())]
    pooled_difference = pooled(sets)
    print(f"{'set':10}{'repos':>6}{'questions':>10}{'before':>9}{'gain':>10}")
    print("\n".join(map(_row, [*set_differences, pooled_difference])))
    print(verdict(pooled_difference, set_differences))


if __name__ == "__main__":
    main()
