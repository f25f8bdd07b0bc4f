"""Stage 1: one file of pairs for each repository of the list. Existing files stay."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from scripts.train.pairs import PAIRS_MAX, repository_pairs, save_pairs
from scripts.train.sources import read_excluded, read_list


def mine(sources: Path, exclude: Path, clones: Path, out: Path, seed: int) -> None:
    """Write the files of pairs.

    Raises SystemExit if the list names an excluded repository or one without a licence.
    """
    listed, excluded = read_list(sources), read_excluded(exclude)
    wrong = [source.name for source in listed if source.name.lower() in excluded or not source.licence]
    if wrong:
        raise SystemExit(f"{sources} names repositories that must not be trained on: {', '.join(wrong)}")
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    for at, source in enumerate(listed, 1):
        path = out / f"{source.name.replace('/', '+')}.npz"
        if not path.exists():
            temporary = path.with_suffix(".part")
            save_pairs(repository_pairs(source, clones, seed), temporary)
            temporary.rename(path)
        kinds = np.bincount(np.load(path)["kind"], minlength=len(PAIRS_MAX))
        print(
            f"{time.monotonic() - started:6.0f} s {at:4}/{len(listed)} {source.name:45} {kinds}", flush=True
        )
