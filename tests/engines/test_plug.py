"""An engine of another package: installed from a wheel, chosen by the person's own settings alone,
and served.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from cortex.settings import config as configuration
from cortex.settings.folders.home import user_config
from cortex.settings.plug import GROUP
from cortex.system.errors import Misconfigured

ROOT = Path(__file__).parents[2]

#: the module of the package: words of a chunk, without any feature of the built-in engine
MODULE = '''
"""An engine that finds whole words."""

from dataclasses import dataclass

import numpy as np
import orjson

from cortex.engines.chunks.handlers import ANSWERS, chunk_handlers
from cortex.generation.current import prune_folder
from cortex.settings.plug import Plug
from ipc.messages import ExactHits, ExactSearch


@dataclass(frozen=True)
class Settings:
    ending: str = "!"


class TinyEngine:
    answers = (ExactSearch, *ANSWERS)
    lacks = frozenset({"phrase", "wildcard", "fuzzy", "expression"})

    def __init__(self, config):
        self._folder, self._ending = config.index_dir / "tiny", config.plug_settings.ending
        self._token, self._words = "", {}

    def resume(self, token):
        self._token, self._words = token, self._read(token)

    def _read(self, token):
        return orjson.loads((self._folder / token).read_bytes()) if token else {}

    def files(self, token):
        return (self._folder / token,) if token else ()

    def build(self, change):
        if change.added or change.deleted:
            for key in change.deleted:
                self._words.pop(str(key), None)
            self._words |= {str(row.key): row.chunk["text"].split() for row in change.added}
            self._token = f"{change.number}.json"
            self._folder.mkdir(exist_ok=True)
            (self._folder / self._token).write_bytes(orjson.dumps(self._words))
        return self._token

    def upkeep(self, published):
        return self._token

    def open(self, token, published):
        rows, table = published.rows, self._read(token)

        def search(request):
            word = request.query + self._ending
            keys = np.array([int(key) for key, words in table.items() if word in words], "<u8")
            matches = rows.locate(keys)
            return ExactHits(
                published.generation.number,
                hits=rows.hits(matches),
                scores=(1.0,) * len(matches),
                highlights=((),) * len(matches),
                highlight_lines=((),) * len(matches),
                total_found=len(matches),
                chunks=tuple(rows.chunk(ordinal) for ordinal in matches),
            )

        return {ExactSearch: search, **chunk_handlers(rows)}

    def prune(self, tokens, older_than_s=60.0):
        return prune_folder(self._folder, tokens, older_than_s)

    def status(self, token, generation):
        return {"tiny": token}

    def release(self): ...

    def close(self): ...


PLUG = Plug(name="tiny", engine="tiny_engine:TinyEngine", section=Settings)
'''


def make_wheel(folder: Path) -> Path:
    """Write the wheel of a package with an engine; return its path."""
    info = "tiny_engine-1.dist-info"
    names = {
        "tiny_engine.py": MODULE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-engine\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[{GROUP}]\ntiny = tiny_engine:PLUG\n",
        f"{info}/RECORD": "".join(f"{name},,\n" for name in ("tiny_engine.py", f"{info}/RECORD")),
    }
    wheel = folder / "tiny_engine-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in names.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a virtual environment with this Cortex and the package."""
    folder = tmp_path_factory.mktemp("plug")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "-q",
            "--no-index",
            "--no-deps",
            make_wheel(folder),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [packages] = (folder / "venv" / "lib").glob("*/site-packages")
    (packages / "cortex.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    return python


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "src" / "hats.py").write_text('GREETING = """\nhello! you\n"""\n')
    (folder / "src" / "shoes.py").write_text('GREETING = """\nhello? you\n"""\n')
    return folder


def environment(tmp_path, **variables):
    passed = {name: value for name, value in os.environ.items() if not name.startswith(("CORTEX", "PYTHON"))}
    return passed | {"HOME": str(tmp_path), "CORTEX_HOME": str(tmp_path / "cache")} | variables


@pytest.mark.e2e
@pytest.mark.timeout(400)
def test_an_engine_from_a_wheel_is_served(python, project, tmp_path):
    variables = environment(tmp_path, CORTEX_ENGINES_TEXT="tiny")

    def run(*words, **more):
        command = [python, "-P", "-m", "cortex", *words]
        done = subprocess.run(
            command,
            cwd=project,
            env=variables | more,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        return done.stdout or done.stderr

    def files(**more):
        for _ in range(20):  # until the index is there, or there anew
            answer = run("exact", "hello", "--detail", "full", "--json", **more)
            if answer.startswith("{") and (results := json.loads(answer)["results"]):
                break
        else:
            raise AssertionError(answer)
        run("down")
        return sorted({result["chunk"]["metadata"]["file_path"] for result in results})

    try:
        assert files() == ["src/hats.py"]  # the built-in engine finds both
        assert files(CORTEX_TINY_ENDING="?") == ["src/shoes.py"]
        assert files(CORTEX_ENGINES_TEXT="local") == ["src/hats.py", "src/shoes.py"]
        assert "Unknown setting CORTEX_TINY_END " in run("exact", "hello", CORTEX_TINY_END="1")
    finally:
        run("down")


def test_an_engine_that_is_not_installed_is_refused_with_those_that_are(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_ENGINES_TEXT", "nowhere")
    with pytest.raises(Misconfigured, match=r"'nowhere', which no installed package brings; .*local"):
        configuration.load(tmp_path)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The package on the path of this process."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with zipfile.ZipFile(make_wheel(tmp_path)) as archive:
        archive.extractall(tmp_path / "packages")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, "tiny_engine", raising=False)


def test_no_file_of_a_project_runs_code_of_a_package(project, tiny):
    (project / ".cortex").mkdir()
    (project / ".cortex" / "config.yml").write_text("engines: {text: tiny}\ntiny: {ending: x}\n")
    loaded = configuration.load(project)
    assert (loaded.plug, loaded.ignored) == (None, ("engines.text", "tiny.ending"))
    assert "tiny_engine" not in sys.modules


def test_a_person_may_keep_the_settings_of_an_engine_that_is_not_in_use(project, tiny, monkeypatch):
    user_config().parent.mkdir(parents=True, exist_ok=True)
    user_config().write_text("tiny: {ending: x}\n")
    before = configuration.load(project)
    assert before.plug is None
    assert "tiny_engine" not in sys.modules
    monkeypatch.setenv("CORTEX_ENGINES_TEXT", "tiny")
    loaded = configuration.load(project)
    assert (loaded.plug.name, loaded.plug_settings.ending) == ("tiny", "x")
    assert loaded.hash() != before.hash()
    monkeypatch.setenv("CORTEX_TINY_ENDING", "y")
    assert configuration.load(project).plug_settings.ending == "y"
    monkeypatch.setenv("CORTEX_ENGINES_VECTOR", "milvus")
    with pytest.raises(Misconfigured, match="one generation is kept in one place"):
        configuration.load(project)


def test_entry_points_are_read_only_for_an_engine_that_is_not_built_in(project, monkeypatch):
    def refuse(**_):
        raise AssertionError("read")

    monkeypatch.setattr("importlib.metadata.entry_points", refuse)
    assert configuration.load(project).plug is None


def test_our_own_wheel_brings_engines_without_their_libraries(tmp_path):
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    program = (
        "import importlib, json, sys\n"
        "names = {name: getattr(importlib.import_module(value.partition(':')[0]), value.partition(':')[2]).name"
        f" for name, value in {points!r}.items()}}\n"
        "print(json.dumps([names, sorted({'pymilvus', 'grpc', 'numpy', 'tantivy'} & set(sys.modules))]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "milvus" in points
    assert json.loads(done.stdout) == [{name: name for name in points}, []]
