"""A program that fetches the libraries of the page and its tests: files, licences and hashes.

`scripts/vendor_page.py` fetches the libraries in its table by npm, and writes files and manifests;
`--check` compares the files with the manifests, and fetches nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: folders of the page's libraries, and of libraries for its tests alone
PAGE, TESTS = ROOT / "cortex/front/http/page/vendor", ROOT / "tests/front/http/vendor"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Library:
    """An npm package: its files and their paths here. `licence` is the name of the licence file in
    it.
    """

    name: str
    version: str
    spdx: str
    licence: str
    files: tuple[str, ...]
    folder: Path = PAGE


LIBRARIES = (
    Library("cytoscape", "3.34.4", "MIT", "LICENSE", ("dist/cytoscape.esm.min.mjs",)),
    Library("uplot", "1.6.32", "MIT", "LICENSE", ("dist/uPlot.esm.js", "dist/uPlot.min.css")),
    Library("axe-core", "4.14.1", "MPL-2.0", "LICENSE", ("axe.min.js",), TESTS),
)


def fetch(library: Library) -> dict[str, object]:
    """Write the library's files; return its row of the manifest."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{library.name}@{library.version}"
        subprocess.run(["npm", "pack", "--silent", wanted], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        [archive] = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as packed:
            contents = {Path(name).name: _read_member(packed, name) for name in library.files}
            contents[f"{library.name}.LICENSE"] = _read_member(packed, library.licence)
    library.folder.mkdir(parents=True, exist_ok=True)
    for name, raw in contents.items():
        (library.folder / name).write_bytes(raw)
    hashes = {name: hashlib.sha256(raw).hexdigest() for name, raw in contents.items()}
    return {
        "name": library.name,
        "version": library.version,
        "licence": library.spdx,
        "sha256": hashes,
    }


def _read_member(packed: tarfile.TarFile, name: str) -> bytes:
    file = packed.extractfile(f"package/{name}")
    assert file is not None, f"{name} is not in the package"
    return file.read()


def faults(folder: Path) -> list[str]:
    """Return the differences between `folder` and its manifest, one sentence each."""
    rows = json.loads((folder / MANIFEST).read_bytes())
    expected = {name: digest for row in rows for name, digest in row["sha256"].items()}
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    wrong = [f"{folder / name} is in no manifest" for name in sorted(present - expected.keys())]
    wrong += [f"{folder / name} is missing" for name in sorted(expected.keys() - present)]
    for name in sorted(expected.keys() & present):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected[name]:
            wrong.append(f"{folder / name} does not have the hash in its manifest")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="compare files with the manifests, fetch nothing"
    )
    folders = dict.fromkeys(library.folder for library in LIBRARIES)
    if not parser.parse_args().check:
        for folder in folders:
            rows = [fetch(library) for library in LIBRARIES if library.folder == folder]
            (folder / MANIFEST).write_text(json.dumps(rows, indent=2) + "\n")
    wrong = [fault for folder in folders for fault in faults(folder)]
    print("\n".join(wrong) or "Every vendored file matches its manifest.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
