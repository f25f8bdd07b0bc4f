"""Publishing a project to Milvus by a job, and answers on a machine without its sources: as
commands.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

SOURCE = "def checkout(cart):\n    return sum(price(one) for one in cart)\n\n\ndef price(item):\n    return item.cents\n"


@pytest.fixture
def runtime():
    folder = tempfile.mkdtemp(prefix="cm-")
    yield Path(folder)
    shutil.rmtree(folder)


def run(command: list[str], folder: Path, runtime: Path, project: str = "shop", **variables: str) -> str:
    environment = os.environ | {
        "CORTEX_HOME": str(folder / "cache"),
        "XDG_RUNTIME_DIR": str(runtime),
        "CORTEX_MILVUS_URI": str(runtime / "index.db"),
        "CORTEX_MILVUS_PROJECT": "shop",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cortex", *command, "--project", str(folder / project)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_job_publishes_and_another_machine_answers_without_the_sources(tmp_path, runtime):
    job, server = tmp_path / "job", tmp_path / "server"
    for machine in (job, server):
        (machine / "shop").mkdir(parents=True)
    (job / "shop" / "cart.py").write_text(SOURCE)
    assert "as generation 1" in run(["index", "--to", "milvus"], job, runtime)
    variables = {"CORTEX_ENGINES_TEXT": "milvus", "CORTEX_ENGINES_VECTOR": "milvus"}
    try:
        assert "cart.py" in run(["search", "what an item costs"], server, runtime, **variables)
        assert "cart.py\n  5: " in run(["exact", "price"], server, runtime, **variables)
        assert "checkout" in run(["graph", "callers", "price"], server, runtime, **variables)
    finally:
        run(["down"], server, runtime, **variables)
    assert not list((server / "shop").iterdir())


def test_projects_of_one_place_are_asked_through_the_workers_of_one(tmp_path, runtime):
    sources = {"shop": SOURCE, "till": "def till(thing):\n    return thing.price\n"}
    variables = {"CORTEX_ENGINES_TEXT": "milvus", "CORTEX_ENGINES_VECTOR": "milvus"}
    variables["XDG_CONFIG_HOME"] = str(tmp_path / "settings")
    server, projects_file = tmp_path / "server", tmp_path / "settings" / "cortex" / "projects.yml"
    for name, source in sources.items():
        job = tmp_path / name
        (job / "shop").mkdir(parents=True)
        (job / "shop" / f"{name}.py").write_text(source)
        run(["index", "--to", "milvus"], job, runtime, CORTEX_MILVUS_PROJECT=name)
        (server / name).mkdir(parents=True)
    projects_file.parent.mkdir(parents=True)
    projects_file.write_text(f"projects: {{shop: {server / 'shop'}, till: {server / 'till'}}}\n")
    variables["CORTEX_MILVUS_PROJECT"] = ""  # each project has its folder's name
    try:
        printed = run(["search", "--projects", "*", "price of a thing"], server, runtime, **variables)
        assert "shop:shop.py" in printed
        assert "till:till.py" in printed
        printed = run(["exact", "--projects", "*", "price"], server, runtime, **variables)
        assert "shop:shop.py\n  5: " in printed
        assert "till:till.py:2" in printed
    finally:
        ended = [run(["down"], server, runtime, name, **variables) for name in sources]
    assert "are stopped" in ended[0]
    assert "No workers are running" in ended[1]
