"""Stage 2: the choice of the vocabulary from the pairs, and start vectors from MiniLM.

MiniLM (all-MiniLM-L6-v2, Apache-2.0) is read from a folder that holds `vocab.txt` and
`model.safetensors`; its forward pass is written out here, so that torch is the only library needed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

#: repositories and times in which a sub-word must occur
REPOSITORIES_MIN, TIMES_MIN = 3, 10
#: rows at most, so that int8 [rows, 384], the scales and the words stay within 16 MB
ROWS_MAX = 39_000
#: letters of the longest word of the vocabulary: longer ones are mostly encoded data
LETTERS_MAX = 24
#: Arora et al. 2017, smooth inverse frequency: weight = SIF / (SIF + share of the word)
SIF = 1e-3
#: words that MiniLM reads at once
BATCH = 512
#: MiniLM's shape
LAYERS, HEADS, WIDTH, NORM_EPSILON = 6, 12, 384, 1e-12


def choose(pairs: Path, minilm: Path) -> tuple[list[str], np.ndarray]:
    """Return the words in alphabetical order, and how often each occurs in documents."""
    repositories: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for path in sorted(pairs.glob("*.npz")):
        data = np.load(path)
        words = data["words"].tobytes().decode().split("\n")
        counts = np.bincount(data["d_word"], weights=data["d_count"], minlength=len(words))
        counts += np.bincount(data["q_word"], weights=data["q_count"], minlength=len(words))
        repositories.update(words)
        times.update(dict(zip(words, counts.tolist(), strict=True)))
    frequent = [
        word
        for word, repos in repositories.items()
        if repos >= REPOSITORIES_MIN and times[word] >= TIMES_MIN and 2 <= len(word) <= LETTERS_MAX
    ]
    required = {word for word in read_vocabulary(minilm) if re.fullmatch("[a-z]{2,24}", word)}
    required |= set("abcdefghijklmnopqrstuvwxyz")
    # MiniLM's words that the code lacks all stay: rare in queries, but known then. The rarest words
    # of the code make room.
    frequent.sort(key=lambda word: (-repositories[word], -times[word], word))
    added = sorted(required - set(frequent), key=lambda word: (-times[word], word))
    selection = sorted([*frequent[: ROWS_MAX - len(added)], *added][:ROWS_MAX])
    return selection, np.array([times[word] for word in selection])


def read_vocabulary(minilm: Path) -> dict[str, int]:
    return {word: row for row, word in enumerate((minilm / "vocab.txt").read_text("utf-8").splitlines())}


def start_vectors(words: list[str], times: np.ndarray, minilm: Path) -> Tensor:
    """Return the start vectors, float32 [words, 384].

    Each is MiniLM's mean-pooled vector of the word alone, centred, unit length × SIF weight.
    """
    row_of_piece = read_vocabulary(minilm)
    weights = read_tensors(minilm / "model.safetensors")
    rows = [[row_of_piece["[CLS]"], *cut(word, row_of_piece), row_of_piece["[SEP]"]] for word in words]
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    result = torch.zeros(len(words), WIDTH)
    with torch.inference_mode():
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            longest = max(len(rows[row_number]) for row_number in batch)
            ids = torch.tensor(
                [rows[row_number] + [0] * (longest - len(rows[row_number])) for row_number in batch]
            )
            mask = torch.tensor(
                [
                    [1.0] * len(rows[row_number]) + [0.0] * (longest - len(rows[row_number]))
                    for row_number in batch
                ]
            )
            states = forward(weights, ids, mask)
            result[batch] = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    result = functional.normalize(result - result.mean(0))
    share = torch.from_numpy(times / times.sum()).float()
    return result * (SIF / (SIF + share))[:, None]


def cut(word: str, row_of_piece: dict[str, int]) -> list[int]:
    """Cut a word as WordPiece does: the longest known pieces from left to right."""
    rows, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            row = row_of_piece.get(word[start:end] if not start else "##" + word[start:end])
            if row is not None:
                rows.append(row)
                start = end
                break
        else:
            return [row_of_piece["[UNK]"]]
    return rows


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the float32 tensors of a safetensors file: 8 bytes of length, a JSON header,
    the data.
    """
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            low, high = (8 + length + at for at in entry["data_offsets"])
            array = np.frombuffer(data[low:high], "<f4").reshape(entry["shape"])
            tensors[name.removeprefix("bert.")] = torch.from_numpy(array.copy())
    return tensors


def forward(weights: dict[str, Tensor], ids: Tensor, mask: Tensor) -> Tensor:
    """Return BERT's last hidden states [texts, tokens, 384]."""

    def linear(states: Tensor, name: str) -> Tensor:
        return functional.linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(states: Tensor, name: str) -> Tensor:
        return functional.layer_norm(
            states, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"], NORM_EPSILON
        )

    def heads(states: Tensor) -> Tensor:
        return states.view(*states.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

    states = weights["embeddings.word_embeddings.weight"][ids]
    states = states + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    states = norm(states + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    attention_mask = (mask > 0)[:, None, None, :]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            heads(linear(states, f"{at}.attention.self.{projection}"))
            for projection in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask)
        mixed = mixed.transpose(1, 2).reshape(states.shape)
        states = norm(
            states + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm"
        )
        wide = functional.gelu(linear(states, f"{at}.intermediate.dense"))
        states = norm(states + linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return states
