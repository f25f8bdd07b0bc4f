"""How this installation was made, read off what the installers leave behind."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import msgspec

#: the distribution
DISTRIBUTION = "cortex-context-engine"


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
    try:
        found = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        told = msgspec.json.decode(found or "{}")
        editable = told.get("dir_info", {}).get("editable")
    except (importlib.metadata.PackageNotFoundError, msgspec.DecodeError, AttributeError):
        return ""
    url = str(told.get("url", ""))
    return url.removeprefix("file://") if editable and url.startswith("file://") else ""


def _is_cache(folder: Path) -> bool:
    """Whether uvx made the environment for one call."""
    return "uv" in folder.parts and any(part.startswith("archive-v") for part in folder.parts)
