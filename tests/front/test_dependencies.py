"""`cortex index --dependencies`: the sources of installed packages, as projects to read."""

import pytest

from cortex.front.cli import main as cli
from cortex.settings import config as configuration
from cortex.settings.folders.dependencies import installed_packages
from cortex.settings.folders.projects import known_projects
from cortex.system.errors import EXIT_NOTHING, EXIT_OK

PYTHON = ".venv/lib/python3.11/site-packages"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GOMODCACHE", "GOPATH", "CARGO_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".gitignore").write_text(".venv/\nnode_modules/\n")
    return folder


def write(folder, **texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def environment(root):
    write(root, **{".venv/pyvenv.cfg": "", f"{PYTHON}/lib/core.py": "def of_the_library():\n    return 1\n"})
    write(root, **{"node_modules/left/index.js": "function pad() { return 1 }\n"})


def test_packages_are_projects_of_their_own_that_are_only_read(root, capsys):
    environment(root)
    write(root, **{"shop.py": "def sell():\n    return 1\n"})
    assert cli.main(["index", str(root), "--dependencies", "--no-wait"]) == EXIT_OK
    output = capsys.readouterr().out
    assert [name in output for name in ("shop:python", "shop:node")] == [True, True]
    packages = known_projects()
    assert {name: (package.root, package.read_only, package.of) for name, package in packages.items()} == {
        "shop:python": (root / PYTHON, True, root),
        "shop:node": (root / "node_modules", True, root),
    }
    for package in packages.values():
        config = configuration.load(package.root)
        assert not config.indexing.respect_gitignore  # a project leaves its packages out
        assert list(config.chunks_dir.iterdir())
    assert configuration.load(root).indexing.respect_gitignore
    assert cli.main(["projects"]) == EXIT_OK
    assert "shop:python" in capsys.readouterr().out


def test_modules_of_go_and_crates_are_found_in_the_caches_that_are_there(root, tmp_path):
    write(
        root,
        **{
            "go.mod": "module x\n\nrequire github.com/Ada/lib v1.2.3\n\nrequire (\n\tgolang.org/x/net v0.1.0\n"
            "\tgithub.com/bob/deep v1.0.0 // indirect\n\t../../etc v1.0.0\n)\n",
            "Cargo.toml": '[dependencies]\nserde = "1"\ngone = "1"\n',
            "Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0.1"\n[[package]]\nname = "deep"\n'
            'version = "2.0.0"\n[[package]]\nname = "gone"\nversion = "1.0.0"\n',
        },
    )
    cache, source = tmp_path / "go" / "pkg" / "mod", tmp_path / ".cargo" / "registry" / "src" / "index"
    for folder in (cache / "github.com/!ada/lib@v1.2.3", cache / "github.com/bob/deep@v1.0.0"):
        folder.mkdir(parents=True)
    for name in ("serde-1.0.1", "deep-2.0.0"):
        (source / name).mkdir(parents=True)
    assert installed_packages(root) == {
        "github.com/Ada/lib": cache / "github.com/!ada/lib@v1.2.3",
        "serde": source / "serde-1.0.1",
    }


def test_a_link_in_the_place_of_packages_is_not_followed(root, tmp_path):
    environment(root)
    other = tmp_path / "other"
    (root / "node_modules").rename(other)
    (root / "node_modules").symlink_to(other)
    (root / PYTHON).rename(tmp_path / "site")
    (root / PYTHON).symlink_to(tmp_path / "site")
    assert installed_packages(root) == {}


@pytest.mark.parametrize("text", ["[", "package = 5", "dependencies = [1]"])
def test_lists_that_cannot_be_read_name_nothing(root, text):
    write(root, **{"Cargo.toml": text, "Cargo.lock": text, "go.mod": text})
    assert installed_packages(root) == {}


def test_without_packages_it_says_so(root, capsys):
    write(root, **{"shop.py": "x = 1\n"})
    assert cli.main(["index", str(root), "--dependencies", "--no-wait"]) == EXIT_NOTHING
    assert "no installed packages" in capsys.readouterr().err
