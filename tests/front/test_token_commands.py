"""`cortex token`: tokens for folders of projects, by folder, name and glob, and their list."""

from __future__ import annotations

import orjson
import pytest

from cortex.front.cli import main as cli
from cortex.front.http.access.tokens import NamedToken, read_named
from cortex.settings.folders.home import user_config
from cortex.system.errors import EXIT_OK


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))


@pytest.fixture
def shops(tmp_path):
    """Two known projects, and one with the name of the first that is not known."""
    roots = [
        tmp_path / "here" / "api-orders",
        tmp_path / "here" / "api-users",
        tmp_path / "there" / "api-orders",
    ]
    for root in roots:
        (root / ".git").mkdir(parents=True)
    file = user_config().with_name("projects.yml")
    file.parent.mkdir(parents=True)
    names = {root.name: str(root) for root in roots[:2]}
    file.write_bytes(orjson.dumps({"projects": names}))
    return roots


def folders(name="reader"):
    return list(read_named()[name].projects)


def test_a_token_is_for_folders_by_path_name_and_glob(shops, capsys, monkeypatch):
    orders, users, _ = map(str, shops)
    for patterns, expected in (
        ([users], [users]),
        (["api-users"], [users]),
        (["api-*"], [orders, users]),
        (["api-users", users, "api-o*"], [users, orders]),
    ):
        arguments = [word for project in patterns for word in ("--for", project)]
        assert cli.main(["token", "reader", *arguments]) == EXIT_OK
        assert folders() == expected
        assert set(read_named()["reader"].births) == set(expected)
    monkeypatch.chdir(shops[2])
    assert cli.main(["token", "reader", "--for", "."]) == EXIT_OK
    assert folders() == [str(shops[2])]
    capsys.readouterr()


@pytest.mark.parametrize("unknown", ["api-nothing", "zzz-*", "/nowhere/at/all"])
def test_no_token_is_made_for_an_unknown_project(shops, capsys, unknown):
    del shops
    assert cli.main(["token", "reader", "--for", unknown]) != EXIT_OK
    assert not read_named()
    assert unknown in capsys.readouterr().err


def test_the_list_names_folders_that_were_moved_and_tokens_for_names(shops, tmp_path, capsys):
    assert cli.main(["token", "reader", "--for", str(shops[0]), "--for", str(shops[1])]) == EXIT_OK
    stored = read_named() | {"old": NamedToken("ab" * 32, projects=("api-*",))}
    user_config().with_name("tokens.json").write_bytes(
        orjson.dumps(
            {
                name: {"digest": t.digest, "projects": t.projects, "births": t.births}
                for name, t in stored.items()
            }
        )
    )
    shops[1].rename(tmp_path / "moved")
    capsys.readouterr()
    assert cli.main(["token", "--list"]) == EXIT_OK
    reader, old = capsys.readouterr().out.splitlines()
    assert f"{shops[0]}, {shops[1]} (moved or replaced: opens nothing)" in reader
    assert "api-* (a name: opens nothing after 0.1.x; make it again by --for FOLDER)" in old
