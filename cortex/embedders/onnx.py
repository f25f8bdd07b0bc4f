"""An embedder that runs a transformer in this process: a model exported to ONNX, on a CPU or a
graphics card, with the libraries of the extra `onnx`. model_folder.py reads the model's settings.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cortex.embedders.model_folder import TOKENIZER_BYTES_MAX, ModelFolder, Pooling, Recipe
from cortex.settings.config import Config
from cortex.system.arrays import Array
from cortex.system.errors import Misconfigured
from cortex.system.installation import how_to_add
from cortex.system.process import allocator
from cortex.system.process.cores import count_cores
from ipc.messages import Mode

#: the error when its libraries are missing
MISSING = f"embedding.provider is onnx, which needs the extra `onnx`: {how_to_add('onnx')}."
#: largest model, in bytes: the limit of one protobuf message
MODEL_BYTES_MAX = (1 << 31) - 1
#: bytes that all processes of an indexing run may use for their copies of a model, and the size of
#: a copy during loading, as a multiple of its file
COPIES_BYTES, COPY_FACTOR = 2 << 30, 3
#: texts to tokenise at once
WINDOW_TEXTS = 1024
#: tokens in one call of a model, which determine its memory: a CPU does as well with few (512: 40
#: MB at 384 dimensions, 8 192: 400 MB and half as much time again), a card needs many
BATCH_TOKENS = {"cpu": 512, "cuda": 8192}
#: characters of a text that are read per token of the model: longer texts are encoded data
TOKEN_CHARS_MAX = 64
#: characters of the library's error message
REASON_CHARS_MAX = 150
#: embedding.device without its number → onnxruntime's name
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_DEVICE = re.compile(r"(cpu)|(cuda)(?::(\d{1,2}))?")
#: names of a model's inputs
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def open_onnx(config: Config) -> OnnxEmbedder:
    """Return the model in `embedding.model_path`. Raises Misconfigured with one sentence: a
    library, a file or the device is missing, or the model does not embed text.
    """
    folder, recipe = _check_folder(config)
    tokenizer, model, identity = _read_model(config, folder)
    session = _open_session(folder.path, model, config.embedding.device)
    del model
    embedder = OnnxEmbedder(identity, folder.path, recipe, tokenizer, session)
    allocator.trim()  # loading takes twice the memory of the loaded model
    return embedder


def describe_onnx(config: Config) -> tuple[str, int]:
    """Return the identity and the dimensions that `open_onnx` would give, without loading the
    model: the configured dimensions where its folder has none. Raises Misconfigured.
    """
    folder, recipe = _check_folder(config)
    *_, identity = _read_model(config, folder)
    return identity, recipe.dimensions or config.embedding.dimensions


def _read_model(config: Config, folder: ModelFolder) -> tuple[bytes, bytes, str]:
    """Return the tokenizer, the model, and the identity."""
    tokenizer = folder.read("tokenizer.json", TOKENIZER_BYTES_MAX)
    model = folder.read(_model_name(folder), MODEL_BYTES_MAX)
    name = config.embedding.model or folder.path.name.replace("@", "-")
    return tokenizer, model, name if "@" in name else f"{name}@{folder.digest}"


def check_onnx(config: Config) -> int:
    """Raise errors that need no loading; return the vectors' length, 0 if the folder has none."""
    return _check_folder(config)[1].dimensions


def copies_max(config: Config) -> int:
    """Return how many processes should load the model at the same time: 1 for a graphics card."""
    if config.embedding.device != "cpu":
        return 1
    folder = _folder(config)
    size = (folder.path / _model_name(folder)).stat().st_size
    return max(1, COPIES_BYTES // (COPY_FACTOR * size + 1))


def _check_folder(config: Config) -> tuple[ModelFolder, Recipe]:
    if not all(importlib.util.find_spec(name) for name in ("onnxruntime", "tokenizers")):
        raise Misconfigured(MISSING)
    folder = _folder(config)
    _model_name(folder)
    folder.find("tokenizer.json")
    _provider(config.embedding.device)
    return folder, folder.recipe()


def _folder(config: Config) -> ModelFolder:
    setting = config.embedding.model_path
    if not setting:
        raise Misconfigured(
            "embedding.provider is onnx, but embedding.model_path is not set; set it to a folder with model.onnx and "
            "tokenizer.json (CORTEX_EMBEDDING_MODEL_PATH)."
        )
    path = Path(os.path.normpath(config.root / os.path.expanduser(setting)))
    if not path.is_dir():
        raise Misconfigured(f"embedding.model_path is {path}, which is no folder; correct it.")
    return ModelFolder(path)


def _model_name(folder: ModelFolder) -> str:
    return folder.find("model.onnx", "onnx/model.onnx")


def _provider(device: str) -> tuple[str, dict[str, str]]:
    """Return onnxruntime's name for `device`, and its options. Raises Misconfigured for a device
    that is missing.
    """
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise Misconfigured(
            f"embedding.device is {device!r}; it must be cpu, or cuda:0 for the first graphics card."
        )
    if match[1]:
        return PROVIDERS["cpu"], {}  # always available; onnxruntime takes half a second to load
    available = _load_library().get_available_providers()
    if PROVIDERS[match[2]] not in available:
        usable = [name for name, provider in PROVIDERS.items() if provider in available]
        raise Misconfigured(
            f"embedding.device is {device}, but onnxruntime here can use {' and '.join(usable)} only; install "
            "onnxruntime-gpu in its place, or set embedding.device to cpu."
        )
    return PROVIDERS[match[2]], {"device_id": match[3] or "0"}


def _load_library() -> Any:
    """Return the library onnxruntime. Raises Misconfigured where loading it would crash the
    process.

    usearch exports the C++ library that it brings to all libraries that are loaded later;
    onnxruntime then uses it as its own and crashes. In the other order both work. No process of
    Cortex loads both.
    """
    if "usearch" in sys.modules and "onnxruntime" not in sys.modules:
        raise Misconfigured(
            "embedding.provider is onnx, but this process has loaded usearch, after which onnxruntime crashes; "
            "import onnxruntime first."
        )
    import onnxruntime

    return onnxruntime


def _open_session(path: Path, model: bytes, device: str) -> Any:
    onnxruntime = _load_library()
    provider, provider_options = _provider(device)
    options = onnxruntime.SessionOptions()
    # The indexer's children set this variable to 1: they are the parallelism.
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0) or count_cores()
    options.inter_op_num_threads = 1
    # An arena never shrinks; threads that spin use a core even when idle.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=[(provider, provider_options)])
        session._model_bytes = b""  # noqa: SLF001 - a copy of the file, for another choice of the device
    except Exception as error:  # the library's errors have no common base class
        raise Misconfigured(f"The model in {path} cannot be loaded ({_reason(error)}).") from error
    if session.get_providers()[0] != provider:  # it falls back to the CPU, and only logs that
        raise Misconfigured(
            f"embedding.device is {device}, but onnxruntime cannot use it: its card or libraries are missing; set it to cpu."
        )
    return session


def _reason(error: Exception) -> str:
    """Return the library's message, short and on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:REASON_CHARS_MAX]


class OnnxEmbedder:
    """See `protocol.Embedder`."""

    def __init__(self, identity: str, path: Path, recipe: Recipe, tokenizer: bytes, session: Any) -> None:
        """Raises Misconfigured for a model or tokenizer that does not work here."""
        self.identity = identity
        self._path, self._recipe, self._session = path, recipe, session
        self._tokenizer, self._tokenizer_file = self._open_tokenizer(tokenizer), tokenizer
        self._tokenizer.enable_truncation(recipe.tokens_max)
        self._inputs = {tensor.name: tensor.type for tensor in session.get_inputs()}
        if strange := [name for name in self._inputs if name not in INPUTS]:
            raise Misconfigured(
                f"The model in {path} wants {strange[0]!r}, which is not one of {', '.join(INPUTS)}."
            )
        self._batch_tokens = BATCH_TOKENS["cpu" if session.get_providers()[0] == PROVIDERS["cpu"] else "cuda"]
        names = [tensor.name for tensor in session.get_outputs()]
        self._output = next((name for name in ("sentence_embedding",) if name in names), names[0])
        self.dimensions = 0
        self.dimensions = int(self._run([self._tokenizer.encode("dimensions")]).shape[1])

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), WINDOW_TEXTS):
            window = [self._prepared(text, mode) for text in texts[start : start + WINDOW_TEXTS]]
            encoded = self._tokenizer.encode_batch(window)
            wanted = [at for at, text in enumerate(texts[start : start + WINDOW_TEXTS]) if text.strip()]
            for batch in _batches(wanted, [len(encoding.ids) for encoding in encoded], self._batch_tokens):
                result[[start + at for at in batch]] = self._run([encoded[at] for at in batch])
        norms = np.linalg.norm(result, axis=1, keepdims=True)
        np.divide(result, norms, out=result, where=norms > 0)
        return result

    def count_tokens(self, text: str) -> int:
        """Return the count of the model's own tokens, line by line."""
        lines = [_clean(line).strip() for line in text.split("\n")]
        return sum(len(self._counter.encode(line, add_special_tokens=False).ids) for line in lines if line)

    @functools.cached_property
    def _counter(self) -> Any:
        """The tokenizer for counting, which does not truncate."""
        return self._open_tokenizer(self._tokenizer_file)

    def _prepared(self, text: str, mode: Mode) -> str:
        text = _clean(text[: TOKEN_CHARS_MAX * self._recipe.tokens_max])
        text = (self._recipe.prompts or {}).get(mode, "") + text
        return text.lower() if self._recipe.lower_case else text

    def _open_tokenizer(self, raw: bytes) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_str(raw.decode("utf-8"))
            tokenizer.no_padding()
            tokenizer.no_truncation()
        except Exception as error:  # it raises nothing but this class
            raise Misconfigured(
                f"{self._path / 'tokenizer.json'} cannot be read ({_reason(error)})."
            ) from error
        return tokenizer

    def _run(self, batch: Sequence[Any]) -> Array:
        """Return float32 [len(batch), dimensions], not normalised."""
        shape = len(batch), max(len(encoding.ids) for encoding in batch)
        inputs = {
            name: np.zeros(shape, np.int32 if "int32" in kind else np.int64)
            for name, kind in self._inputs.items()
        }
        mask = np.zeros(shape, bool)
        for row, encoding in enumerate(batch):
            mask[row, : len(encoding.ids)] = True
            for name, values in zip(
                INPUTS, (encoding.ids, encoding.attention_mask, encoding.type_ids), strict=True
            ):
                if name in inputs:
                    inputs[name][row, : len(values)] = values
        try:
            (hidden,) = self._session.run([self._output], inputs)
        except Exception as error:  # as above: no common base class
            raise Misconfigured(f"The model in {self._path} fails ({_reason(error)}).") from error
        vectors = pool(hidden.astype(np.float32, copy=False), mask, self._recipe.pooling)
        if vectors.ndim != 2 or vectors.shape[1] != (self.dimensions or vectors.shape[1]):
            raise Misconfigured(f"The model in {self._path} answers with numbers of shape {hidden.shape}.")
        if not np.isfinite(vectors).all():
            raise Misconfigured(f"The model in {self._path} answers with numbers that are not finite.")
        return vectors


def _clean(text: str) -> str:
    """Return the text without halves of surrogate pairs, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _batches(wanted: Sequence[int], lengths: Sequence[int], tokens_max: int) -> Iterator[list[int]]:
    """Yield texts of similar length, at most `tokens_max` with padding; longer ones alone."""
    batch: list[int] = []
    for at in sorted(wanted, key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[at] > tokens_max:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def pool(hidden: Array, mask: Array, pooling: Pooling) -> Array:
    """Pool `hidden` [texts, tokens, dimensions] over the tokens of `mask` to [texts, dimensions];
    return `hidden` itself if it has no axis of tokens.
    """
    if hidden.ndim != 3:
        return hidden
    if pooling == "cls":
        return np.asarray(hidden[:, 0])
    if pooling == "max":
        return np.asarray(np.where(mask[:, :, None], hidden, -np.inf).max(axis=1))
    return np.asarray((hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True))
