"""A file of milvus-lite that another process holds: a caller that waits learns the process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cortex.engines.milvus.place import Milvus, milvus_place, say_held
from cortex.engines.milvus.publishing import lite
from cortex.settings.config import Config
from cortex.system import hosts
from cortex.system.errors import Unavailable
from tests.milvus_lite import in_milvus
from tests.wait_until import until
from workers.milvus import MilvusWorker

pytest.importorskip("milvus_lite")
pytestmark = pytest.mark.skipif(not hosts.LINUX, reason="only Linux tells the holder of a lock")

#: a program of somebody else that opens the file
HOLDER = "import sys; from milvus_lite.db import MilvusLite; d = MilvusLite(sys.argv[1]); print(1, flush=True); sys.stdin.read()"


@pytest.fixture
def config(tmp_path):
    return Config(tmp_path, **in_milvus(Milvus(uri=str(tmp_path / "held.db"))))


@pytest.fixture
def holder(config):
    command = [sys.executable, "-c", HOLDER, config.plug_settings.uri]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.stdin.close()


def test_the_worker_names_the_holder_and_serves_when_it_has_ended(config, holder):
    worker = MilvusWorker(config, milvus_place(config))
    worker.start()
    try:
        fault = until(lambda: worker.status().info["fault"], "a fault")
        assert fault.startswith(
            f"{config.plug_settings.uri} is held by process {holder.pid} ({sys.executable} "
        )
        assert fault.endswith("end it, or name another file in milvus.uri.")
        holder.stdin.close()
        until(lambda: worker.status().info["state"] == "serves the file", "the file served")
        assert worker.status().info["fault"] == ""
        assert say_held(milvus_place(config)) == ""
    finally:
        worker.close()


def test_a_command_that_waits_in_vain_names_the_holder(config, holder, monkeypatch):
    monkeypatch.setattr(lite, "START_S", 1.0)
    with pytest.raises(Unavailable, match=f"held by process {holder.pid} "), lite.file_served(config):
        raise AssertionError
    assert holder.poll() is None


def test_nobody_is_named_for_a_free_file_and_for_ones_own(config, tmp_path):
    assert hosts.lock_holders(tmp_path / "missing") == []
    assert say_held(milvus_place(config)) == ""
    (tmp_path / "held.db").mkdir()
    with (tmp_path / "held.db" / "LOCK").open("w") as file:
        hosts.lock(file.fileno())
        assert [pid for pid, _ in hosts.lock_holders(file.name)] == [os.getpid()]
        assert say_held(milvus_place(config)) == ""
