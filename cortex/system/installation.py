"""How this installation was made, read off what the installers leave behind, and which of its
extras are there.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cortex.system import path_names

#: the distribution
DISTRIBUTION = "cortex-context-engine"
#: extra → the modules that it brings: what is heavy (ast-grep takes 46 MB of disk, the SQL grammar
#: 14) and that most projects do well without
EXTRAS: dict[str, tuple[str, ...]] = {
    "documents": ("docx", "openpyxl", "pptx", "pypdf"),
    "milvus": ("milvus_lite", "pymilvus"),
    "onnx": ("onnxruntime", "tokenizers"),
    "patterns": ("ast_grep_py",),
    "postgresql": ("psycopg",),
    "private": ("cryptography", "keyring"),
    "sql": ("tree_sitter_sql",),
}

#: the extras that are grammars: files are cut otherwise without them
GRAMMARS = ("sql",)


@functools.cache
def is_installed(module: str) -> bool:
    """Whether it could be imported; it is not."""
    return importlib.util.find_spec(module) is not None


def missing_extras(among: Iterable[str] = tuple(EXTRAS)) -> list[str]:
    """The extras of which a module is not there."""
    return [name for name in among if not all(map(is_installed, EXTRAS[name]))]


def extra_of(module: str) -> str:
    """The extra that brings a module, "" for one that is always there."""
    return next((name for name, modules in EXTRAS.items() if module in modules), "")


def how_to_add(extras: str, prefix: str = "") -> str:
    """The command that adds extras (`sql`, or several with commas between them) to what is here;
    `prefix` as for `how_to_upgrade`. Installers that make an environment anew are told those that
    are there, too.
    """
    folder = Path(prefix or sys.prefix)
    installed = set(EXTRAS) - set(missing_extras())
    wanted = f"'{DISTRIBUTION}[{','.join(sorted({*extras.split(','), *installed}))}]'"
    if (folder / "uv-receipt.toml").is_file():
        return f"uv tool install {wanted}"
    if (folder / "pipx_metadata.json").is_file():
        return f"pipx install --force {wanted}"
    if _is_cache(folder):
        return f"uvx --from {wanted} cortex"
    return f"pip install '{DISTRIBUTION}[{extras}]'"


def how_to_upgrade(prefix: str = "") -> str:
    """The command. `prefix`: the environment's folder, this one's where it is empty."""
    folder = Path(prefix or sys.prefix)
    if (folder / "uv-receipt.toml").is_file():
        return f"uv tool upgrade {DISTRIBUTION}"
    if (folder / "pipx_metadata.json").is_file():
        return f"pipx upgrade {DISTRIBUTION}"
    if source := _editable():
        return f"git -C {source} pull && {source}/scripts/setup"
    if _is_cache(folder):
        return f"uvx takes the newest by itself: uvx --refresh {DISTRIBUTION}"
    return f"{folder / 'bin' / 'python'} -m pip install --upgrade {DISTRIBUTION}"


def _editable() -> str:
    """The clone that an editable installation runs from, else ""."""
    import importlib.metadata  # 1.3 MB, with the parser of mail that it imports

    try:
        record = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        origin = msgspec.json.decode(record or "{}")
        editable = origin.get("dir_info", {}).get("editable")
    except (importlib.metadata.PackageNotFoundError, msgspec.DecodeError, AttributeError):
        return ""
    url = str(origin.get("url", ""))
    return path_names.path_of(url) if editable else ""


def _is_cache(folder: Path) -> bool:
    """Whether uvx made the environment for one call."""
    return "uv" in folder.parts and any(component.startswith("archive-v") for component in folder.parts)
