"""A configuration file is data of bounded size, whatever a clone puts in its place."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cortex.settings import config
from cortex.settings.config_files import read_settings
from cortex.settings.folders.home import user_config
from cortex.system.errors import Misconfigured

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def place(where: str, project: Path) -> Path:
    path = project / ".cortex" / "config.yml" if where == "project" else user_config()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def refused(project: Path, sentence: str) -> str:
    with pytest.raises(Misconfigured, match=sentence) as raised:
        config.load(project)
    text = str(raised.value)
    assert text.isprintable()
    assert len(text) < 5000
    return text


@pytest.mark.parametrize("where", ["project", "user"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, "aliases .* are not read"),
        ("server: &a\n  <<: *a\n", "aliases .* are not read"),
        ("a: " + "[" * 3000 + "]" * 3000, "nested too deeply"),
        ("# " + "x" * 65536, "more than 64 kB"),
        ("embedding: {dimensions: " + "9" * 5000 + "}", "cannot be read"),
        ("embedding: {dimensions: 0x" + "f" * 5000 + "}", "embedding.dimensions that is too large"),
        ("embedding: {model: 2001-01-01}", "a date at embedding.model"),
        ("embedding: {model: 2001-99-01}", "cannot be read"),
        ("embedding: {model: !!binary aGk=}", "a bytes at embedding.model"),
        ("embedding: {model: !!set {a, b}}", "a set at embedding.model"),
        ("embedding: !!python/object/apply:os.system [id]", "not valid YAML"),
        ("embedding: {model: " + "x" * 5000 + "}", "embedding.model of more than"),
        ("1: 2", "no plain word"),
        ("[1]: 2", "not valid YAML"),
        ("? {a: b}\n: 2", "not valid YAML"),
        ('"\\e[2Jowned": {}', "no plain word"),
        ('server: {"a\\nb": 1}', "no plain word"),
        ("just text", "must hold sections"),
        ('server: {chunks_dir: "\\e]0;owned\\a"}', ""),
        ("server: {chunks_dir: {a: b}}", "server"),
        ("embedding: {endpoint: [http://x]}", "embedding"),
        ("server: {deadline_s: .nan}", "deadline_s"),
        ("server: {idle_exit_s: -.inf}", "idle_exit_s"),
    ],
)
def test_a_file_with_more_than_plain_settings_is_refused_in_one_sentence(project, where, text, sentence):
    place(where, project).write_text(text)
    if sentence:
        refused(project, sentence)
    else:
        config.load(project)


@pytest.mark.parametrize("where", ["project", "user"])
def test_anything_but_a_regular_file_is_refused_without_waiting(project, where):
    path = place(where, project)
    os.mkfifo(path)
    refused(project, "Not a regular file")
    path.unlink()
    path.mkdir()
    refused(project, "Not a regular file")
    path.rmdir()
    path.touch()
    os.truncate(path, 1 << 40)
    refused(project, "more than 64 kB")


def test_a_project_file_that_leads_to_a_device_is_not_opened_and_that_of_the_user_is_bounded(project):
    place("project", project).symlink_to("/dev/zero")
    refused(project, "not a link")
    place("project", project).unlink()
    place("user", project).symlink_to("/dev/zero")
    refused(project, "Not a regular file")


def test_the_users_own_file_may_be_a_link(project, tmp_path):
    (tmp_path / "dotfiles.yml").write_text("embedding: {model: mine}")
    place("user", project).symlink_to(tmp_path / "dotfiles.yml")
    assert config.load(project).embedding.model == "mine"


def test_bytes_that_are_no_text_are_refused(project):
    place("project", project).write_bytes(b"server: \xff\xfe")
    refused(project, "Cannot read")


def test_no_refused_file_takes_memory(project):
    """Runs in a process with at most 300 MB of memory."""
    path = place("project", project)
    path.write_text(BOMB)
    code = f"from pathlib import Path; from cortex.settings.config_files import read_settings; read_settings(Path({str(path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (300 << 20,) * 2),
    )
    assert b"aliases" in done.stderr


def test_plain_settings_are_read(project):
    path = place("project", project)
    assert read_settings(path) is None
    path.write_text("server: {debounce_ms: 5, toolsets: [code]}\nfusion:\n  bm25_weight: 0.5\n")
    assert read_settings(path) == {
        "server": {"debounce_ms": 5, "toolsets": ["code"]},
        "fusion": {"bm25_weight": 0.5},
    }
