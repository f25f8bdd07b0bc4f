"""`cortex projects` and `cortex clean`: the stored data of projects, and its removal."""

import os
import shutil
import time

import orjson
import pytest

from cortex.front.cli import main as cli
from cortex.settings import config as configuration
from cortex.settings.folders.home import USAGE, open_home, open_runtime
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, EXIT_UNAVAILABLE, EXIT_USAGE
from ipc.locks import try_lock

DAY_S = 86_400


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes a project with stored data, used some days ago."""
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def make_project(name, days=0):
        root = tmp_path / name
        root.mkdir()
        config = configuration.load(root)
        home = open_home(config)
        (home / "chunks").mkdir()
        (home / "chunks" / "code.json").write_bytes(b"x" * 100_000)
        then = time.time() - days * DAY_S
        for place in (*home.rglob("*"), home):
            os.utime(place, (then, then))
        return config

    return make_project


def listed(capsys):
    assert cli.main(["projects", "--json"]) == EXIT_OK
    return {row["name"]: row for row in orjson.loads(capsys.readouterr().out)}


def test_each_project_is_listed_with_its_size_its_last_use_and_its_state(make, capsys):
    young, old = make("young"), make("old", days=40)
    gone = make("gone")
    shutil.rmtree(gone.root)
    open_runtime(young)
    with try_lock(young.runtime_dir / "set.lock"):
        rows = listed(capsys)
    assert {name: row["state"] for name, row in rows.items()} == {
        "young": "served",
        "old": "at rest",
        "gone": "gone",
    }
    assert rows["old"]["root"] == str(old.root)
    assert all(100_000 <= row["bytes"] < 200_000 for row in rows.values())
    assert 39 * DAY_S < time.time() - rows["old"]["used"] < 41 * DAY_S
    assert list(rows)[-1] == "old"
    assert cli.main(["projects"]) == EXIT_OK
    assert "40 d ago" in capsys.readouterr().out


def test_the_last_use_is_the_last_query_and_no_later_write(make, capsys):
    config = make("shop")
    noted = config.run_dir / f"{USAGE}2026-01-01.jsonl"
    noted.write_text("{}")
    then = time.time() - 40 * DAY_S
    os.utime(noted, (then, then))
    assert listed(capsys)["shop"]["used"] == int(then)


def test_a_file_of_two_names_counts_once(make, capsys):
    config = make("linked")
    os.link(config.home / "chunks" / "code.json", config.home / "chunks" / "again.json")
    assert listed(capsys)["linked"]["bytes"] < 200_000


def test_clean_removes_only_the_data_of_missing_folders(make, capsys):
    existing, gone = make("here", days=400), make("gone")
    shutil.rmtree(gone.root)
    assert cli.main(["clean", "--yes"]) == EXIT_OK
    assert str(gone.root) in capsys.readouterr().out
    assert not gone.home.exists()
    assert existing.home.exists()
    assert cli.main(["clean", "--yes"]) == EXIT_OK
    assert "nothing to remove" in capsys.readouterr().out


def test_clean_removes_data_older_than_an_age_and_leaves_the_sources(make):
    young, old = make("young", days=10), make("old", days=40)
    (old.root / "a.py").write_text("x = 1\n")
    assert cli.main(["clean", "--older-than", "30d", "--yes"]) == EXIT_OK
    assert young.home.exists()
    assert not old.home.exists()
    assert (old.root / "a.py").exists()


def test_clean_without_consent_lists_and_removes_nothing(make, capsys):
    gone = make("gone")
    shutil.rmtree(gone.root)
    assert cli.main(["clean"]) == EXIT_NOTHING
    assert str(gone.root) in capsys.readouterr().out
    assert gone.home.exists()
    assert cli.main(["clean", "--json"]) == EXIT_OK
    assert [row["name"] for row in orjson.loads(capsys.readouterr().out)] == ["gone"]
    assert gone.home.exists()


@pytest.mark.parametrize("lock", ["set.lock", "indexer.lock", "writer.lock"])
def test_clean_keeps_projects_in_use(make, lock, capsys):
    served = make("served", days=400)
    open_runtime(served)
    served.index_dir.mkdir(parents=True)
    place = served.index_dir if lock == "writer.lock" else served.runtime_dir
    with try_lock(place / lock):
        assert cli.main(["clean", "--older-than", "30d", "--yes"]) == EXIT_OK
    assert "nothing to remove" in capsys.readouterr().out
    assert served.home.exists()


def test_clean_keeps_a_project_that_was_served_after_the_listing(make, monkeypatch, capsys):
    gone, taken = make("gone"), make("taken")
    for config in (gone, taken):
        shutil.rmtree(config.root)
    open_runtime(taken)
    locks = []
    monkeypatch.setattr(
        "cortex.front.cli.setup.projects.ask_consent", lambda _question: _taking(locks, taken)
    )
    assert cli.main(["clean"]) == EXIT_UNAVAILABLE
    assert "in use" in capsys.readouterr().err
    assert (gone.home.exists(), taken.home.exists()) == (False, True)
    locks[0].release()


def _taking(locks, config):
    locks.append(try_lock(config.runtime_dir / "set.lock"))
    return True


def test_a_folder_without_an_owner_is_removed_after_a_day(make):
    young, old = make("young"), make("old")
    for config, days in ((young, 0), (old, 2)):
        (config.home / "project.json").write_text("{")
        then = time.time() - days * DAY_S
        for place in (*config.home.rglob("*"), config.home):
            os.utime(place, (then, then))
    assert cli.main(["clean", "--yes"]) == EXIT_OK
    assert (young.home.exists(), old.home.exists()) == (True, False)


def test_a_link_in_the_place_of_a_projects_folder_is_not_followed(make, tmp_path, capsys):
    config = make("real")
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept.txt").write_text("mine")
    (config.home.parent / "link-0123456789abcdef").symlink_to(other)
    assert set(listed(capsys)) == {"real"}
    assert cli.main(["clean", "--older-than", "0h", "--yes"]) == EXIT_OK
    assert (other / "kept.txt").exists()


def test_an_invalid_duration_is_refused_with_a_sentence(make, capsys):
    assert cli.main(["clean", "--older-than", "soon"]) == EXIT_USAGE
    assert "30d" in capsys.readouterr().err
