"""The manifest on disk: reading and writing it, and the recipe that its entries depend on."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cortex import __version__
from cortex.generation.damage import UNREADABLE
from cortex.generation.manifest import MANIFEST_VERSION, Manifest
from cortex.indexer.chunkers import CHUNKERS_VERSION
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.installation import GRAMMARS, missing_extras

#: largest manifest, in bytes: some 300 for each file, and at most FILES_MAX of them
BYTES_MAX = 512 << 20


def name_of(ids: Iterable[str]) -> str:
    """Return a digest of the ids of a file's chunks, in their order."""
    return hashlib.blake2b("\n".join(ids).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def recipe(config: Config, model: str) -> str:
    """Return all that chunks depend on besides their file: its change cuts all files again."""
    missing = "".join(f" without {extra}" for extra in missing_extras(GRAMMARS))
    return f"{MANIFEST_VERSION}.{CHUNKERS_VERSION} {config.indexing.chunk_tokens} {model} {config.chunks_dir}{missing}"


def load(path: Path) -> Manifest:
    """Return the manifest; if missing, damaged or of another version an empty one: all is read."""
    try:
        manifest = msgspec.json.decode(files.read_ours(path, BYTES_MAX), type=Manifest)
    except (OSError, *UNREADABLE):
        return Manifest()
    return manifest if manifest.version == MANIFEST_VERSION else Manifest()


def save(path: Path, manifest: Manifest) -> None:
    """Write the manifest by one rename, so that a reader sees the old or the new one."""
    manifest.generator = f"cortex {__version__}"
    files.replace(path, msgspec.json.encode(manifest))
