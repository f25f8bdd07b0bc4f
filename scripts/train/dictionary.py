"""A program that trains the dictionary with which the index packs the JSON of chunks and of nodes.

    python -m scripts.train.dictionary FOLDER… --out FILE

Each FOLDER is an indexed project's folder in the cache, with its `chunks` and `graph`. A new
cortex/generation/json.dict needs a higher INDEX_FORMAT: it cannot unpack data of the old one.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import zstandard

#: bytes of the dictionary: eight times as many save 4 % more
DICTIONARY_BYTES = 8192
#: chunks, and nodes, of a project: a large project should not outweigh the others
SAMPLES = 250
#: fields that a row holds elsewhere
ELSEWHERE = frozenset({"text", "embedding"})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    samples = [sample for folder in sorted(options.folders) for sample in samples_of(folder)]
    random.Random(0).shuffle(samples)
    trained = zstandard.train_dictionary(DICTIONARY_BYTES, samples)
    options.out.write_bytes(trained.as_bytes())
    print(f"{options.out}: {len(trained)} bytes from {len(samples)} samples")


def samples_of(folder: Path) -> list[bytes]:
    """Return a project's samples, as rows and segments of the graph hold them."""
    draw = random.Random(0)
    chunks = [
        {name: value for name, value in chunk.items() if name not in ELSEWHERE}
        for data in _files(folder / "chunks")
        for chunk in data["chunks"]
    ]
    nodes = [node for data in _files(folder / "graph") for node in data["nodes"]]
    return [
        orjson.dumps(entry)
        for kind in (chunks, nodes)
        for entry in draw.sample(kind, min(SAMPLES, len(kind)))
    ]


def _files(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.json*")):
        raw = path.read_bytes()
        yield orjson.loads(zstandard.decompress(raw) if path.suffix == ".zst" else raw)


if __name__ == "__main__":
    main()
