"""An indexer that has come to rest."""

import threading

from cortex.indexer import run, watch
from cortex.settings.config import Config
from cortex.settings.home import open_home
from tests.waiting import until


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
