"""Stage 3: training of the vocabulary's vectors by contrast (InfoNCE both ways), on one processor
core.
"""

from __future__ import annotations

import math
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from cortex.embedders.static import StaticEmbedder

#: pairs of a batch = repositories × pairs of each: negatives from the same repository are the hard
#: ones
BATCH_REPOSITORIES, BATCH_PAIRS = 4, 256
#: share of the tokens that a bag loses in training
DROPOUT = 0.2
#: Adam's betas
BETAS = (0.9, 0.99)
#: temperature at the start; it is learned
TEMPERATURE = 0.05
#: decay for a step of the exported average of the weights; it is updated every AVERAGE_STEPS steps
AVERAGE, AVERAGE_STEPS = 0.998, 8
#: share of the steps in which the rate rises; the factor to which it falls
WARM_UP, RATE_END = 0.02, 0.1


@dataclass(frozen=True)
class Settings:
    seed: int = 1
    epochs: int = 4
    rate: float = 2e-3
    #: dimensions of a prefix that is usable alone (Kusupati et al. 2022), and its share of the
    #: loss; 0 for none
    prefix: int = 256
    prefix_share: float = 0.25


@dataclass(frozen=True)
class Bags:
    """Bags of rows: `rows` and `weights` of all, `ends` delimit them."""

    rows: np.ndarray
    weights: np.ndarray
    ends: np.ndarray

    def take(self, which: np.ndarray, chance: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Return (rows, offsets, weights) of some bags, thinned by DROPOUT."""
        starts = np.where(which > 0, self.ends[which - 1], 0)
        lengths = self.ends[which] - starts
        offsets = np.cumsum(lengths) - lengths
        at = np.repeat(starts - offsets, lengths) + np.arange(lengths.sum())
        weights = self.weights[at] * (chance.random(len(at), np.float32) >= DROPOUT)
        return torch.from_numpy(self.rows[at]), torch.from_numpy(offsets), torch.from_numpy(weights)


@dataclass(frozen=True)
class Corpus:
    """All pairs: bags of both sides; the numbers of each pair's repository, file and query text."""

    queries: Bags
    documents: Bags
    repository: np.ndarray
    file: np.ndarray
    text: np.ndarray


def load(pairs: Path, words: list[str]) -> Corpus:
    """Return the pairs of every repository as bags over the vocabulary, without pairs that have an
    empty side.
    """
    cutter = StaticEmbedder("", words, np.zeros((len(words), 1), np.int8), np.ones(len(words), np.float32))
    sides: dict[str, list[list[np.ndarray]]] = {"q": [[], [], []], "d": [[], [], []]}
    repository, file, text = [], [], []
    files = 0
    for number, path in enumerate(sorted(pairs.glob("*.npz"))):
        data = np.load(path)
        local = data["words"].tobytes().decode().split("\n")
        pieces = [cutter._pieces(word) for word in local]
        for side, columns in sides.items():
            rows, counts, lengths = _translate(data, side, pieces)
            for into, array in zip(columns, (rows, counts, lengths), strict=True):
                into.append(array)
        count = len(data["origin"])
        repository.append(np.full(count, number, np.int32))
        file.append(data["origin"].astype(np.int64) + files)
        files += int(data["origin"].max(initial=0)) + 1
        query_words = np.split(data["q_word"], data["q_end"][:-1]) if count else []
        text.append(
            np.array([zlib.crc32(words.tobytes()) + (number << 32) for words in query_words], np.int64)
        )
    bags = {
        side: Bags(
            np.concatenate(rows).astype(np.int64),
            np.log1p(np.concatenate(counts)).astype(np.float32),
            np.cumsum(np.concatenate(lengths)),
        )
        for side, (rows, counts, lengths) in sides.items()
    }
    return Corpus(bags["q"], bags["d"], *map(np.concatenate, (repository, file, text)))


def _translate(data: dict[str, np.ndarray], side: str, pieces: list[list[int]]) -> tuple[np.ndarray, ...]:
    """Return (rows, counts, lengths) of a repository's bags, with rows of the vocabulary in place
    of its own words.
    """
    sizes = np.array([len(rows) for rows in pieces])
    flat = np.array([row for rows in pieces for row in rows], np.int64)
    firsts = np.cumsum(sizes) - sizes
    words, counts, ends = data[f"{side}_word"], data[f"{side}_count"], data[f"{side}_end"]
    bags = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    lengths = sizes[words]
    offsets = np.cumsum(lengths) - lengths
    rows = flat[np.repeat(firsts[words] - offsets, lengths) + np.arange(lengths.sum())]
    # several words of a bag may have the same row: their counts are added
    keys, places = np.unique(
        np.repeat(bags, lengths) * (int(flat.max(initial=0)) + 1) + rows, return_inverse=True
    )
    summed = np.bincount(places, weights=np.repeat(counts, lengths)).astype(np.float32)
    bags, rows = np.divmod(keys, int(flat.max(initial=0)) + 1)
    return rows, summed, np.bincount(bags, minlength=len(ends))


def batches(corpus: Corpus, chance: np.random.Generator) -> list[np.ndarray]:
    """Return the batches of an epoch.

    A batch has BATCH_REPOSITORIES blocks; a block is BATCH_PAIRS pairs of one repository.
    """
    lengths = np.diff(corpus.queries.ends, prepend=0) * np.diff(corpus.documents.ends, prepend=0)
    order = chance.permutation(np.flatnonzero(lengths))
    order = order[np.argsort(corpus.repository[order], kind="stable")]
    blocks, remainders = [], []
    for repository_rows in np.split(order, np.flatnonzero(np.diff(corpus.repository[order])) + 1):
        full_length = len(repository_rows) // BATCH_PAIRS * BATCH_PAIRS
        blocks += list(repository_rows[:full_length].reshape(-1, BATCH_PAIRS))
        remainders.append(repository_rows[full_length:])
    left = np.concatenate(remainders)
    blocks += [left[at : at + BATCH_PAIRS] for at in range(0, len(left) - BATCH_PAIRS + 1, BATCH_PAIRS)]
    shuffled = chance.permutation(len(blocks))
    full_length = len(blocks) // BATCH_REPOSITORIES * BATCH_REPOSITORIES
    return [
        np.concatenate([blocks[at] for at in group])
        for group in shuffled[:full_length].reshape(-1, BATCH_REPOSITORIES)
    ]


def contrast(queries: Tensor, documents: Tensor, logit_scale: Tensor, masked: Tensor) -> Tensor:
    """Return InfoNCE both ways; `masked` marks pairs that are no negatives for each other."""
    logits = functional.normalize(queries) @ functional.normalize(documents).T * logit_scale.exp()
    logits = logits.masked_fill(masked, -math.inf)
    right = torch.arange(len(logits))
    return (functional.cross_entropy(logits, right) + functional.cross_entropy(logits.T, right)) / 2


def fit(corpus: Corpus, start: Tensor, settings: Settings) -> Tensor:
    """Return the trained vectors, float32 [words, 384].

    They are the same for the same input, seed and number of threads.
    """
    torch.manual_seed(settings.seed)
    chance = np.random.default_rng(settings.seed)
    table = torch.nn.Parameter(start.clone())
    logit_scale = torch.nn.Parameter(torch.tensor(-math.log(TEMPERATURE)))
    adam = torch.optim.Adam([table, logit_scale], lr=settings.rate, betas=BETAS, fused=True)
    average = start.clone()
    epochs = [batches(corpus, chance) for _ in range(settings.epochs)]
    steps = sum(map(len, epochs))
    started, losses = time.monotonic(), 0.0
    for step, batch in enumerate((batch for epoch in epochs for batch in epoch), 1):
        for group in adam.param_groups:
            group["lr"] = settings.rate * rate_at(step / steps)
        masked = torch.from_numpy(
            (corpus.file[batch][:, None] == corpus.file[batch])
            | (corpus.text[batch][:, None] == corpus.text[batch])
        ).fill_diagonal_(fill_value=False)
        queries, documents = (
            functional.embedding_bag(rows, table, offsets, mode="sum", per_sample_weights=weights)
            for rows, offsets, weights in (
                bags.take(batch, chance) for bags in (corpus.queries, corpus.documents)
            )
        )
        loss = contrast(queries, documents, logit_scale, masked)
        if settings.prefix:
            short = contrast(
                queries[:, : settings.prefix], documents[:, : settings.prefix], logit_scale, masked
            )
            loss = (1 - settings.prefix_share) * loss + settings.prefix_share * short
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses += loss.item()
        if step % AVERAGE_STEPS == 0:
            # a short average at the beginning, so that the start is forgotten
            average.lerp_(
                table.detach(), max(1 - AVERAGE**AVERAGE_STEPS, AVERAGE_STEPS / (step + AVERAGE_STEPS))
            )
        if step % 50 == 0:
            seconds = time.monotonic() - started
            print(
                f"{seconds:6.0f} s step {step}/{steps} loss {losses / 50:.4f} scale {logit_scale.exp():.2f}",
                flush=True,
            )
            losses = 0.0
    return average


def rate_at(share: float) -> float:
    """Return the rate's factor after that share of the steps: a rise, then half a cosine to
    RATE_END.
    """
    if share < WARM_UP:
        return share / WARM_UP
    return RATE_END + (1 - RATE_END) * (1 + math.cos(math.pi * (share - WARM_UP) / (1 - WARM_UP))) / 2
