"""The project as a whole: what is pinned, what is shipped, and what the documents say about it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "scripts" / "requirements.lock").read_text().splitlines()


def test_the_lock_holds_names_and_versions_only() -> None:
    assert [line for line in LOCK if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)] == []


def test_every_dependency_is_pinned_to_a_version_that_it_allows() -> None:
    pinned = {canonicalize_name(name): Version(version) for name, version in (x.split("==") for x in LOCK)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dev"],
    ]
    for requirement in map(Requirement, wanted):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not pinned"
        assert version in requirement.specifier, f"{requirement} forbids the pinned {version}"


def test_scripts_are_executable() -> None:
    for path in (
        *(ROOT / "scripts" / name for name in ("setup", "demo", "test", "check", "fix")),
        ROOT / ".ci/run",
    ):
        assert os.access(path, os.X_OK), path


def test_the_wheel_holds_all_packages_the_model_and_the_licence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], check=True, stdin=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "cortex", "ipc", "workers"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(tracked) - shipped == set()
    assert any(name.endswith("licenses/LICENSE") for name in shipped)


def test_the_documents_name_every_tool() -> None:
    from cortex.front import tools

    readme = (ROOT / "README.md").read_text()
    for name in tools.TOOLS:
        assert f"`{name}`" in readme


def test_links_between_documents_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
