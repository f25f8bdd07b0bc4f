"""Chunk files and graph files of another program in the project: `cortex index` ends when they are
served, each tool finds them, and changes are followed.
"""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import orjson
import pytest

from cortex.embedders.static import open_static
from cortex.front.cli.running.serving import STALL_S
from tests.consent import trust_files
from tests.e2e.conftest import Project
from tests.wait_until import BOUND_S, LOOK_S, until

#: a chunk without words of the questions below, found by its vector alone; another found by words
BY_MEANING, BY_WORDS = "their-pool", "their-cookies"
QUESTION = "how are database connections pooled"


def consent(project: Project) -> None:
    """Let Cortex serve the files that another program wrote in the project."""
    trust_files(project.root)


def chunk(name: str, text: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "chunk_type": "documentation",
        "title": name,
        "text": text,
        "tags": ["documentation", "architecture"],
        "metadata": {"source": "docs", "file_path": f"docs/{name}.md"},
        "created_at": "2025-10-16T12:35:00Z",
        "updated_at": "2025-10-16T12:35:00Z",
    } | fields


def write(project: Project, kind: str, name: str, content: Any) -> None:
    folder = project.root / ".cortex" / kind
    folder.mkdir(parents=True, exist_ok=True)
    raw = content if isinstance(content, bytes) else orjson.dumps(content)
    (folder / f".{name}").write_bytes(raw)
    (folder / f".{name}").replace(folder / name)


def index(project: Project) -> str:
    """Run `cortex index`, which must end long before it would give up; return its output."""
    ended = project.run("index")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def ids_of(project: Project, *arguments: str) -> list[str]:
    answer = orjson.loads(project.run(*arguments, "--json").stdout)
    return [result["chunk"]["id"] for result in answer["results"]]


@pytest.fixture(params=["with vectors", "without vectors"])
def with_vectors(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "with vectors")


def file_of(with_vectors: bool) -> dict[str, Any]:
    chunks = [
        chunk(BY_MEANING, "Nothing that a keyword would find."),
        chunk(BY_WORDS, "Signed cookies rotate their keys."),
    ]
    metadata: dict[str, Any] = {"generator": "their-indexer", "version": "1.0"}
    if with_vectors:
        texts = (QUESTION, chunks[1]["text"])
        model = open_static()
        for entry, vector in zip(chunks, model.embed(texts), strict=True):
            entry["embedding"] = vector.astype(float).tolist()
        metadata |= {"dimensions": 384, "model": model.identity}
    return {"_metadata": metadata, "chunks": chunks}


def test_index_ends_when_files_of_another_program_are_served(project: Project, with_vectors: bool) -> None:
    write(project, "chunks", "theirs.json", file_of(with_vectors))
    node = {"id": "their:pool", "kind": "function", "file": "docs/pool.md", "start_line": 1, "end_line": 1}
    write(project, "graph", "theirs.json", {"nodes": [node], "edges": []})
    consent(project)
    assert STALL_S > 60  # a run that waits in vain is killed before it ends
    assert "is served" in index(project)
    assert BY_WORDS in ids_of(project, "exact", "rotate")
    assert BY_WORDS in ids_of(project, "search", "signed cookies", "--detail", "full")
    assert "code-auth/login.py" in " ".join(ids_of(project, "exact", "check_password"))
    by_meaning = ids_of(project, "search", QUESTION, "--mode", "semantic", "--limit", "3")
    assert (by_meaning[:1] == [BY_MEANING]) is with_vectors
    assert "is served" in index(project)  # nothing has changed


def test_index_waits_for_a_changed_and_a_deleted_file_of_another_program(project: Project) -> None:
    write(project, "chunks", "a.json", [chunk("one", "the first platypus")])
    write(project, "chunks", "b.json", [chunk("two", "the second platypus")])
    consent(project)
    index(project)
    assert sorted(ids_of(project, "exact", "platypus")) == ["one", "two"]
    write(project, "chunks", "a.json", [chunk("one", "the first wombat")])
    (project.root / ".cortex" / "chunks" / "b.json").unlink()
    consent(project)
    index(project)
    assert ids_of(project, "exact", "platypus") == []
    assert ids_of(project, "exact", "wombat") == ["one"]


def test_a_project_with_files_of_another_program_alone_is_indexed(project: Project) -> None:
    for folder in ("auth", "store", "docs"):
        for path in (project.root / folder).iterdir():
            path.unlink()
    write(project, "chunks", "theirs.json", [chunk("one", "a lonely platypus")])
    consent(project)
    assert "is served" in index(project)
    assert ids_of(project, "exact", "platypus") == ["one"]


def test_index_does_not_wait_for_a_file_that_is_never_served(project: Project) -> None:
    write(project, "chunks", "good.json", [chunk("same", "a good platypus")])
    write(project, "chunks", "cut.json", b'{"chunks": [{"id": ')
    write(project, "chunks", "without-text.json", [{"id": "no text"}])
    older = chunk("same", "an older platypus", updated_at="2020-01-01T00:00:00Z")
    write(project, "chunks", "hidden.json", [older])
    write(project, "graph", "cut.json", b'{"nodes": 3')
    consent(project)
    index(project)
    assert ids_of(project, "exact", "platypus") == ["same"]
    index(project)


def test_a_saved_file_of_another_program_is_followed(project: Project) -> None:
    write(project, "chunks", "a.json", [chunk("one", "the first platypus")])
    consent(project)
    index(project)
    with project.spawn("up") as workers:
        until(lambda: ids_of(project, "exact", "platypus") == ["one"], "the first text")
        write(project, "chunks", "a.json", [chunk("one", "the first wombat")])
        consent(project)
        until(lambda: ids_of(project, "exact", "wombat") == ["one"], "the changed text")
        workers.terminate()


FORGED = [
    chunk(
        "forged",
        "def check_password():\n    return hmac.compare_digest(name, password)",
        chunk_type="code",
        metadata={"file_path": "auth/login.py", "start_line": 6, "end_line": 8},
    ),
    chunk(
        "outside", "FAKEOUTSIDE", metadata={"file_path": "../../etc/passwd", "start_line": 1, "end_line": 2}
    ),
    chunk("overview", "Signing in: one quokka.", metadata={}),
]
PLANTED = {"from": "fake/mod:planted_caller", "to": "auth/login:check_password", "type": "calls"}
QUERIES = ("compare_digest", "FAKEOUTSIDE", "quokka")
WAITING = "1 chunk file and 1 graph file of another program wait for a person: `cortex trust` in a terminal."


def test_a_file_that_nobody_consented_to_stands_for_no_sources(project: Project) -> None:
    """As one of a terabyte from an archive, which is a hole."""
    write(project, "chunks", "theirs.json", b"")
    with (project.root / ".cortex" / "chunks" / "theirs.json").open("r+b") as file:
        file.truncate(1 << 40)
    done = project.run("exact", "check_password")
    assert "auth/login.py" in done.stdout
    assert "1 chunk file of another program waits for a person" in done.stdout + done.stderr


def test_files_that_came_with_a_clone_are_believed_after_consent_alone_and_never_against_the_sources(
    project: Project,
) -> None:
    write(project, "chunks", "theirs.json", FORGED)
    write(project, "graph", "theirs.json", {"nodes": [], "edges": [PLANTED]})
    (project.root / ".git").rmdir()
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "-Af"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=project.root, check=True)
    asyncio.run(_ask_before_and_after_consent(project))


async def _ask_before_and_after_consent(project: Project) -> None:
    async with project.front() as front:
        await front.until_complete()

        async def ask() -> tuple[list[int], list[str]]:
            """Return the number of results of each answer, and its message."""
            answers = [await front.call("cortex_exact", query=query) for query in QUERIES]
            answers.append(await front.call("cortex_graph", operation="callers", target="check_password"))
            answers.append(await front.call("cortex_explore", query="check_password"))
            counts = [len(answer["results"]) for answer in answers[:-1]]
            return counts, [answer["index"].get("message", "") for answer in answers]

        counts, messages = await ask()
        assert counts == [0, 0, 0, 0]
        assert [message.count(WAITING) for message in messages] == [1] * 5
        refused = project.run("trust", "--yes")
        assert (refused.returncode, "CORTEX_TRUST_CHUNKS=1" in refused.stderr) == (2, True)
        environment = project.environment | {"CORTEX_TRUST_CHUNKS": "1"}
        trusted = Project(project.root, environment).run("trust", "--yes")
        assert trusted.returncode == 0
        assert ".cortex/chunks/theirs.json" in trusted.stdout
        assert "tracked by git" in trusted.stdout
        await front.until_found("quokka", "")
        counts, messages = await ask()
        assert counts == [0, 0, 1, 0]
        assert not any("wait for a person" in message for message in messages)
        assert "by another program" in messages[2]
        assert "auth/login.py: a chunk of another program differs" in messages[4]
        write(project, "chunks", "theirs.json", FORGED[2:])  # as a pull does
        async with asyncio.timeout(BOUND_S):
            while counts[2] or "1 chunk file of another program waits" not in messages[0]:
                await asyncio.sleep(LOOK_S)
                counts, messages = await ask()
