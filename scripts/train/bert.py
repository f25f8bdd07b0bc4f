"""The small BERT that models of notes are trained from (all-MiniLM-L6-v2), and the files that
cortex/embedders/bert.py reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from cortex.embedders.bert import HEAD, WordPieces
from scripts.train.minilm_onnx import read_weights

WIDTH, LAYERS = 384, 6
#: tokens of a sentence that are read in training, sentences that are encoded at once
TOKENS, TOGETHER = 96, 192
#: weight of cosines within a batch
RELATIONS = 3.0


class Layer(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.inner, self.outer = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm, self.outer_norm = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))
        self.drop = nn.Dropout(dropout)

    def forward(self, state: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        heads = [
            part(state).unflatten(2, (-1, HEAD)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        mixed = nn.functional.scaled_dot_product_attention(
            *heads, attn_mask=mask[:, None, None, :], dropout_p=self.drop.p if self.training else 0.0
        )
        state = self.norm(state + self.drop(self.mixed(mixed.transpose(1, 2).flatten(2))))
        inner = nn.functional.gelu(self.inner(state), approximate="tanh")
        normed: torch.Tensor = self.outer_norm(state + self.drop(self.outer(inner)))
        return normed


class Encoder(nn.Module):
    """all-MiniLM-L6-v2 with the rows of `pieces`; all tokens are of the kind 0."""

    def __init__(
        self, folder: Path, pieces: Sequence[str], places: int, layers: Sequence[int], dropout: float = 0.0
    ) -> None:
        super().__init__()
        weights = {
            name: torch.tensor(value) for name, value in read_weights(folder / "model.safetensors").items()
        }
        rows = {piece: row for row, piece in enumerate((folder / "vocab.txt").read_text().splitlines())}
        words, positions, kinds = (
            weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        self.words = nn.Embedding.from_pretrained(words[[rows[p] for p in pieces]].clone(), freeze=False)
        self.places = nn.Embedding.from_pretrained(positions[:places].clone(), freeze=False)
        self.kinds = nn.Embedding.from_pretrained(kinds[:1].clone(), freeze=False)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        _take(self.norm, weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer(dropout) for _ in layers)
        for theirs, layer in zip(layers, self.layers, strict=True):
            for name, part in _NAMES.items():
                _take(getattr(layer, name), weights, f"encoder.layer.{theirs}.{part}")
        self.drop = nn.Dropout(dropout)

    def encode(self, tokens: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return float [texts, WIDTH]: the mean of the last layer."""
        places = self.places(torch.arange(tokens.shape[1]))
        state = self.drop(self.norm(self.words(tokens) + places + self.kinds(kinds)))
        for layer in self.layers:
            state = layer(state, mask)
        pooled: torch.Tensor = (state * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return pooled


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


def tokens_of(texts: Sequence[str], words: Sequence[str]) -> list[list[int]]:
    """Return the rows of each text's pieces, with the marks around them."""
    pieces = WordPieces(words)
    begin, end = pieces.rows["[CLS]"], pieces.rows["[SEP]"]
    return [[begin, *pieces.read(text)[:TOKENS], end] for text in texts]


def half_precision() -> torch.autocast:
    """bfloat16 where the processor has it: elsewhere a step in it takes twelve times as long."""
    return torch.autocast("cpu", torch.bfloat16, enabled=torch.ops.mkldnn._is_mkldnn_bf16_supported())


def encode(encoder: Encoder, rows: Sequence[list[int]]) -> torch.Tensor:
    """Return float32 [rows, WIDTH] of unit length."""
    longest = max(map(len, rows))
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for at, row in enumerate(rows):
        tokens[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), True
    with half_precision():
        means = encoder.encode(tokens, torch.zeros_like(tokens), mask)
    return nn.functional.normalize(means.float(), dim=1)


def encode_all(encoder: Encoder, rows: Sequence[list[int]]) -> torch.Tensor:
    """As `encode`, of many rows, without gradients."""
    encoder.eval()
    vectors = torch.zeros(len(rows), WIDTH)
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    with torch.no_grad():
        for first in range(0, len(order), TOGETHER):
            part = order[first : first + TOGETHER]
            vectors[part] = encode(encoder, [rows[at] for at in part])
    encoder.train()
    return vectors


def distance(vectors: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return how far vectors are from the wanted ones, and their cosines with each other from those
    of the wanted ones.
    """
    relations = ((vectors @ vectors.T - wanted @ wanted.T) ** 2).mean()
    apart: torch.Tensor = (1 - (vectors * wanted).sum(1)).mean()
    return apart + RELATIONS * relations


def export(
    name: str, encoder: Encoder, pieces: Sequence[str], out: Path, linears: dict[str, nn.Linear], **more: Any
) -> None:
    """Write the files of a model: words8.npy, weights.npz, vocab.json, and model.json with its
    name, hash and `more`; `linears`: further layers by name.
    """
    out.mkdir(parents=True, exist_ok=True)
    arrays = {"places": encoder.places.weight, "kinds": encoder.kinds.weight}
    arrays = {part: weight.detach().numpy().astype(np.float16) for part, weight in arrays.items()}
    words, arrays["words.scale"] = _int8(encoder.words.weight)
    np.save(out / "words8.npy", words)
    parts, norms = _parts(encoder, linears)
    for part, group in parts.items():
        arrays[part], arrays[f"{part}:scale"] = _int8(torch.cat([linear.weight for linear in group]))
        arrays[f"{part}.bias"] = torch.cat([linear.bias for linear in group]).detach().numpy()
    for part, norm in norms.items():
        arrays[part], arrays[f"{part}.bias"] = norm.weight.detach().numpy(), norm.bias.detach().numpy()
    np.savez(out / "weights.npz", **arrays)
    (out / "vocab.json").write_text(json.dumps(list(pieces), ensure_ascii=False, separators=(",", ":")))
    digest = hashlib.sha256()
    for file in ("words8.npy", "weights.npz", "vocab.json"):
        digest.update((out / file).read_bytes())
    (out / "model.json").write_text(json.dumps({"name": name, "hash": digest.hexdigest()[:12]} | more))


def resume(encoder: Encoder, folder: Path, linears: dict[str, nn.Linear]) -> None:
    """Take the weights that `export` wrote, to train them further."""
    arrays = dict(np.load(folder / "weights.npz"))
    encoder.words.weight.data = _floats(np.load(folder / "words8.npy"), arrays["words.scale"])
    encoder.places.weight.data = torch.tensor(arrays["places"].astype(np.float32))
    encoder.kinds.weight.data = torch.tensor(arrays["kinds"].astype(np.float32))
    parts, norms = _parts(encoder, linears)
    for name, group in parts.items():
        weights = _floats(arrays[name], arrays[f"{name}:scale"]).chunk(len(group))
        biases = torch.tensor(arrays[f"{name}.bias"]).chunk(len(group))
        for linear, weight, bias in zip(group, weights, biases, strict=True):
            linear.weight.data, linear.bias.data = weight.clone(), bias.clone()
    for name, norm in norms.items():
        norm.weight.data = torch.tensor(arrays[name])
        norm.bias.data = torch.tensor(arrays[f"{name}.bias"])


def _parts(
    encoder: Encoder, linears: dict[str, nn.Linear]
) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
    """Return {name in the file: linear layers whose rows it has}, and {name: norm}."""
    parts: dict[str, tuple[Any, ...]] = {part: (linear,) for part, linear in linears.items()}
    norms = {"norm": encoder.norm}
    for at, layer in enumerate(encoder.layers):
        parts[f"{at}.attention"] = (layer.query, layer.key, layer.value)
        parts |= {f"{at}.{part}": (getattr(layer, part),) for part in ("mixed", "inner", "outer")}
        norms |= {f"{at}.norm": layer.norm, f"{at}.outer_norm": layer.outer_norm}
    return parts, norms


def _floats(rows: np.ndarray, scale: np.ndarray) -> torch.Tensor:
    return torch.tensor(rows.astype(np.float32) * scale.astype(np.float32)[:, None])


def _int8(weight: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 rows, and the float16 scale of each."""
    rows = weight.detach().float().numpy()
    scale = (np.abs(rows).max(axis=1) / 127).astype(np.float16)
    scale[scale == 0] = 1
    return np.clip(np.round(rows / scale.astype(np.float32)[:, None]), -127, 127).astype(np.int8), scale
