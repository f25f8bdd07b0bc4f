"""The indexer's pool of processes: it writes the same files, and a file that ends a child costs
only itself.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys

import psutil
import pytest

from cortex.embedders.static import open_static
from cortex.generation.manifest import Manifest
from cortex.indexer import pool, run
from cortex.indexer.run import Indexer, index
from cortex.indexer.scan import Scanner
from cortex.indexer.store.limits import Limits
from cortex.settings.config import Config, Embedding
from cortex.system.errors import Unavailable
from tests.indexer.indexed_tree import COUNT, FILES, POOLED, QUICK_COUNT, chunks
from tests.wait_until import until


def test_a_pool_of_processes_writes_the_same(project):
    index(project, limits=Limits(shard_files=4))
    alone = chunks(project)
    fresh = Config(root=project.root.parent / "fresh")
    shutil.copytree(FILES, fresh.root)
    report = index(fresh, limits=POOLED)
    assert report.indexed == COUNT
    assert chunks(fresh) == alone


def test_an_error_in_a_child_is_raised_here(quick):
    run.open_home(quick)
    nobody = Config(
        root=quick.root, embedding=Embedding(provider="http", endpoint="http://127.0.0.1:9/embed")
    )
    indexer = Indexer(nobody, open_static(), limits=POOLED)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        indexer.run()


def test_each_round_of_the_graph_is_the_work_of_new_children(quick, tmp_path, monkeypatch):
    started = tmp_path / "started"
    command = (sys.executable, "-P", "-c", WRITING, str(started))
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (command,))
    limits = Limits(shard_files=4, pool_files=1, children=2, first_files=3, resolve_files=1)
    index(quick, limits=limits)
    children = [int(line) for line in started.read_text().splitlines()]
    assert len(children) == 6  # two for the chunks, and for each round of the graph
    assert not any(psutil.pid_exists(child) for child in children)


#: a child that records its start
WRITING = """
import os, sys
from cortex.indexer.children import serve

def record():
    with open(sys.argv[1], "a") as started:
        started.write(f"{os.getpid()}\\n")

if sys.platform == "linux":
    os.register_at_fork(after_in_child=record)
else:
    record()
serve()
"""

#: a process that ends at its start if it is the first
DYING = """
import os, sys
from pathlib import Path
from cortex.indexer.children import serve

with Path(sys.argv[1]).open("a") as started:
    started.write(f"{os.getpid()}\\n")
try:
    Path(sys.argv[2]).touch(exist_ok=False)
except FileExistsError:
    serve()
"""


def test_a_child_that_dies_is_replaced(quick, tmp_path):
    run.open_home(quick)
    (quick.chunks_dir / ".tmp").mkdir(parents=True)
    files = Scanner(quick).walk().files
    tasks = run.make_plan(Manifest(), files, [], 4, stale=set(), force=False).tasks
    command = [sys.executable, "-P", "-c", DYING, str(tmp_path / "started"), str(tmp_path / "died")]
    settings = Indexer(quick, open_static()).settings
    children = pool.Pool(settings, quick, 2, command)
    try:
        built = list(children.run(list(tasks.values())))
    finally:
        children.close()
    assert sum(len(shard.entries) for shard in built) == QUICK_COUNT
    started = [int(line) for line in (tmp_path / "started").read_text().splitlines()]
    assert len(started) == (2 if sys.platform == "linux" else 3)  # one forks all children
    assert not any(psutil.pid_exists(child) for child in started)


@pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux alone")
def test_a_killed_nursery_is_replaced_and_its_children_work_on(quick):
    run.open_home(quick)
    (quick.chunks_dir / ".tmp").mkdir(parents=True)
    files = Scanner(quick).walk().files
    tasks = list(run.make_plan(Manifest(), files, [], 4, stale=set(), force=False).tasks.values())
    others = set(psutil.Process().children(recursive=True))
    children = pool.Pool(Indexer(quick, open_static()).settings, quick, 2)
    try:
        built = []
        for number, shard in enumerate(children.run(tasks)):
            built.append(shard)
            for forked in {*psutil.Process().children(recursive=True)} - others:
                if (forked.ppid() == os.getpid(), number) in ((True, 0), (False, 1)):
                    forked.kill()  # first the nursery, then children of the next one
        orphans = [child.pid for child in children._children]
    finally:
        children.close()
    assert sum(len(shard.entries) for shard in built) == QUICK_COUNT
    # their output ends a moment before they do
    until(lambda: not any(map(_runs, orphans)), "the end of the orphans")


def _runs(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


#: a child that a signal ends over one file: with its parser, or however it is read
STRUCK = """
import os, signal, sys
from cortex.indexer.store import shards
from cortex.indexer.children import serve

path, number, always, log = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "always", sys.argv[4]
cut = shards.cut

def struck(source, *rest, plain=False):
    if source.path == path and (always or not plain):
        with open(log, "a") as ended:
            ended.write("x")
        os.kill(os.getpid(), number)
    return cut(source, *rest, plain=plain)

shards.cut = struck
serve()
"""


@pytest.mark.parametrize(
    "case", [(signal.SIGSEGV, "parser", 1), (signal.SIGKILL, "parser", 2), (signal.SIGABRT, "always", 2)]
)
def test_a_file_that_ends_a_child_costs_that_file_alone_until_it_changes(quick, tmp_path, monkeypatch, case):
    number, how, ends = case
    path, log = "shop/store.go", tmp_path / "ends"
    index(quick, limits=Limits(shard_files=4))
    before = chunks(quick)
    shutil.rmtree(quick.home)
    command = (sys.executable, "-P", "-c", STRUCK, path, str(int(number)), how, str(log))
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (command,))
    report = index(quick, limits=POOLED)
    reasons = [(skip.path, skip.reason) for skip in (*report.remarks, *report.skipped) if skip.path == path]
    if how == "always":
        assert reasons == [(path, "ended the process that read it")]
    else:
        assert (path, "cut without a parser, which ended the process") in reasons
    assert len(log.read_text()) == ends
    others = {chunk_id: body for chunk_id, body in before.items() if body["metadata"]["file_path"] != path}
    after = chunks(quick)
    assert {
        chunk_id: body for chunk_id, body in after.items() if body["metadata"]["file_path"] != path
    } == others
    assert (path in {body["metadata"]["file_path"] for body in after.values()}) == (how == "parser")
    assert index(quick, limits=POOLED).indexed == 0
    assert len(log.read_text()) == ends
    (quick.root / path).write_text("package shop\n\nfunc Other() {}\n")
    monkeypatch.undo()
    report = index(quick)
    assert (report.indexed, len(log.read_text())) == (1, ends)
    assert path not in {skip.path for skip in (*report.remarks, *report.skipped)}


HUNGRY = """
import sys
from cortex.indexer import children
from cortex.indexer.store import shards

path, what = sys.argv[1:]
cut = shards.cut

def greedy(source, *rest, plain=False):
    if source.path == path and not plain:
        held = bytearray(children.CHILD_BYTES_MAX) if what == "memory" else None
        while what == "time":
            pass
    return cut(source, *rest, plain=plain)

shards.cut = greedy
children.FILE_S = 1
children.serve()
"""


@pytest.mark.parametrize("what", ["memory", "time"])
def test_a_file_that_takes_gigabytes_or_minutes_costs_that_file_alone(quick, monkeypatch, what):
    path = "shop/store.go"
    command = (sys.executable, "-P", "-c", HUNGRY, path, what)
    monkeypatch.setattr(pool.Pool.__init__, "__defaults__", (command,))
    report = index(quick, limits=POOLED)
    assert (path, "cut without a parser, which ended the process") in {
        (remark.path, remark.reason) for remark in report.remarks
    }
    assert len({body["metadata"]["file_path"] for body in chunks(quick).values()}) == QUICK_COUNT
