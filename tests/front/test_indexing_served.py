"""The wait of `cortex index`: for everything indexed, as it is by the end of the wait."""

from __future__ import annotations

from pathlib import Path

from cortex.front.cli.running.serving import wait_served
from cortex.generation.manifest import Manifest
from cortex.indexer.run import index
from cortex.indexer.store import manifest as manifests
from cortex.processes import attach
from cortex.settings.config import Config


def test_a_file_that_is_saved_while_its_first_text_waits_to_be_served_is_waited_for(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def add(): pass\n")
    config = Config(root=root)
    index(config)
    first = manifests.load(config.manifest).chunk_files
    loaded: list[Manifest] = []

    def load(path: Path) -> Manifest:
        loaded.append(manifests.load(path))
        if len(loaded) == 1:
            (root / "cart.py").write_text("def add(): pass\ndef remove(): pass\n")
            index(config)
        return loaded[-1]

    try:
        served = wait_served(config, load, lambda *_, **_how: None)
    finally:
        attach.stop(config)
    last = manifests.load(config.manifest).chunk_files
    assert first != last
    assert {name: (ref.size, ref.mtime_ns) for name, ref in served.files.items()} == last
    assert len(loaded) < 10  # read only when it has changed
