"""An idle indexer."""

import subprocess
import sys
import threading

from cortex.indexer import run, watch
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home
from tests.wait_until import until


def test_an_indexer_that_found_nothing_to_do_gives_its_memory_back(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text("def first():\n    return 1\n")
    config = Config(root=tmp_path)
    open_home(config)
    run.index(config)
    forgotten, stop = threading.Event(), threading.Event()
    monkeypatch.setattr(run.Indexer, "forget", lambda _self: forgotten.set())
    pace = watch.Pace(rest_s=0.0, heartbeat_s=0.02)
    thread = threading.Thread(target=watch.watch, args=(config, stop, pace))
    thread.start()
    try:
        until(forgotten.is_set)
    finally:
        stop.set()
        thread.join()


def test_who_indexes_for_the_built_in_embedder_opens_neither_its_table_nor_numpy(tmp_path):
    (tmp_path / "a.py").write_text("def first():\n    return 1\n")
    script = (
        "import sys\nfrom pathlib import Path\nfrom cortex.indexer import run, watch\n"
        "from cortex.settings.config import Config\nfrom cortex.settings.folders.home import open_home\n"
        f"config = Config(root=Path({str(tmp_path)!r}))\nopen_home(config)\nprint(run.index(config).files)\n"
        "print({'numpy', 'cortex.embedders.static'} & set(sys.modules))"
    )
    completed = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert completed.stdout.split("\n")[:2] == ["1", "set()"]
