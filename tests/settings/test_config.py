"""Configuration: the order of the layers, settings that a project may not set, and one sentence for
every fault.
"""

import json
import os
from pathlib import Path

import pytest

from cortex.settings import config
from cortex.settings.data import DataFolder
from cortex.settings.folders import home
from cortex.settings.folders.home import user_config
from cortex.settings.table import Embedding, NoteEmbedding
from cortex.system.errors import Misconfigured


def write(project: Path, text: str) -> None:
    (project / ".cortex" / "config.yml").write_text(text)


def test_flags_win_over_environment_over_project_over_user_over_defaults(project, monkeypatch, tmp_path):
    user = tmp_path / "user" / "cortex" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text(
        "server: {debounce_ms: 1, deadline_s: 1, idle_exit_s: 1}\nindexing: {chunk_tokens: 100}\n"
    )
    write(project, "server: {debounce_ms: 2, deadline_s: 2, idle_exit_s: 2}\n")
    monkeypatch.setenv("CORTEX_SERVER_DEADLINE_S", "3")
    monkeypatch.setenv("CORTEX_SERVER_IDLE_EXIT_S", "3")
    loaded = config.load(project, {"server": {"idle_exit_s": 4}})
    assert loaded.indexing.chunk_tokens == 100
    assert loaded.server.debounce_ms == 2
    assert loaded.server.deadline_s == 3
    assert loaded.server.idle_exit_s == 4
    assert loaded.fusion.bm25_weight == 0.45


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("servr: {}", "Unknown section 'servr'.*did you mean 'server'"),
        ("server: {debounce: 1}", "server.debounce.*did you mean 'debounce_ms'"),
        ("server: {debounce_ms: soon}", "section 'server'.*Expected `int`.*debounce_ms"),
        (
            "server: {debounce_ms: -1}",
            r"server.debounce_ms is -1 in .*config.yml; it must be between 0 and 60000",
        ),
        ("server: {deadline_s: .nan}", "server.deadline_s is nan"),
        ("server: [1]", "'server'.*must hold settings"),
        ("- 1", "must hold sections"),
        ("server: {", "not valid YAML"),
        (
            "indexing: {languages: [js, pyhton]}",
            "'pyhton', which is no language \\(did you mean 'python'\\?\\)",
        ),
        ("indexing: {languages: [qqqqq]}", "'qqqqq', which is no language; docs/LANGUAGES.md"),
    ],
)
def test_a_fault_in_the_projects_file_is_reported_in_one_sentence(project, text, sentence):
    write(project, text)
    with pytest.raises(Misconfigured, match=sentence) as caught:
        config.load(project)
    assert "\n" not in str(caught.value)


def test_the_user_may_set_what_a_project_may_not(project, monkeypatch):
    monkeypatch.setenv("CORTEX_EMBEDDING_ENDPOINT", "http://10.1.2.3:8121/embed")
    loaded = config.load(project)
    assert loaded.embedding.provider == "http"


def test_a_configured_model_implies_its_provider_and_a_model_with_a_server_is_refused(project, monkeypatch):
    monkeypatch.setenv("CORTEX_EMBEDDING_MODEL_PATH", "/models/one")
    assert config.load(project).embedding.provider == "onnx"
    monkeypatch.setenv("CORTEX_EMBEDDING_ENDPOINT", "http://10.1.2.3:8121/embed")
    with pytest.raises(Misconfigured, match=r"embedding.endpoint and embedding.model_path are both set"):
        config.load(project)
    monkeypatch.setenv("CORTEX_EMBEDDING_PROVIDER", "onnx")
    assert config.load(project).embedding.provider == "onnx"


def test_an_unknown_variable_names_the_nearest(project, monkeypatch):
    monkeypatch.setenv("CORTEX_SERVER_DEBOUNCE", "1")
    with pytest.raises(Misconfigured, match="CORTEX_SERVER_DEBOUNCE_MS"):
        config.load(project)


def test_a_missing_project_folder_is_named(tmp_path):
    with pytest.raises(Misconfigured, match="nowhere"):
        config.load(tmp_path / "nowhere")


def test_the_root_is_the_nearest_parent_with_git_and_never_the_home_folder(tmp_path, monkeypatch):
    above = tmp_path / "home"
    (above / "code" / "app" / ".git").mkdir(parents=True)
    (above / ".git").mkdir()
    (above / "code" / "app" / "src").mkdir()
    monkeypatch.setenv("HOME", str(above))
    monkeypatch.chdir(above / "code" / "app" / "src")
    assert home.find_root() == (above / "code" / "app", False)
    monkeypatch.chdir(above / "code")
    with pytest.raises(Misconfigured, match="--project"):
        home.find_root()


@pytest.mark.parametrize("place", ["home", "", "/"])
@pytest.mark.parametrize("variable", ["", "CORTEX_PROJECT", "CLAUDE_PROJECT_DIR"])
def test_a_named_folder_that_is_the_home_folder_or_above_is_refused(tmp_path, monkeypatch, place, variable):
    (tmp_path / "home" / "code").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / place
    if variable:
        monkeypatch.setenv(variable, str(folder))
    with pytest.raises(Misconfigured, match="--yes-really"):
        home.find_root(None if variable else folder)
    assert home.find_root(tmp_path / "home" / "code") == ((tmp_path / "home" / "code").resolve(), True)
    monkeypatch.setenv("CORTEX_YES_REALLY", "1")
    assert home.find_root(folder) == (folder.resolve(), True)


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("nowhere", "does not exist"),
        ("file", "is a file"),
        ("${workspaceFolder}", "placeholder"),
        ("$(pwd)/x", "placeholder"),
        ("%CD%", "placeholder"),
    ],
)
def test_a_project_that_is_no_folder_is_refused_with_reason_and_advice(tmp_path, folder, why):
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match=why) as error:
        home.find_root(tmp_path / folder)
    assert "--project" in str(error.value)


def test_sockets_fit_the_shortest_limit_and_are_private(project, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp/" + "x" * 100)
    loaded = config.load(project)
    folder = home.open_runtime(loaded)
    assert len(os.fsencode(folder / "supervisor.sock")) <= home.SOCKET_PATH_MAX
    assert folder.stat().st_mode & 0o077 == 0


def test_a_runtime_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(Misconfigured, match="real folder"):
        home.private_dir(tmp_path / "link")


def test_equal_settings_have_equal_hashes_and_others_do_not(project, monkeypatch):
    before = config.load(project).hash()
    assert config.load(project).hash() == before
    monkeypatch.setenv("CORTEX_INDEXING_CHUNK_TOKENS", "128")
    assert config.load(project).hash() != before


def test_a_cortex_folder_that_is_a_link_is_refused(tmp_path):
    root = tmp_path / "p"
    root.mkdir()
    (tmp_path / "other").mkdir()
    (root / ".cortex").symlink_to(tmp_path / "other")
    with pytest.raises(Misconfigured, match="not a link"):
        home.open_home(config.load(root))


def test_all_files_are_made_in_the_users_cache(project, monkeypatch, tmp_path):
    def home_of():
        return config.load(project).home

    name = f"project-{config.load(project).root_id}"
    assert home_of() == tmp_path / "cache" / "projects" / name
    monkeypatch.delenv("CORTEX_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert home_of() == tmp_path / "xdg" / "cortex" / "projects" / name
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert home_of() == tmp_path / "me" / ".cache" / "cortex" / "projects" / name
    loaded = config.load(project)
    for path in (loaded.chunks_dir, loaded.graph_dir, loaded.index_dir, loaded.run_dir, loaded.manifest):
        assert path.is_relative_to(loaded.home)


def test_projects_of_one_name_have_folders_of_their_own(tmp_path):
    homes = set()
    for above in ("a", "b"):
        (tmp_path / above / "my app\n").mkdir(parents=True)
        homes.add(config.load(tmp_path / above / "my app\n").home)
    assert len(homes) == 2
    assert all(path.name.startswith("my-app-") for path in homes)


def test_the_cache_folder_is_private_and_names_its_project(project, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o755)
    folder = home.open_home(config.load(project))
    assert folder.stat().st_mode & 0o077 == 0
    assert folder.parent.stat().st_mode & 0o077 == 0
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o755
    assert json.loads((folder / "project.json").read_text()) == {"root": str(project)}
    assert list((project / ".cortex").iterdir()) == []


def test_a_process_that_started_before_a_project_was_sealed_writes_nothing_plain(project):
    before = config.load(project)
    home.open_home(before)
    (config.cache_base() / "sealed" / before.root_id).mkdir(parents=True)
    with pytest.raises(Misconfigured, match="was sealed after this process started"):
        home.open_home(before)


@pytest.mark.parametrize("level", ["projects", "home"])
def test_a_link_below_the_cache_is_refused(project, tmp_path, level):
    loaded = config.load(project)
    (tmp_path / "elsewhere").mkdir()
    place = loaded.home if level == "home" else loaded.home.parent
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured, match="is a link"):
        home.open_home(loaded)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_sentence_that_names_it(project, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    loaded = config.load(project)
    with pytest.raises(Misconfigured, match="CORTEX_HOME") as caught:
        home.open_home(loaded)
    assert str(loaded.home) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cache_that_is_not_an_absolute_path_is_refused(project, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", "here")
    with pytest.raises(Misconfigured, match=r"'here'.*CORTEX_HOME"):
        config.load(project)


def test_another_cache_is_another_configuration(project, monkeypatch, tmp_path):
    before = config.load(project).hash()
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "other"))
    assert config.load(project).hash() != before


def test_a_configuration_behind_a_link_is_not_read(project, tmp_path):
    (tmp_path / "other.yml").write_text("server: {debounce_ms: 1}\n")
    (project / ".cortex" / "config.yml").symlink_to(tmp_path / "other.yml")
    with pytest.raises(Misconfigured, match="not a link"):
        config.load(project)


@pytest.mark.parametrize("variable", ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"])
def test_a_variable_that_names_no_absolute_folder_is_one_sentence(project, monkeypatch, variable):
    monkeypatch.setenv(variable, "some/where")
    if variable == "HOME":
        monkeypatch.delenv("XDG_CONFIG_HOME")
    with pytest.raises(Misconfigured, match=rf"{variable} is 'some/where', which is not an absolute path"):
        assert config.load(project).runtime_dir


def test_all_projects_of_a_person_share_one_data_folder_and_its_sockets(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CORTEX_HOME")
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folders.append(config.load(tmp_path / name, {"embedding": {"dimensions": 256}}).data)
    folders.append(config.load_data())
    assert {folder.root for folder in folders} == {tmp_path.resolve() / ".cortex" / "default"}
    assert len({folder.runtime_dir for folder in folders}) == len({folder.hash() for folder in folders}) == 1
    other = config.load_data({"memory": {"data_dir": str(tmp_path / "other")}})
    assert (other.runtime_dir, other.hash()) != (folders[0].runtime_dir, folders[0].hash())


def test_a_project_in_the_data_folder_has_other_sockets(tmp_path):
    data = config.load_data({"memory": {"data_dir": str(tmp_path)}})
    assert data.runtime_dir != config.load(tmp_path).runtime_dir


def test_a_data_folder_of_a_long_path_has_short_sockets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("r" * 90)))
    (tmp_path / ("r" * 90)).mkdir()
    data = config.load_data({"memory": {"data_dir": str(tmp_path / ("d" * 200))}})
    assert len(str(data.runtime_dir / "supervisor.sock")) <= 103


@pytest.mark.parametrize("folder", ["memory", "./memory", "~someone/memory"])
def test_a_data_folder_that_is_no_absolute_path_is_refused(folder):
    with pytest.raises(Misconfigured, match=r"memory\.data_dir .* not an absolute path"):
        config.load_data({"memory": {"data_dir": folder}})


def test_a_home_folder_that_is_no_absolute_path_is_one_sentence_for_memory_too(monkeypatch):
    monkeypatch.delenv("CORTEX_HOME")
    monkeypatch.setenv("HOME", "here")
    with pytest.raises(Misconfigured, match="HOME is 'here', which is not an absolute path"):
        config.load_data()


def test_a_data_folder_that_cannot_be_written_is_named_with_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    data = config.load_data({"memory": {"data_dir": str(tmp_path / "file" / "data")}})
    with pytest.raises(Misconfigured, match=r"file/data cannot be used: .*set memory\.data_dir"):
        data.make()


def test_memory_has_an_embedder_of_its_own(project, monkeypatch):
    user_config().parent.mkdir(parents=True, exist_ok=True)
    user_config().write_text("memory: {git: true, embedding: {model_path: ~/models/notes, dimensions: 24}}")
    loaded = config.load(project)
    assert loaded.memory.git
    assert loaded.embedding == Embedding()
    expected = NoteEmbedding(provider="onnx", model_path="~/models/notes", dimensions=24)
    assert loaded.memory_embedding == loaded.data.embedder == config.load_data().embedder == expected
    monkeypatch.setenv("CORTEX_MEMORY_EMBEDDING_PROVIDER", "static")
    assert config.load(project).data.embedding.provider == "static"
    assert config.load(project).data.hash() != loaded.data.hash()


def test_a_wrong_setting_of_the_embedder_of_memory_is_named(project):
    user_config().parent.mkdir(parents=True, exist_ok=True)
    user_config().write_text("memory: {embedding: {modelpath: x}}")
    with pytest.raises(Misconfigured, match=r"memory\.embedding\.modelpath .*model_path"):
        config.load(project)


def test_an_installed_model_embeds_notes_unless_the_settings_name_another(tmp_path):
    (tmp_path / "model").mkdir()
    assert DataFolder(tmp_path).embedder.model_path == str(tmp_path / "model")
    other = Embedding(provider="http")
    assert DataFolder(tmp_path, embedding=other).embedder == other
