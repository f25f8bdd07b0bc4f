"""Train the replacement model of memory: it reads two notes and says whether the newer one replaces
the older one.

    python -m scripts.train.replacement --minilm FOLDER --out FOLDER [--epochs N] [--seed N]

`--minilm` holds all-MiniLM-L6-v2's `vocab.txt` and `model.safetensors`, from which training starts;
`--out` gets the files of cortex/memory/find/newer/cortex_replacement. Needs torch beside Cortex;
half an hour on two cores. The examples (replacements.jsonl.gz) were written for it, each line an
older note and newer ones with a label.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from cortex.embedders.static import open_static
from cortex.memory.find.newer.replacement_model import HEAD, MODEL_DIR, NOTE_TOKENS, WordPieces
from scripts.train.minilm_onnx import read_weights

EXAMPLES = Path(__file__).with_name("replacements.jsonl.gz")
LABELS = ("replaces", "extends", "other", "repeats", "maybe", "history")
REPLACES, OTHER = LABELS.index("replaces"), LABELS.index("other")
WIDTH, LAYERS, PLACES = 384, 6, 2 * NOTE_TOKENS + 8
#: weight of a pair of two newer notes that replace the same older one, where mostly the later one
#: replaces the earlier; of a pair from two groups, which is near in words only
TWO_NEWER, OTHER_GROUP = 0.5, 0.8
#: notes of other groups per group, drawn from so many nearest
DRAWN, NEAREST = 5, 12
BATCH, RATE, SMOOTHING = 32, 1.2e-4, 0.03

Tokens = list[int]


@dataclass(frozen=True)
class Pair:
    older: Tokens
    newer: Tokens
    label: int
    weight: float = 1.0


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm, self.outer_norm = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))
        self.drop = nn.Dropout(0.1)

    def forward(self, state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        heads = [
            part(state).unflatten(2, (-1, HEAD)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        mixed = nn.functional.scaled_dot_product_attention(
            *heads, attn_mask=mask[:, None, None, :], dropout_p=0.1 if self.training else 0.0
        )
        state = self.norm(state + self.drop(self.mixed(mixed.transpose(1, 2).flatten(2))))
        inner = nn.functional.gelu(self.inner(state), approximate="tanh")
        normed: torch.Tensor = self.outer_norm(state + self.drop(self.outer(inner)))
        return normed


class Reader(nn.Module):
    """all-MiniLM-L6-v2 with the rows of `pieces`, both notes as one text of two kinds of tokens."""

    def __init__(self, folder: Path, pieces: Sequence[str]) -> None:
        super().__init__()
        weights = {
            name: torch.tensor(value) for name, value in read_weights(folder / "model.safetensors").items()
        }
        rows = {piece: row for row, piece in enumerate((folder / "vocab.txt").read_text().splitlines())}
        tables = {
            name: weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        }
        kinds = tables["token_type"][:1] + torch.stack([torch.zeros(WIDTH), 0.02 * torch.randn(WIDTH)])
        chosen = tables["word"][[rows[piece] for piece in pieces]]
        self.words, self.places, self.kinds = (
            nn.Embedding.from_pretrained(table.clone(), freeze=False)
            for table in (chosen, tables["position"][:PLACES], kinds)
        )
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        _take(self.norm, weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        for at, layer in enumerate(self.layers):
            for name, theirs in _NAMES.items():
                _take(getattr(layer, name), weights, f"encoder.layer.{at}.{theirs}")
        self.labels, self.drop = nn.Linear(WIDTH, len(LABELS)), nn.Dropout(0.1)

    def forward(self, tokens: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        places = self.places(torch.arange(tokens.shape[1]))
        state = self.drop(self.norm(self.words(tokens) + places + self.kinds(kinds)))
        for layer in self.layers:
            state = layer(state, mask)
        pooled = (state * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        scores: torch.Tensor = self.labels(self.drop(pooled))
        return scores


_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def _take(part: Any, weights: dict[str, torch.Tensor], name: str) -> None:
    part.weight.data, part.bias.data = weights[f"{name}.weight"].clone(), weights[f"{name}.bias"].clone()


class Examples:
    """Groups of an older note and newer ones, and the notes of other groups nearest to each."""

    def __init__(self, file: Path, pieces: WordPieces) -> None:
        with gzip.open(file, "rt") as lines:
            groups = [json.loads(line) for line in lines]
        notes = [[group["old"], *group["new"]] for group in groups]
        self._topics = [group["d"] for group in groups]
        self._labels = [[LABELS.index(note["r"]) for note in group["new"]] for group in groups]
        texts = [[". ".join(filter(None, (note["t"], note["b"]))) for note in group] for group in notes]
        self._tokens = [[pieces.read(text)[:NOTE_TOKENS] for text in group] for group in texts]
        places = [(at, note) for at, group in enumerate(texts) for note in range(len(group))]
        vectors = open_static().embed([texts[at][note] for at, note in places], "passage")
        groups_of = np.array([at for at, _ in places])
        self._near: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for row, place in enumerate(places):
            cosines = vectors @ vectors[row]
            cosines[groups_of == place[0]] = -1
            self._near[place] = [places[near] for near in np.argsort(-cosines)[:NEAREST].tolist()]

    def __len__(self) -> int:
        return len(self._tokens)

    def pairs(self, numbers: Sequence[int], draw: random.Random) -> Iterator[Pair]:
        """Yield the pairs of these groups: as they were written, and with notes of others."""
        of_topic: dict[str, list[int]] = {}
        for number in numbers:
            of_topic.setdefault(self._topics[number], []).append(number)
        for number in numbers:
            older, *newer = self._tokens[number]
            labels = self._labels[number]
            yield from (Pair(older, note, label) for note, label in zip(newer, labels, strict=True))
            replacing = [note for note, label in zip(newer, labels, strict=True) if label == REPLACES]
            if len(replacing) > 1:
                yield Pair(*draw.sample(replacing, 2), REPLACES, TWO_NEWER)
            for note, label in zip(newer, labels, strict=True):
                if label == OTHER and replacing:
                    yield Pair(note, draw.choice(replacing), OTHER)
            any_other = self._tokens[draw.choice(of_topic[self._topics[number]])]
            if any_other is not self._tokens[number]:
                yield Pair(older, draw.choice(any_other[1:]), OTHER, OTHER_GROUP)
            for at in range(DRAWN):
                note = draw.randrange(1 + len(newer)) if at % 2 else 0
                group, near = draw.choice(self._near[number, note])
                if group in of_topic.get(self._topics[group], ()):
                    yield Pair(self._tokens[number][note], self._tokens[group][near], OTHER, OTHER_GROUP)


def batches(pairs: Sequence[Pair], draw: random.Random) -> list[list[Pair]]:
    """Return batches of pairs of like length in a drawn order."""
    order = list(pairs)
    draw.shuffle(order)
    size = 20 * BATCH
    parts = [
        sorted(order[at : at + size], key=lambda pair: len(pair.older) + len(pair.newer))
        for at in range(0, len(order), size)
    ]
    result = [part[at : at + BATCH] for part in parts for at in range(0, len(part), BATCH)]
    draw.shuffle(result)
    return result


def tensors(pairs: Sequence[Pair], pieces: WordPieces) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    begin, end = pieces.rows["[CLS]"], pieces.rows["[SEP]"]
    longest = max(len(pair.older) + len(pair.newer) for pair in pairs) + 3
    tokens, kinds = (torch.zeros(len(pairs), longest, dtype=torch.long) for _ in range(2))
    mask = torch.zeros(len(pairs), longest, dtype=torch.bool)
    for row, pair in enumerate(pairs):
        text = [begin, *pair.older, end, *pair.newer, end]
        tokens[row, : len(text)], mask[row, : len(text)] = torch.tensor(text), True
        kinds[row, len(pair.older) + 2 : len(text)] = 1
    return tokens, kinds, mask


def train(reader: Reader, examples: Examples, pieces: WordPieces, epochs: int, seed: int) -> None:
    draw, test_count = random.Random(seed), len(examples) // 14
    order = list(range(len(examples)))
    draw.shuffle(order)
    held_out = list(examples.pairs(order[:test_count], draw))
    decayed = [weight for weight in reader.parameters() if weight.dim() > 1]
    others = [weight for weight in reader.parameters() if weight.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    )
    step, steps = 0, 0
    for epoch in range(epochs):
        parts = batches(list(examples.pairs(order[test_count:], draw)), draw)
        steps = steps or epochs * len(parts)
        for part in parts:
            rate = RATE * min(1.0, 10 * step / steps) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = reader(*tensors(part, pieces))
            losses = nn.functional.cross_entropy(
                scores.float(),
                torch.tensor([pair.label for pair in part]),
                reduction="none",
                label_smoothing=SMOOTHING,
            )
            optimizer.zero_grad()
            (losses * torch.tensor([pair.weight for pair in part])).mean().backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"epoch {epoch + 1}: {evaluate(reader, held_out, pieces)}", flush=True)


def evaluate(reader: Reader, pairs: Sequence[Pair], pieces: WordPieces) -> str:
    """Return the average precision of "replaces" over pairs that were held out."""
    reader.eval()
    parts = [pairs[at : at + BATCH] for at in range(0, len(pairs), BATCH)]
    with torch.no_grad():
        values = [torch.softmax(reader(*tensors(part, pieces)), 1)[:, REPLACES] for part in parts]
    reader.train()
    right = np.array([pair.label == REPLACES for pair in pairs])[np.argsort(-torch.cat(values).numpy())]
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    return f"average precision {(precision * right).sum() / right.sum():.3f} over {len(pairs)} pairs"


def export(reader: Reader, pieces: Sequence[str], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arrays = {"places": reader.places.weight, "kinds": reader.kinds.weight}
    arrays = {name: weight.detach().numpy().astype(np.float16) for name, weight in arrays.items()}
    words, arrays["words.scale"] = _int8(reader.words.weight)
    np.save(out / "words8.npy", words)
    parts: dict[str, tuple[Any, ...]] = {"labels": (reader.labels,)}
    norms = {"norm": reader.norm}
    for at, layer in enumerate(reader.layers):
        parts[f"{at}.attention"] = (layer.query, layer.key, layer.value)
        parts |= {f"{at}.{name}": (getattr(layer, name),) for name in ("mixed", "inner", "outer")}
        norms |= {f"{at}.norm": layer.norm, f"{at}.outer_norm": layer.outer_norm}
    for name, linear in parts.items():
        arrays[name], arrays[f"{name}:scale"] = _int8(torch.cat([part.weight for part in linear]))
        arrays[f"{name}.bias"] = torch.cat([part.bias for part in linear]).detach().numpy()
    for name, norm in norms.items():
        arrays[name], arrays[f"{name}.bias"] = norm.weight.detach().numpy(), norm.bias.detach().numpy()
    np.savez(out / "weights.npz", **arrays)
    (out / "vocab.json").write_text(json.dumps(list(pieces), ensure_ascii=False, separators=(",", ":")))
    digest = hashlib.sha256()
    for name in ("words8.npy", "weights.npz", "vocab.json"):
        digest.update((out / name).read_bytes())
    (out / "model.json").write_text(
        json.dumps({"name": "cortex-replacement", "hash": digest.hexdigest()[:12]})
    )


def _int8(weight: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 rows, and the float16 scale of each."""
    rows = weight.detach().float().numpy()
    scale = (np.abs(rows).max(axis=1) / 127).astype(np.float16)
    scale[scale == 0] = 1
    return np.clip(np.round(rows / scale.astype(np.float32)[:, None]), -127, 127).astype(np.int8), scale


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    words = json.loads((MODEL_DIR / "vocab.json").read_text())
    pieces = WordPieces(words)
    reader = Reader(options.minilm, words)
    train(reader, Examples(EXAMPLES, pieces), pieces, options.epochs, options.seed)
    export(reader, words, options.out)


if __name__ == "__main__":
    main()
