"""The program that makes the default embedding model: pairs, vocabulary, training, export,
evaluation.

    OMP_NUM_THREADS=1 python -m scripts.train --clones DIR --exclude FILE --minilm DIR --out DIR
        [--repos DIR --queries DIR] [--sources FILE] [--seed N] [--epochs N] [--prefix N]

`--clones` holds one git folder for each line of the list (`<owner>+<name>`); `--exclude` names
repositories that must not be trained on; `--minilm` holds all-MiniLM-L6-v2's `vocab.txt` and
`model.safetensors`. Needs numpy and torch beside Cortex. All output goes below `--out`; the model
is in `--out`/model. A stage whose output exists is not repeated.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from cortex.embedders.static import open_static
from scripts.train import evaluate, fit, vocabulary
from scripts.train.export import export
from scripts.train.mine import mine


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("clones", "exclude", "minilm", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--sources", type=Path, default=Path(__file__).with_name("repositories.tsv"))
    parser.add_argument("--repos", type=Path, help="with --queries: evaluate on these")
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--seed", type=int, default=fit.Settings.seed)
    parser.add_argument("--epochs", type=int, default=fit.Settings.epochs)
    parser.add_argument("--prefix", type=int, default=fit.Settings.prefix, help="0: train whole vectors only")
    options = parser.parse_args()
    torch.set_num_threads(1)  # threads sum in another order, which gives another model

    pairs = options.out / "pairs"
    mine(options.sources, options.exclude, options.clones, pairs, options.seed)
    words, start = _vocabulary(options.out, pairs, options.minilm)
    corpus = fit.load(pairs, words)
    print(
        f"{len(corpus.file)} pairs of {len(np.unique(corpus.repository))} repositories, {len(words)} words",
        flush=True,
    )
    settings = fit.Settings(seed=options.seed, epochs=options.epochs, prefix=options.prefix)
    vectors = fit.fit(corpus, start, settings)
    print(
        "exported",
        export(vectors.numpy(), words, options.out / "model", filter(None, [options.prefix])),
        flush=True,
    )
    if options.repos and options.queries:
        for dimensions in sorted({0, options.prefix}):
            embedder = open_static(options.out / "model")
            print(evaluate.show(evaluate.evaluate(embedder, options.repos, options.queries, dimensions)))


def _vocabulary(out: Path, pairs: Path, minilm: Path) -> tuple[list[str], torch.Tensor]:
    """Return the words and their start vectors, from `out` if they are there."""
    place = out / "vocabulary.json", out / "start.npy"
    if not all(path.exists() for path in place):
        words, times = vocabulary.choose(pairs, minilm)
        np.save(place[1], vocabulary.start_vectors(words, times, minilm).numpy())
        place[0].write_text(json.dumps(words))
    return json.loads(place[0].read_text()), torch.from_numpy(np.load(place[1]))


if __name__ == "__main__":
    main()
