"""Disk space of an installation, by package: without extras, bytecode, pip and setuptools.

    python scripts/size.py                 this environment's distribution and its requirements
    python scripts/size.py --fresh WHEEL   a new environment with the wheel, versions pinned

Ends with 1 if the wheel or the installation is larger than its bound. With --fresh, the wheel's
`cortex version` must answer there, too. CI's release workflow runs it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
DISTRIBUTION = "cortex-context-engine"
#: bytes of the wheel, and of an installation without extras. It includes 27 MB of no use that
#: cannot be left out alone: half of zstandard (12, a second back end that never loads), and
#: cryptography (15, which the MCP SDK needs for OAuth).
WHEEL_BYTES_MAX, INSTALLED_BYTES_MAX = 15_000_000, 250_000_000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fresh", type=Path, metavar="WHEEL", help="install it into a new environment first")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = _fresh(options.fresh.resolve()) if options.fresh else dict(package_sizes())
    if options.json:
        print(json.dumps(sizes))
        return 0
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        print(f"{size / 1e6:8.2f} MB  {name}")
    total = sum(sizes.values())
    print(f"{total / 1e6:8.2f} MB  in {len(sizes)} packages (bound {INSTALLED_BYTES_MAX / 1e6:.0f})")
    wheel = options.fresh.stat().st_size if options.fresh else 0
    if wheel:
        print(f"{wheel / 1e6:8.2f} MB  {options.fresh.name} (bound {WHEEL_BYTES_MAX / 1e6:.0f})")
    return int(total > INSTALLED_BYTES_MAX or wheel > WHEEL_BYTES_MAX)


def package_sizes() -> Iterator[tuple[str, int]]:
    """Yield (package, bytes of its files) for each requirement of this environment's
    distribution.
    """
    for name in _required_packages(DISTRIBUTION, "", set()):
        distribution = importlib.metadata.distribution(name)
        places = [Path(str(file.locate())) for file in distribution.files or () if file.suffix != ".pyc"]
        if name == DISTRIBUTION and not any(
            place.parts[-2:] == ("cortex", "__init__.py") for place in places
        ):
            places = [ROOT / path for path in _tracked()]  # an editable installation
        yield name, sum(os.stat(place).st_size for place in places if place.is_file())


def _required_packages(name: str, extra: str, visited: set[tuple[str, str]]) -> list[str]:
    name = canonicalize_name(name)
    if (name, extra) in visited:
        return []
    is_new = name not in {visited_name for visited_name, _ in visited}
    visited.add((name, extra))
    out = [name] if is_new else []
    for requirement in map(Requirement, importlib.metadata.requires(name) or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for wanted in ("", *requirement.extras):
                out += _required_packages(requirement.name, wanted, visited)
    return out


def _tracked() -> list[str]:
    command = ["git", "ls-files", "cortex", "ipc", "workers"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def _fresh(wheel: Path) -> dict[str, int]:
    """Return the sizes in a new environment that holds the wheel and its requirements only."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        constraint = ROOT / "scripts" / "requirements.lock"
        install = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--constraint"]
        subprocess.run([*install, constraint, wheel, "packaging"], check=True, cwd=folder)
        subprocess.run([Path(folder) / "bin" / "cortex", "version"], check=True, cwd=folder)
        done = subprocess.run(
            [python, "-P", Path(__file__).resolve(), "--json"],
            check=True,
            cwd=folder,
            capture_output=True,
            text=True,
        )
    sizes: dict[str, int] = json.loads(done.stdout)
    return sizes


if __name__ == "__main__":
    sys.exit(main())
