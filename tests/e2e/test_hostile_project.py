"""A cloned project is not trusted: its code is never imported, whatever its modules are called."""

import asyncio
import os

import pytest

pytestmark = pytest.mark.e2e

#: modules that our processes import; each of the project's own leaves a mark when it runs
NAMES = (
    "cortex",
    "workers",
    "ipc",
    "numpy",
    "orjson",
    "zmq",
    "tantivy",
    "mcp",
    "encodings",
    "sitecustomize",
    "json",
)


def test_modules_in_the_project_are_never_imported(project, monkeypatch):
    mark = project.root.parent / "imported"
    for name in NAMES:
        code = f"open({str(mark)!r}, 'a').write({name!r} + '\\n')\n"
        (project.root / f"{name}.py").write_text(code)
        (project.root / name).mkdir()
        (project.root / name / "__init__.py").write_text(code)
        (project.root / name / "__main__.py").write_text(code)
    monkeypatch.chdir(project.root)

    async def ask():
        async with project.front() as front:
            await front.whole()

    asyncio.run(ask())
    done = project.run("search", "check password")
    assert done.returncode == 0, done.stderr
    assert not mark.exists(), mark.read_text()


def test_a_relative_entry_of_the_module_path_does_not_help_it(project, monkeypatch):
    mark = project.root.parent / "imported"
    (project.root / "workers").mkdir()
    (project.root / "workers" / "__init__.py").write_text(f"open({str(mark)!r}, 'w')\n")
    project.environment["PYTHONPATH"] = "." + os.pathsep
    monkeypatch.chdir(project.root)

    async def ask():
        async with project.front() as front:
            await front.whole()

    asyncio.run(ask())
    assert not mark.exists()
