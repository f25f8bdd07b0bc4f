"""Train the replacement model of memory: it reads two notes and says whether the newer one replaces
the older one.

    python -m scripts.train.replacement --minilm FOLDER --out FOLDER [--resume FOLDER]
        [--epochs N] [--seed N]

`--minilm` holds all-MiniLM-L6-v2's `vocab.txt` and `model.safetensors`, from which training starts;
`--out` gets the files of cortex/memory/find/newer/cortex_replacement; with `--resume` training goes
on from such files. Needs torch beside Cortex; an hour on two cores. The examples (see examples.py)
were written for it; their questions are not read.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from cortex.embedders.bert import WordPieces
from cortex.embedders.sentences import Sentences
from cortex.embedders.static import open_static
from cortex.memory.find.newer.replacement_model import MODEL_DIR, NOTE_TOKENS
from scripts.train.bert import LAYERS, WIDTH, Encoder, export, half_precision, resume
from scripts.train.examples import LABELS, REPLACEMENTS, read_groups, read_months

REPLACES, OTHER = LABELS.index("replaces"), LABELS.index("other")
#: label of a pair of which is known only that nothing is replaced
HOLDS = -1
PLACES = 2 * NOTE_TOKENS + 8
#: weight of a pair of two newer notes that replace the same older one, where mostly the later one
#: replaces the earlier; of a pair from two groups, which is near in words only
TWO_NEWER, OTHER_GROUP = 0.5, 0.8
#: notes of other groups per group, drawn from so many nearest
DRAWN, NEAREST = 5, 12
#: of a month: weight of a change; earlier notes that are read with each note, the nearest ones and
#: drawn ones
CHANGE, NEAREST_OF_MONTH, DRAWN_OF_MONTH = 2.0, 5, 1
BATCH, RATE, SMOOTHING = 32, 1.2e-4, 0.03

Tokens = list[int]


@dataclass(frozen=True)
class Pair:
    older: Tokens
    newer: Tokens
    label: int
    weight: float = 1.0


class Reader(Encoder):
    """The encoder with both notes as one text of two kinds of tokens, and labels."""

    def __init__(self, folder: Path, pieces: Sequence[str]) -> None:
        super().__init__(folder, pieces, PLACES, range(LAYERS), dropout=0.1)
        kinds = torch.stack([torch.zeros(WIDTH), 0.02 * torch.randn(WIDTH)])
        self.kinds = nn.Embedding.from_pretrained(self.kinds.weight.data + kinds, freeze=False)
        self.labels = nn.Linear(WIDTH, len(LABELS))

    def forward(self, tokens: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.labels(self.drop(self.encode(tokens, kinds, mask)))
        return scores


class Examples:
    """Groups of an older note and newer ones, and the notes of other groups nearest to each."""

    def __init__(self, pieces: WordPieces) -> None:
        groups = read_groups(REPLACEMENTS)
        self._topics = [group.topic for group in groups]
        self._labels = [[LABELS.index(note.label) for note in group.newer] for group in groups]
        texts = [[group.older, *(note.text for note in group.newer)] for group in groups]
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


class Months:
    """Months, and of each of their notes the earlier ones, the nearest by meaning first."""

    def __init__(self, pieces: WordPieces) -> None:
        self._months, model = read_months(), Sentences()
        self._near, self._tokens = list[list[list[int]]](), list[list[Tokens]]()
        for month in self._months:
            texts = [note.text for note in month]
            vectors = model.embed(texts, "passage")
            orders = [np.argsort(-vectors[:at] @ vectors[at]).tolist() for at in range(len(texts))]
            self._near.append(orders)
            self._tokens.append([pieces.read(text)[:NOTE_TOKENS] for text in texts])

    def __len__(self) -> int:
        return len(self._months)

    def pairs(self, numbers: Sequence[int], draw: random.Random) -> Iterator[Pair]:
        """Yield the changes of these months, and pairs of near notes of which both hold."""
        for number in numbers:
            tokens, outdated = self._tokens[number], set[int]()
            for at, note in enumerate(self._months[number]):
                yield from (Pair(tokens[old], tokens[at], REPLACES, CHANGE) for old in note.outdates)
                left_out = note.outdates | note.unsure | outdated
                near = [old for old in self._near[number][at] if old not in left_out]
                further = near[NEAREST_OF_MONTH:]
                drawn = draw.sample(further, min(DRAWN_OF_MONTH, len(further)))
                yield from (Pair(tokens[old], tokens[at], HOLDS) for old in near[:NEAREST_OF_MONTH] + drawn)
                outdated |= note.outdates


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


def train(
    reader: Reader, kinds: Sequence[Examples | Months], pieces: WordPieces, epochs: int, seed: int
) -> None:
    """Train on all but a fourteenth of each kind of examples, and print the figures of those."""
    draw = random.Random(seed)
    orders = [draw.sample(range(len(examples)), len(examples)) for examples in kinds]
    held_out = [
        list(examples.pairs(order[: len(order) // 14], draw))
        for examples, order in zip(kinds, orders, strict=True)
    ]
    decayed = [weight for weight in reader.parameters() if weight.dim() > 1]
    others = [weight for weight in reader.parameters() if weight.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    )
    step, steps = 0, 0
    for epoch in range(epochs):
        pairs = [
            pair
            for examples, order in zip(kinds, orders, strict=True)
            for pair in examples.pairs(order[len(order) // 14 :], draw)
        ]
        parts = batches(pairs, draw)
        steps = steps or epochs * len(parts)
        for part in parts:
            rate = RATE * min(1.0, 10 * step / steps) * max(0.02, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            with half_precision():
                scores = reader(*tensors(part, pieces))
            optimizer.zero_grad()
            loss(scores.float(), part).backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"epoch {epoch + 1}: {[evaluate(reader, pairs, pieces) for pairs in held_out]}", flush=True)


def loss(scores: torch.Tensor, pairs: Sequence[Pair]) -> torch.Tensor:
    """Return the mean of the weighted losses; a pair that HOLDS may have any label but one."""
    labels = torch.tensor([pair.label for pair in pairs])
    holds = labels == HOLDS
    losses = nn.functional.cross_entropy(
        scores, labels.masked_fill(holds, OTHER), reduction="none", label_smoothing=SMOOTHING
    )
    replaces = scores.softmax(1)[:, REPLACES]
    not_replaced = -torch.log1p(-replaces.clamp(max=1 - 1e-6))
    weights = torch.tensor([pair.weight for pair in pairs])
    result: torch.Tensor = (torch.where(holds, not_replaced, losses) * weights).mean()
    return result


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path, metavar="FOLDER")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    words = json.loads((MODEL_DIR / "vocab.json").read_text())
    pieces = WordPieces(words)
    reader = Reader(options.minilm, words)
    if options.resume:
        resume(reader, options.resume, {"labels": reader.labels})
    train(reader, [Examples(pieces), Months(pieces)], pieces, options.epochs, options.seed)
    export("cortex-replacement", reader, words, options.out, {"labels": reader.labels})


if __name__ == "__main__":
    main()
