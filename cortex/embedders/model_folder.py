"""The folder of a sentence-transformers model: its files, each read once, and their settings for
computing vectors. Computes none.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from cortex.system import files
from cortex.system.errors import Misconfigured
from ipc.messages import Mode

Pooling = Literal["mean", "cls", "max"]

#: largest configuration file, and largest tokenizer file, in bytes: 250 000 words take 17 MB
CONFIG_BYTES_MAX, TOKENIZER_BYTES_MAX = 1 << 20, 128 << 20
#: tokens of a text by default, and at most: attention grows with their square
TOKENS_DEFAULT, TOKENS_MAX = 512, 8192
#: fewest tokens of a text: the model's special tokens, and one word
TOKENS_MIN = 8

#: modules of models that work here: their vector is the pooled output; every row is normalised
#: anyway
_MODULES = ("Transformer", "Pooling", "Normalize")
_POOLINGS: dict[str, Pooling] = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
#: mode → names of its prompt
_PROMPTS: dict[Mode, tuple[str, ...]] = {"query": ("query",), "passage": ("passage", "document")}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings for computing a vector from a text."""

    pooling: Pooling = "mean"
    #: tokens of a text that the model sees, special tokens included
    tokens_max: int = TOKENS_DEFAULT
    lower_case: bool = False
    #: mode → prefix of its texts
    prompts: Mapping[Mode, str] | None = None
    #: length of a vector; 0 where no file gives it
    dimensions: int = 0


class ModelFolder:
    """A folder that the user named: it and each file in it may be links of the user."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """12 hex digits over all files read so far, with their names."""
        return self._digest.hexdigest()[:12]

    def find(self, *names: str) -> str:
        """Return the first of `names` that exists. Raises Misconfigured when none does."""
        for name in names:
            if (self.path / name).is_file():
                return name
        raise Misconfigured(
            f"{self.path} has no {names[0]}; embedding.model_path must name a folder with model.onnx and tokenizer.json."
        )

    def read(self, name: str, bytes_max: int) -> bytes:
        """Return a file's bytes. Raises Misconfigured if unreadable or above `bytes_max`."""
        path = self.path / name
        try:
            raw = files.read_plain(os.path.realpath(path), bytes_max + 1)
        except OSError as error:
            raise Misconfigured(f"Cannot read {path}: {error.strerror or error}.") from error
        if len(raw) > bytes_max:
            raise Misconfigured(
                f"{path} has more than {bytes_max >> 20} MB; such a model cannot be used here."
            )
        self._digest.update(f"{name}\0{len(raw)}\0".encode())
        self._digest.update(raw)
        return raw

    def recipe(self) -> Recipe:
        """Return the settings of the folder's files. Raises Misconfigured for unsupported ones."""
        sentence_config, sizes = self._settings("sentence_bert_config.json"), self._settings("config.json")
        words = self._settings("tokenizer_config.json")
        folder = self._pooling_folder()
        pooling = self._settings(f"{folder}/config.json") if folder else {}
        limits = (
            sentence_config.get("max_seq_length"),
            words.get("model_max_length"),
            sizes.get("max_position_embeddings"),
        )
        tokens = [int(limit) for limit in limits if isinstance(limit, int | float)]
        dimensions = pooling.get("word_embedding_dimension", sizes.get("hidden_size", 0))
        return Recipe(
            pooling=self._pooling(folder, pooling),
            tokens_max=max(TOKENS_MIN, min(*tokens, TOKENS_MAX)) if tokens else TOKENS_DEFAULT,
            lower_case=sentence_config.get("do_lower_case") is True,
            prompts=_prompts(self._settings("config_sentence_transformers.json")),
            dimensions=dimensions if isinstance(dimensions, int) else 0,
        )

    def _settings(self, name: str) -> dict[str, Any]:
        settings = self._json(name, {})
        if not isinstance(settings, dict):
            raise Misconfigured(f"{self.path / name} must hold settings, not a {type(settings).__name__}.")
        return settings

    def _json(self, name: str, missing: Any) -> Any:
        if not (self.path / name).is_file():
            return missing
        try:
            return orjson.loads(self.read(name, CONFIG_BYTES_MAX))
        except orjson.JSONDecodeError as error:
            raise Misconfigured(f"{self.path / name} is no JSON: {error}.") from error

    def _pooling_folder(self) -> str:
        """Return the folder of the pooling's settings; "" when the model has no pooling module."""
        modules = self._json("modules.json", [{"type": "Pooling", "path": "1_Pooling"}])
        folder = ""
        try:
            kinds = [(str(module["type"]).rpartition(".")[2], str(module["path"])) for module in modules]
        except (TypeError, KeyError) as error:
            raise Misconfigured(f"{self.path / 'modules.json'} is no list of modules.") from error
        for kind, path in kinds:
            if kind not in _MODULES:
                raise Misconfigured(
                    f"{self.path / 'modules.json'} has a module {kind!r}, which is not carried out here; models of "
                    f"{', '.join(_MODULES)} are."
                )
            if kind == "Pooling":
                folder = Path(path).name
        return folder

    def _pooling(self, folder: str, settings: Mapping[str, Any]) -> Pooling:
        mode = settings.get("pooling_mode")
        wanted = [key for key, on in settings.items() if key.startswith("pooling_mode_") and on is True]
        if isinstance(mode, str):
            wanted = [key for key, pooling in _POOLINGS.items() if pooling == mode] or [mode]
        if not wanted:
            return "mean"
        if len(wanted) > 1 or wanted[0] not in _POOLINGS:
            raise Misconfigured(
                f"{self.path / folder / 'config.json'} asks for the pooling {' and '.join(wanted)}; one of "
                f"{', '.join(_POOLINGS.values())} can be had."
            )
        return _POOLINGS[wanted[0]]


def _prompts(settings: Mapping[str, Any]) -> dict[Mode, str]:
    """Return mode → prefix of its texts."""
    prompts = settings.get("prompts")
    if not isinstance(prompts, dict):
        return {}
    usual = prompts.get(settings.get("default_prompt_name") or "", "")
    by_mode = {
        mode: next((prompts[name] for name in names if name in prompts), usual)
        for mode, names in _PROMPTS.items()
    }
    return {mode: prompt for mode, prompt in by_mode.items() if isinstance(prompt, str) and prompt}
