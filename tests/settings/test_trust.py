"""The project's own file: settings that count without its user's consent, and storage
of consent.
"""

import dataclasses
import os
from pathlib import Path

import pytest

from cortex.engines.milvus.place import Milvus
from cortex.settings import config
from cortex.settings.consent import trust
from cortex.settings.table import SECTIONS, Embedding, rules
from cortex.system.errors import Misconfigured

#: a value for each setting that a project's file may not set without consent, and its effect
HOSTILE = {
    "embedding.provider": "local",
    "embedding.endpoint": "http://127.0.0.1:9/embed",
    "embedding.model": "cortex-static-384@0123456789ab",
    "embedding.model_path": "model",
    "embedding.device": "cuda:0",
    "server.chunks_dir": ".cortex/chunks",
    "server.deadline_s": 600,
    "server.idle_exit_s": 604800,
    "server.toolsets": "[code, everything]",
    "server.answer_tokens": 1000000,
    "indexing.chunk_tokens": 32,
    "indexing.respect_gitignore": "false",
    "indexing.max_file_kb": 1048576,
}
#: settings without a harmful value; beside each is the worst that it can do
FREE = {
    "embedding.dimensions": "another size than the model's ends the start with a sentence",
    "server.auto_index": "no index, or one in the user's own cache",
    "server.debounce_ms": "bounded for everybody; a clone does not save files",
    "server.stats": "no notes, or some in the user's own cache, which are sent nowhere",
    "server.history": "no commits in answers, or those that git tells, which runs nothing of the clone's",
    "indexing.include": "globs are matched with paths below the project only",
    "indexing.ignore": "hides what a .gitignore could hide, too",
    "indexing.languages": "as include",
    "indexing.debounce_ms": "as server.debounce_ms",
    "fusion.bm25_weight": "another order of the project's own hits",
}


#: settings that no project may set, and an attempt for each
PERSONAL = {
    "memory.data_dir": "/tmp/elsewhere",
    "memory.database": "postgresql://elsewhere/memory",
    "memory.team": "elsewhere",
    "memory.remotes": ["example.org/anybody/shop"],
    "memory.sessions": "all",
    "memory.git": "true",
    "memory.upkeep_hours": 1,
    "memory.retention_days": 30,
    "memory.forgetting": "true",
    "memory.cleanup_superseded": "true",
    "memory.embedding.provider": "local",
    "memory.embedding.endpoint": "http://elsewhere/embed",
    "memory.embedding.model": "elsewhere",
    "memory.embedding.dimensions": "12",
    "memory.embedding.model_path": "model",
    "memory.embedding.device": "cuda:0",
    "server.trust_chunks": ["1"],
    "security.sandbox": "true",
    "security.encrypt_index": "false",
    "security.encrypt_memory": "off",
    "security.key_path": "/tmp/elsewhere",
    "security.plain_runtime": "true",
    "engines.vector": "milvus",
    "engines.text": "milvus",
    "milvus.uri": "http://elsewhere:19530",
    "milvus.token": "elsewhere",
    "milvus.collection": "elsewhere",
    "milvus.project": "elsewhere",
    "milvus.lease": "postgresql://elsewhere/locks",
    "milvus.single_writer": "true",
}


def write(project: Path, text: str) -> trust.ProjectFile:
    (project / ".cortex" / "config.yml").write_text(text)
    return config.read_project(project)


def test_every_setting_is_either_guarded_or_harmless_for_a_reason():
    sections = SECTIONS | {"milvus": Milvus}
    names = {f"{s}.{field.name}" for s, cls in sections.items() for field in dataclasses.fields(cls)}
    assert names == HOSTILE.keys() | FREE.keys() | PERSONAL.keys()


def test_a_project_may_say_that_its_sessions_are_not_read_which_concerns_no_other(project):
    file = write(project, "memory: {sessions: off}")
    loaded = config.load(project)
    assert file.says("memory.sessions")
    assert (loaded.ignored, loaded.memory.sessions) == ((), "project")
    assert not write(project, "memory: {sessions: all}").says("memory.sessions")


def test_a_project_may_ask_to_be_sealed_and_not_the_other_way_round(project, monkeypatch):
    assert not config.load(project).sealing
    file = write(project, "security: {encrypt_index: true}")
    loaded = config.load(project)
    assert (file.consent_items, loaded.ignored) == ((), ())
    assert loaded.home == loaded.sealing.home
    write(project, "security: {encrypt_index: false}")
    monkeypatch.setenv("CORTEX_SECURITY_ENCRYPT_INDEX", "1")
    loaded = config.load(project)
    assert loaded.ignored == ("security.encrypt_index",)
    assert loaded.sealing


@pytest.mark.parametrize("name", PERSONAL)
def test_personal_settings_are_never_taken_from_a_projects_file(project, name):
    section, _, key = name.rpartition(".")
    setting = f"{key}: {PERSONAL[name]}"
    text = f"server: {{{setting}, debounce_ms: 7}}"
    outer, _, inner = section.partition(".")
    fields = f"{{{inner}: {{{setting}}}}}" if inner else f"{{{setting}}}"
    file = write(project, text if section == "server" else f"{outer}: {fields}\nserver: {{debounce_ms: 7}}")
    assert not file.consent_items
    for consent in (False, True):
        if consent:
            trust.give_consent(file)
        loaded = config.load(project)
        assert loaded.ignored == (name,)
        if section in SECTIONS:
            loaded_section = getattr(loaded, section.replace(".", "_"))
            assert getattr(loaded_section, key) == getattr(SECTIONS[section](), key)
        assert loaded.plug is None
        assert loaded.server.debounce_ms == 7
    sentence = trust.say_ignored(loaded.root, loaded.ignored)
    assert name in sentence
    assert "cortex trust" not in sentence
    assert "belong in" in sentence


@pytest.mark.parametrize("name", HOSTILE)
def test_a_harmful_setting_of_a_project_is_ignored_until_consent(project, name):
    section, key = name.split(".")
    before = config.load(project)
    file = write(project, f"{section}: {{{key}: {HOSTILE[name]}}}\nserver: {{debounce_ms: 7}}"
                 if section != "server" else f"server: {{{key}: {HOSTILE[name]}, debounce_ms: 7}}")  # fmt: skip
    loaded = config.load(project)
    assert loaded.ignored == (name,)
    assert getattr(getattr(loaded, section), key) == getattr(getattr(before, section), key)
    assert loaded.server.debounce_ms == 7
    trust.give_consent(file)
    agreed = config.load(project)
    assert agreed.ignored == ()
    assert getattr(getattr(agreed, section), key) != getattr(getattr(before, section), key)
    assert rules(section)[key].effect


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://evil.example/embed",
        "http://127.0.0.1.evil.example/embed",
        "http://localhost:8122/embed",
        "http://localhost:8121@evil.example/embed",
        "http://localhost:8121/other",
        "HTTP://LOCALHOST:8121/embed#x",
        "http://localhost:8121/embed ",
    ],
)
def test_an_endpoint_other_than_the_usual_one_is_ignored_and_the_built_in_model_stays(project, endpoint):
    write(project, f"embedding: {{endpoint: '{endpoint}'}}")
    loaded = config.load(project)
    assert loaded.ignored == ("embedding.endpoint",)
    assert (loaded.embedding.provider, loaded.embedding.endpoint) == ("static", "")


@pytest.mark.parametrize("endpoint", ["http://localhost:8121", "http://localhost:8121/embed"])
def test_the_usual_endpoint_needs_no_consent(project, endpoint):
    write(project, f"embedding: {{endpoint: '{endpoint}', dimensions: 384}}")
    loaded = config.load(project)
    assert loaded.ignored == ()
    assert (loaded.embedding.provider, loaded.embedding.endpoint) == ("http", endpoint)


def test_with_an_endpoint_that_is_ignored_its_vector_size_is_too(project):
    write(project, "embedding: {endpoint: 'http://10.1.2.3/', dimensions: 768}\nfusion: {bm25_weight: 0.4}")
    loaded = config.load(project)
    assert loaded.ignored == ("embedding.endpoint", "embedding.dimensions")
    assert loaded.embedding == Embedding()
    assert loaded.fusion.bm25_weight == 0.4


def test_the_users_file_the_environment_and_flags_need_no_consent(project, monkeypatch, tmp_path):
    user = tmp_path / "user" / "cortex" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("server: {chunks_dir: .cortex/chunks}\n")
    monkeypatch.setenv("CORTEX_EMBEDDING_ENDPOINT", "http://10.1.2.3:8121/embed")
    loaded = config.load(project, {"server": {"idle_exit_s": 604800}})
    assert (loaded.server.chunks_dir, loaded.embedding.provider) == (".cortex/chunks", "http")
    assert (loaded.server.idle_exit_s, loaded.ignored) == (604800, ())


def test_consent_is_for_one_content_in_one_place(project, tmp_path):
    text = "embedding: {provider: local}"
    trust.give_consent(write(project, text))
    assert config.load(project).embedding.provider == "local"
    write(project, text + "  # now with another port")
    assert config.load(project).ignored == ("embedding.provider",)
    write(project, text)
    assert config.load(project).ignored == ()
    other = tmp_path / "other"
    project.rename(other)
    assert config.load(other).ignored == ("embedding.provider",)


def test_consent_that_was_taken_back_counts_no_more(project):
    trust.give_consent(write(project, "embedding: {provider: local}"))
    assert trust.revoke(project)
    assert config.load(project).ignored == ("embedding.provider",)
    assert not trust.revoke(project)


def test_the_note_of_consent_is_the_users_own_and_private(project, tmp_path):
    file = write(project, "embedding: {provider: local}")
    old = os.umask(0)
    try:
        trust.give_consent(file)
    finally:
        os.umask(old)
    [note] = (tmp_path / "cache" / "trust").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    assert note.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("fault", ["linked", "damaged", "deep", "pipe", "of another user"])
def test_a_note_that_others_could_have_written_counts_for_nothing(project, tmp_path, fault):
    file = write(project, "embedding: {provider: local}")
    trust.give_consent(file)
    [note] = (tmp_path / "cache" / "trust").iterdir()
    if fault == "linked":
        note.rename(tmp_path / "note")
        note.symlink_to(tmp_path / "note")
    elif fault == "damaged":
        note.write_bytes(note.read_bytes()[:-3])
    elif fault == "deep":
        note.write_text("[" * 10_000)
    elif fault == "of another user":
        if os.getuid() != 0:
            pytest.skip("only root can give a file to another user")
        os.chown(note, 65_534, -1)
    else:
        note.unlink()
        os.mkfifo(note)
    assert not trust.has_consent(file)


@pytest.mark.parametrize("place", ["../../etc", "/etc", "linked"])
def test_a_folder_outside_the_project_is_refused_even_with_consent(project, tmp_path, place):
    (tmp_path / "elsewhere").mkdir()
    (project / "linked").symlink_to(tmp_path / "elsewhere")
    file = write(project, f"server: {{chunks_dir: {place}}}")
    assert config.load(project).ignored == ("server.chunks_dir",)
    trust.give_consent(file)
    with pytest.raises(Misconfigured, match="outside the project"):
        config.load(project)


def test_ignored_settings_are_named_in_one_sentence_with_the_file(project):
    write(project, "embedding: {provider: local, endpoint: 'http://127.0.0.1:9/'}")
    sentence = trust.say_ignored(project, config.load(project).ignored)
    for word in ("embedding.provider", "embedding.endpoint", "config.yml", "`cortex trust`"):
        assert word in sentence
    assert "\n" not in sentence
    assert trust.say_ignored(project, ()) == ""
