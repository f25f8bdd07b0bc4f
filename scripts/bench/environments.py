"""Environments of the benchmarks' tools: Python environments and npm folders from exact lists.

Each is made once, outside the project, and may be deleted.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

#: npm's name for Python's name of the processor
_PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


def python_with(name: str, packages: Sequence[str]) -> Path:
    """Return the interpreter of an environment with these packages, in pip's notation."""

    def make(folder: Path) -> None:
        venv.create(folder, clear=True, with_pip=True)
        pip = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "--quiet"]
        subprocess.run([*pip, "install", *packages], check=True)

    return _installed_folder(name, packages, make) / "bin" / "python"


def node_with(name: str, packages: Sequence[str], version: str) -> tuple[Path, Path]:
    """Return (Node of this version, its folder of modules) with these packages, in npm's notation.

    No script of theirs runs during installation.
    """
    system, machine = platform.system().lower(), platform.machine().lower()
    node = f"node-{system}-{_PROCESSORS.get(machine, machine)}"
    wanted = [f"{node}@{version}", *packages]

    def make(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        subprocess.run([*npm, "--save-exact", *wanted], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    modules = _installed_folder(name, wanted, make) / "node_modules"
    return modules / node / "bin" / "node", modules


def plot(name: str, results: Sequence[Path]) -> None:
    """Draw docs/<name>.svg from saved results."""
    bench = Path(__file__).parent
    picture = bench.parents[1] / "docs" / f"{name}.svg"
    python = python_with("load", lines_of(bench / "load.lock"))
    subprocess.run([python, bench / "peers" / "plot.py", name, picture, *results], check=True)
    print(f"written to {picture}")


def lines_of(lock: Path) -> list[str]:
    """Return the packages of a list, without its comments."""
    return [line for line in lock.read_text().splitlines() if line and not line.startswith("#")]


def _installed_folder(name: str, packages: Sequence[str], make: Callable[[Path], None]) -> Path:
    """Return the folder, made anew if its list has changed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "cortex-bench" / name
    listed, stamp = "\n".join(packages), folder / "installed"
    if not stamp.exists() or stamp.read_text() != listed:
        print(f"installing {name} into {folder}", file=sys.stderr)
        make(folder)
        stamp.write_text(listed)
    return folder
