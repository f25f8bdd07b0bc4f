"""Uses while the text of a change is served, and the graph is that of before it."""

import asyncio
import contextlib
import os
import shutil
import time

from cortex.ask.references.uses import UsesQuestion, uses
from cortex.indexer.run import index
from cortex.publish.builder import Builder

CALLS = "from store import save\n\n\ndef run():\n    save(1)\n    other(2)\n    save(3)\n\n\ndef other(n):\n    return n\n"


def ask(served):
    answer = asyncio.run(uses(served.context(), UsesQuestion("save")))
    (block,) = answer["sites"]
    return [row["text"] for file in block["files"] for row in file["sites"]], answer["notes"]


def publish(served, root, *, with_graph):
    """Publish the files of `root`, with the graph of before the change unless `with_graph`."""
    graph, before = served.config.graph_dir, root.with_name("graph_before")
    shutil.copytree(graph, before)
    index(served.config)
    if not with_graph:
        shutil.rmtree(graph)
        shutil.copytree(before, graph)
    with contextlib.closing(Builder(served.config)) as builder:
        while builder.refresh() is not None:
            pass
    shutil.rmtree(before)
    for worker in served.workers.values():
        worker.reload()
    now = time.time() + (1 if not with_graph else -900)  # the graph is to be published, or was
    os.utime(graph, (now, now))


def test_a_place_that_moved_is_no_use_until_names_are_linked(tmp_path, serve):
    root = tmp_path / "project"
    root.mkdir()
    (root / "store.py").write_text("def save(n):\n    return n\n")
    (root / "run.py").write_text(CALLS)
    served = serve(root)
    assert ask(served) == (["save(1)", "save(3)"], [])
    (root / "run.py").write_text(CALLS.replace("def run():\n", "def run():\n    other(0)\n"))
    publish(served, root, with_graph=False)
    assert ask(served) == ([], ["2 places moved: names are being linked; ask again."])
    (root / "run.py").write_text(CALLS.replace("def run():\n", "def run():\n    other(0)\n    other(1)\n"))
    publish(served, root, with_graph=True)
    assert ask(served) == (["save(1)", "save(3)"], [])


def test_a_call_by_another_name_stays_while_names_are_linked(tmp_path, serve):
    (tmp_path / "store.py").write_text("def save(n):\n    return n\n")
    (tmp_path / "run.py").write_text("from store import save as keep\n\n\ndef run():\n    keep(1)\n")
    served = serve(tmp_path)
    later = time.time() + 1
    os.utime(served.config.graph_dir, (later, later))
    assert ask(served) == (["keep(1)"], [])
