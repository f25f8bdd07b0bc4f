"""Judge and fit the weights of units over the signals that `units.py ask` wrote:

    scripts/bench/unit_weights.py --work DIR [--fit] [--json]

For each kind of question: the share with a wanted unit first, among five and among ten, of the
landed program (the units of its hits in their order, and those that its answer shows) and of
`rank_units`, paired by repository with standard errors. The weights were fitted on these
repositories; the row `folds` is fitted without the repository that it judges. `--fit` prints the
weights of each fold, and the rule of docs/RANKING.md applied to each signal: the loss in folds
without it. The floor: questions without an answer that stay silent, for each share of the others.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from report import add_json, begin, print_machine, write

from cortex.ranking.floor import Evidence
from cortex.ranking.units import NAMED, SIGNALS, WEIGHTS
from cortex.system.arrays import Array
from cortex.terms.paths import asks_for_tests

ANSWERED = ("fix", "doc", "name")
WITHOUT = ("other", "everyday", "madeup")
#: part of each kind in a fit: fixes decide, the others must not fall
PARTS = {"fix": 1.0, "doc": 0.4, "name": 0.2}
#: fewest questions of a kind that count as a whole repository, penalty of large weights, folds
QUESTIONS_MIN, PENALTY, FOLDS = 15, 0.003, 5
#: signals with fitted weights; the others rest on a rule
FITTED = tuple(name for name in SIGNALS if name not in ("line", "foreign"))
TOPS = (1, 5, 10)

Row = dict[str, Any]
Ranks = dict[str, list[int]]


def read_rows(work: Path) -> dict[str, list[Row]]:
    """Return repository → its questions, with arrays in place of lists."""
    data = {path.stem: json.loads(path.read_text()) for path in sorted((work / "signals").glob("*.json"))}
    rarest = {
        row["query"]: row["rarest"] for rows in data.values() for row in rows if row["kind"] in ANSWERED
    }
    for repo, rows in data.items():
        data[repo] = [row for row in rows if is_usable(row, rarest)]
        for row in data[repo]:
            row["values"] = np.array(row["values"], float).reshape(len(SIGNALS), len(row["units"]))
            named = row["values"][SIGNALS.index("named")] >= NAMED
            row["low"] = np.array(row["tests"], bool) & ~named & (not asks_for_tests(row["query"]))
            row["wanted"] = np.isin(row["units"], row.get("gold", []))
    return data


def is_usable(row: Row, rarest: Mapping[str, list[str]]) -> bool:
    """Return whether a question's definition is indexed (its file may be too large), or whether a
    question of another repository shares none of its rarest words.
    """
    if row["kind"] == "other":
        return row["query"] in rarest and set(rarest[row["query"]]) <= set(row["unknown"])
    return bool(row.get("gold", True))


def rank_of(row: Row, weights: Array) -> int:
    """Return the rank of the first wanted unit, 0 if none is a candidate."""
    order = np.lexsort((-(weights @ row["values"]), row["low"]))
    wanted_places = np.flatnonzero(row["wanted"][order])
    return int(wanted_places[0]) + 1 if len(wanted_places) else 0


def rank_in(numbers: Sequence[int], gold: Sequence[int]) -> int:
    return next((at for at, number in enumerate(numbers, 1) if number in gold), 0)


def rank_all(data: Mapping[str, list[Row]], kind: str, rank: Callable[[Row], int]) -> Ranks:
    ranks = {repo: [rank(row) for row in rows if row["kind"] == kind] for repo, rows in data.items()}
    return {repo: some for repo, some in ranks.items() if some}


def fit(data: Mapping[str, list[Row]], names: Sequence[str] = FITTED) -> Array:
    """Return the weights of SIGNALS (0 for those not in `names`) that give the wanted units the
    highest likelihood, every repository alike.
    """
    used = [SIGNALS.index(name) for name in names]
    xs, wanted, parts = [], [], []
    for rows in data.values():
        for kind, share in PARTS.items():
            some = [row for row in rows if row["kind"] == kind]
            for row in some:
                keep = ~row["low"]
                if (row["wanted"] & keep).any() and keep.sum() > 1:
                    xs.append(row["values"][used][:, keep].T)
                    wanted.append(row["wanted"][keep])
                    parts.append(share / max(QUESTIONS_MIN, len(some)))
    x, hit, part = np.concatenate(xs), np.concatenate(wanted), np.array(parts) / sum(parts)
    sizes = [len(some) for some in wanted]
    starts, of = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)

    def loss(b: Array) -> tuple[float, Array]:
        score = x @ b
        power = np.exp(score - np.maximum.reduceat(score, starts)[of])
        sums, good = np.add.reduceat(power, starts), np.add.reduceat(power * hit, starts) + 1e-12
        value = float((part * (np.log(sums) - np.log(good))).sum() + PENALTY * (b @ b))
        return value, x.T @ ((power / sums[of] - power * hit / good[of]) * part[of]) + 2 * PENALTY * b

    weights = np.zeros(len(SIGNALS))
    weights[used] = minimise(loss, np.zeros(len(used)))
    for name in set(SIGNALS) - set(FITTED):
        weights[SIGNALS.index(name)] = getattr(WEIGHTS, name)
    return weights


def minimise(loss: Callable[[Array], tuple[float, Array]], x: Array, steps: int = 150) -> Array:
    """Minimise by BFGS with halved steps."""
    inverse, (value, slope), identity = np.eye(len(x)), loss(x), np.eye(len(x))
    for _ in range(steps):
        way = -inverse @ slope
        if way @ slope >= 0:
            inverse, way = identity, -slope
        size = 1.0
        while True:
            new, (new_value, new_slope) = x + size * way, loss(x + size * way)
            if new_value <= value + 1e-4 * size * float(slope @ way) or size < 1e-8:
                break
            size /= 2
        step, bend, done = new - x, new_slope - slope, abs(value - new_value) < 1e-8
        x, value, slope = new, new_value, new_slope
        if done:
            break
        if (curve := float(bend @ step)) > 1e-12:
            turn = identity - np.outer(step, bend) / curve
            inverse = turn @ inverse @ turn.T + np.outer(step, step) / curve
    return x


def fit_folds(data: Mapping[str, list[Row]], names: Sequence[str] = FITTED) -> dict[str, Array]:
    """Return repository → the weights that were fitted without it."""
    weights = {}
    for fold in range(FOLDS):
        judged = sorted(data)[fold::FOLDS]
        fitted = fit({repo: rows for repo, rows in data.items() if repo not in judged}, names)
        weights |= dict.fromkeys(judged, fitted)
    return weights


def mean(values: Sequence[float]) -> tuple[float, float]:
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return round(statistics.mean(values), 4), round(error, 4)


def compare(before: Ranks, after: Ranks) -> dict[str, Any]:
    """Return for each of TOPS, and for the mean reciprocal rank: before, after, and the gain with
    its error, also without the repository that gains most.
    """
    measures = {f"in {top}": (lambda rank, top=top: float(0 < rank <= top)) for top in TOPS}
    measures["mrr"] = lambda rank: 1 / rank if rank else 0.0
    table = {}
    for name, measure in measures.items():
        old, new = (
            {repo: statistics.mean(map(measure, some)) for repo, some in ranks.items()}
            for ranks in (before, after)
        )
        gains = {repo: new[repo] - old[repo] for repo in old}
        best = max(gains, key=lambda repo: (gains[repo], repo))
        table[name] = {
            "before": round(statistics.mean(old.values()), 4),
            "after": round(statistics.mean(new.values()), 4),
            "gain": mean(list(gains.values())),
            "without_best": [best, *mean([gain for repo, gain in gains.items() if repo != best])],
        }
    return table


def show(label: str, kind: str, table: Mapping[str, Any]) -> None:
    cells = [
        f"{name} {row['before']:.3f} → {row['after']:.3f} ({row['gain'][0]:+.3f} ± {row['gain'][1]:.3f})"
        for name, row in table.items()
    ]
    print(f"{kind:5}{label:18}", "   ".join(cells))


def floor_of(data: Mapping[str, list[Row]]) -> dict[str, Any]:
    """Return how many questions of each kind the floor of the product silences, and the curve."""
    margins: dict[str, list[float]] = {kind: [] for kind in (*ANSWERED, *WITHOUT, "found")}
    weights = np.array([getattr(WEIGHTS, name) for name in SIGNALS])
    for rows in data.values():
        for row in rows:
            margin = Evidence(*row["evidence"]).margin
            margins[row["kind"]].append(margin)
            if row["kind"] in ANSWERED and 0 < rank_of(row, weights) <= TOPS[-1]:
                margins["found"].append(margin)
    margins["answered"] = [margin for kind in ANSWERED for margin in margins[kind]]
    margins["without"] = [margin for kind in WITHOUT for margin in margins[kind]]
    curve = {}
    for share in (0.005, 0.01, 0.02, 0.05, 0.1):
        least = float(np.quantile(margins["answered"], share))
        curve[str(share)] = {"least": round(least, 2)} | {
            kind: _below(margins[kind], least) for kind in ("found", "without", *WITHOUT)
        }
    return {
        "questions": {kind: len(some) for kind, some in margins.items()},
        "silent": {kind: _below(some, 0.0) for kind, some in margins.items()},
        "curve": curve,
    }


def _below(margins: Sequence[float], least: float) -> float:
    return round(float(np.mean(np.array(margins) < least)), 4)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    add_json(parser)
    options = parser.parse_args()
    figures = begin("units")
    print_machine(figures)
    data = read_rows(options.work)
    shipped = np.array([getattr(WEIGHTS, name) for name in SIGNALS])
    folds = fit_folds(data)
    figures["repositories"] = {
        repo: {kind: sum(row["kind"] == kind for row in rows) for kind in ANSWERED}
        for repo, rows in data.items()
    }
    figures["weights"] = asdict(WEIGHTS)
    of_repo = {id(row): repo for repo, rows in data.items() for row in rows}
    for kind in ANSWERED:
        hits = rank_all(data, kind, lambda row: rank_in(row["hits"], row["gold"]))
        shown = rank_all(data, kind, lambda row: rank_in(row["shown"], row["gold"]))
        units = rank_all(data, kind, lambda row: rank_of(row, shipped))
        folded = rank_all(data, kind, lambda row: rank_of(row, folds[of_repo[id(row)]]))
        figures[kind] = {
            "hits": compare(hits, units),
            "shown": compare(shown, units),
            "folds against hits": compare(hits, folded),
            "folds against shown": compare(shown, folded),
        }
        for label, table in figures[kind].items():
            show(label, kind, table)
    figures["floor"] = floor_of(data)
    print(json.dumps(figures["floor"], indent=1))
    if options.fit:
        everywhere = fit(data)
        spread = np.std([folds[repo] for repo in data], axis=0)
        for name, weight, error in zip(SIGNALS, everywhere, spread, strict=True):
            print(f"{name:12}{weight:7.2f} ± {error:.2f}")
        for name in FITTED:
            less = fit_folds(data, [other for other in FITTED if other != name])
            for kind in ANSWERED:
                with_it = rank_all(data, kind, lambda row: rank_of(row, folds[of_repo[id(row)]]))
                without = rank_all(data, kind, lambda row, less=less: rank_of(row, less[of_repo[id(row)]]))
                show(f"without {name}", kind, compare(with_it, without))
    if options.json:
        print(write(figures))


if __name__ == "__main__":
    main()
