"""Projects by name: the user's projects.yml, its globs, and clones."""

import pytest

from cortex.settings import config as configuration
from cortex.settings.folders.projects import clones_base, known_projects, projects_file, resolve_project
from cortex.system.errors import Misconfigured


@pytest.fixture
def write(tmp_path):
    def written(text):
        projects_file().parent.mkdir(parents=True, exist_ok=True)
        projects_file().write_text(text.replace("ROOT", str(tmp_path)))

    return written


def repository(path):
    (path / ".git").mkdir(parents=True)
    return path.resolve()


def roots():
    return {name: project.root for name, project in known_projects().items()}


def test_without_the_file_there_are_none():
    assert known_projects() == {}


def test_projects_have_the_names_in_the_file_and_missing_ones_are_left_out(tmp_path, write):
    (tmp_path / "shop").mkdir()
    write("projects: {the-shop: ROOT/shop, gone: ROOT/gone}\n")
    assert roots() == {"the-shop": (tmp_path / "shop").resolve()}


def test_a_mistyped_name_gets_a_suggestion_and_a_path_is_used_as_it_is(tmp_path, write):
    (tmp_path / "shop").mkdir()
    write("projects: {the-shop: ROOT/shop}\n")
    assert resolve_project("the-shop") == (tmp_path / "shop").resolve()
    with pytest.raises(
        Misconfigured, match=r"called 'the-shpo' \(did you mean 'the-shop'\?\); `cortex projects`"
    ):
        resolve_project("the-shpo")
    for path in ("./the-shpo", "/the-shpo", "qqqq"):
        assert resolve_project(path) == path


def test_a_home_folder_is_written_as_a_tilde(tmp_path, write, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "shop").mkdir()
    write("projects: {shop: ~/shop}\n")
    assert roots() == {"shop": (tmp_path / "shop").resolve()}


def test_globs_find_repositories_and_nothing_inside_of_one(tmp_path, write):
    shop = repository(tmp_path / "code" / "ada" / "shop")
    repository(shop / "vendor" / "inner")
    cart = repository(tmp_path / "code" / "cart")
    (tmp_path / "code" / "notes").mkdir()
    (tmp_path / "code" / ".hidden" / "x" / ".git").mkdir(parents=True)
    (tmp_path / "code" / "link").symlink_to(shop)
    write("repo_globs: ['ROOT/code/**']\n")
    assert roots() == {"shop": shop, "cart": cart}
    write("repo_globs: ['ROOT/code/*']\n")
    assert roots() == {"cart": cart}
    write("repo_globs: ['ROOT/code/*/sh?p']\n")
    assert roots() == {"shop": shop}


def test_a_worktree_is_a_repository(tmp_path, write):
    (tmp_path / "code" / "tree").mkdir(parents=True)
    (tmp_path / "code" / "tree" / ".git").write_text("gitdir: elsewhere\n")
    write("repo_globs: ['ROOT/code/*']\n")
    assert set(roots()) == {"tree"}


def test_two_repositories_with_one_name_get_their_parent_folders_as_prefix(tmp_path, write):
    first, other = (
        repository(tmp_path / "code" / "ada" / "shop"),
        repository(tmp_path / "code" / "bob" / "shop"),
    )
    write("repo_globs: ['ROOT/code/*/*']\n")
    assert roots() == {"ada/shop": first, "bob/shop": other}


def test_a_project_in_the_file_has_no_second_name_by_a_glob(tmp_path, write):
    shop = repository(tmp_path / "code" / "shop")
    write("projects: {mine: ROOT/code/shop}\nrepo_globs: ['ROOT/code/*']\n")
    assert roots() == {"mine": shop}


def test_clones_are_known_by_owner_and_name(tmp_path):
    clone = repository(clones_base() / "git.example" / "ada" / "shop")
    projects = known_projects()
    assert {name: (project.root, project.read_only) for name, project in projects.items()} == {
        "ada/shop": (clone, True)
    }


def test_a_project_is_loaded_by_its_name_unless_there_is_a_folder_of_it(tmp_path, write, monkeypatch):
    shop = repository(tmp_path / "code" / "shop")
    write("projects: {shop: ROOT/code/shop}\n")
    monkeypatch.chdir(tmp_path)
    assert configuration.load("shop").root == shop
    (tmp_path / "shop").mkdir()
    assert configuration.load("shop").root == (tmp_path / "shop").resolve()
    with pytest.raises(Misconfigured, match="does not exist"):
        configuration.load("other")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("shops: {}\n", "must hold `projects`"),
        ("- x\n", "must hold `projects`"),
        ("projects: [x]\n", "must be names with a folder each"),
        ("projects: {x: code/x}\n", "absolute one, or one below ~"),
        ("projects: {x: 5}\n", "absolute one, or one below ~"),
        ("repo_globs: ~/code\n", "must be a list"),
        ("repo_globs: [code/*]\n", "absolute one, or one below ~"),
    ],
)
def test_a_fault_in_the_file_is_one_sentence(write, text, sentence):
    write(text)
    with pytest.raises(Misconfigured, match=sentence):
        known_projects()
