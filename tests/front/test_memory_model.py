"""`cortex memory model`: a model from folders and wheels, tried before it is used."""

import os
import shutil
import subprocess
import sys
import zipfile

import orjson
import pytest

from cortex.embedders.model_files import collect
from cortex.settings.data import MODEL, DataFolder
from cortex.system.errors import Misconfigured
from tests.embedders.conftest import models  # noqa: F401 - a fixture
from tests.left_processes import processes_of


@pytest.fixture
def folder(tmp_path, models):  # noqa: F811
    return models.write(tmp_path / "words")


@pytest.fixture
def cortex(tmp_path):
    """Run a command of memory on the data folder of this test."""
    environment = os.environ | {"CORTEX_HOME": str(tmp_path / "home"), "HOME": str(tmp_path / "user")}
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)

    def run(*words):
        command = [
            sys.executable,
            "-m",
            "cortex",
            "memory",
            *map(str, words),
            "--data-dir",
            str(tmp_path / "data"),
        ]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=100, check=False, cwd=shop
        )

    yield run
    if processes_of(tmp_path / "data"):
        run("down")


def wheel(path, folder, prefix="package/model/"):
    """Write a wheel with the files of a folder."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, f"{prefix}{file.relative_to(folder)}")
    return path


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_installed_model_embeds_the_notes_of_memory_and_can_be_removed(cortex, folder, tmp_path):
    assert cortex("store", "json decode").returncode == 0
    done = cortex("model", "install", wheel(tmp_path / "words.whl", folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert "answers when it has embedded all notes" in done.stdout
    assert files_of(tmp_path / "data" / MODEL) == files_of(folder)
    rows = orjson.loads(cortex("recall", "json", "--json").stdout)["results"]
    assert [row["title"] for row in rows] == ["json decode"]
    for _ in range(30):
        status = orjson.loads(cortex("status", "--json").stdout)["embedder"]
        if status.get("answers"):
            break
    assert (status["answers"], status["embedded"], status["missing"]) == (True, 1, 0)
    assert "model@" in cortex("status").stdout
    assert "built-in model answers again" in cortex("model", "remove").stdout
    assert not (tmp_path / "data" / MODEL).exists()
    assert cortex("recall", "json").returncode == 0


def test_the_parts_of_a_model_may_come_from_two_sources(folder, tmp_path):
    network, others = tmp_path / "network", tmp_path / "others"
    network.mkdir()
    shutil.copytree(folder, others)
    (others / "model.onnx").rename(network / "model.onnx")
    target = tmp_path / "target"
    target.mkdir()
    collect([wheel(tmp_path / "a.whl", network), wheel(tmp_path / "b.whl", others)], target)
    assert files_of(target) == files_of(folder)


def test_of_several_networks_the_smallest_is_installed(folder, tmp_path):
    (folder / "onnx").mkdir()
    small = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(small + bytes(99))
    (folder / "onnx" / "model_int8.onnx").write_bytes(small)
    target = tmp_path / "target"
    target.mkdir()
    collect([folder], target)
    assert (target / "model.onnx").read_bytes() == small


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda folder: (folder / "model.onnx").rename(folder / "model.safetensors"), "export it to ONNX"),
        (lambda folder: (folder / "model.onnx").unlink(), "no file that ends with .onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no network"), "cannot be loaded"),
        (lambda folder: (folder / "tokenizer.json").write_bytes(b"{}"), "cannot be read"),
        (shutil.rmtree, "neither a model's folder nor a wheel"),
    ],
)
def test_a_source_that_is_no_model_is_refused_and_the_model_from_before_stays(
    cortex, folder, tmp_path, change, sentence
):
    installed = tmp_path / "data" / MODEL
    shutil.copytree(folder, installed)
    change(folder)
    done = cortex("model", "install", folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert (installed / "model.onnx").is_file()
    assert [path.name for path in (tmp_path / "data").iterdir() if path.name.startswith(MODEL)] == [MODEL]


def test_a_file_that_is_no_wheel_is_refused(tmp_path):
    (tmp_path / "a.whl").write_text("text")
    with pytest.raises(Misconfigured, match="it is no wheel"):
        collect([tmp_path / "a.whl"], tmp_path)


def test_a_model_without_settings_learns_the_length_of_its_vectors(cortex, folder, tmp_path, models):  # noqa: F811
    for path in (folder / "1_Pooling", folder / "modules.json", folder / "sentence_bert_config.json"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert cortex("model", "install", folder).returncode == 0
    installed = DataFolder(tmp_path / "data").embedder
    assert installed.model_path == str(tmp_path / "data" / MODEL)
    settings = orjson.loads((tmp_path / "data" / MODEL / "config.json").read_bytes())
    assert settings == {"hidden_size": models.dimensions}


def test_the_missing_extra_is_named(folder, tmp_path):
    blocked = (
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'onnxruntime' else find(name, *more)\n"
        "import sys; from cortex.front.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", blocked, "memory", "model", "install", str(folder)]
    done = subprocess.run(
        [*command, "--data-dir", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "needs the extra `onnx`" in done.stderr
