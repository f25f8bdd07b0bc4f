"""Stage 4: the trained vectors as the files that cortex/embedders/static.py reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

#: name of the model; its identity adds the hash of its files
NAME = "cortex-static-384"
#: files that the hash covers, in this order
FILES = ("E8.npy", "scale.npy", "vocab.json")


def export(vectors: np.ndarray, words: list[str], out: Path, prefixes: Iterable[int] = ()) -> str:
    """Write the model to the folder `out`, and return its hash.

    float32 [words, dimensions] become int8 rows × a float16 scale each. `prefixes` are numbers of
    first dimensions that are usable alone.
    """
    out.mkdir(parents=True, exist_ok=True)
    # one common factor keeps the scales within float16's normal range; cosines do not change
    vectors = vectors / np.linalg.norm(vectors, axis=1).mean()
    scale = np.maximum(np.abs(vectors).max(axis=1) / 127, 2.0**-14).astype(np.float16)
    table = np.rint(vectors / scale.astype(np.float32)[:, None]).clip(-127, 127).astype(np.int8)
    np.save(out / "E8.npy", table)
    np.save(out / "scale.npy", scale)
    (out / "vocab.json").write_text(json.dumps(words, separators=(",", ":")))
    digest = hashlib.sha256()
    for name in FILES:
        digest.update(hashlib.sha256((out / name).read_bytes()).digest())
    manifest = {
        "name": NAME,
        "dimensions": table.shape[1],
        "prefixes": list(prefixes),
        "hash": digest.hexdigest()[:12],
    }
    (out / "model.json").write_text(json.dumps(manifest) + "\n")
    return manifest["hash"]
