"""The project as a whole: pinned dependencies, shipped files, and the documents' statements about
them.
"""

from __future__ import annotations

import functools
import html
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts import picture as picture_of
from scripts.release import fault, fault_of_name

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
        *(optional for extra in project["project"]["optional-dependencies"].values() for optional in extra),
    ]
    for requirement in map(Requirement, wanted):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not pinned"
        assert version in requirement.specifier, f"{requirement} forbids the pinned {version}"


def test_scripts_are_executable() -> None:
    for path in (
        *(
            ROOT / "scripts" / name
            for name in ("setup", "demo", "test", "check", "fix", "audit", "coverage", "site")
        ),
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


@pytest.mark.parametrize(
    ("tag", "version", "tags", "sentence"),
    [
        ("v1.2.3", "1.2.3", ["v1.2.2", "v0.9.9", "nightly"], ""),
        ("v1.2.3", "1.2.3", ["v1.2.3"], ""),
        ("v0.10.0", "0.10.0", ["v0.9.9"], ""),
        ("v1.0.0", "1.0.0", [], ""),
        ("v1.2.3", "1.2.4", [], "the code is version 1.2.4"),
        ("v1.2.3", "1.2.3", ["v1.3.0", "v1.2.2"], "is not higher than the existing tag v1.3.0"),
        ("v0.9.9", "0.9.9", ["v0.10.0"], "is not higher than the existing tag v0.10.0"),
        ("1.2.3", "1.2.3", [], "is no version"),
        ("v1.2", "1.2", [], "is no version"),
        ("", "", [], "is no version"),
    ],
)
def test_a_release_must_rise_and_be_the_codes_version(
    tag: str, version: str, tags: list[str], sentence: str
) -> None:
    assert sentence in fault(tag, version, tags)
    assert bool(sentence) == bool(fault(tag, version, tags))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[str]:
    """Serve `tmp_path` as an index of packages; return its address."""
    handler = functools.partial(QuietHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: Any) -> None:
        """Print nothing."""


def publish(index: str, folder: Path, repositories: list[str]) -> None:
    """Publish a file of `ours` by each of the repositories, the newest last; "" states nobody."""
    files = []
    for day, repository in enumerate(repositories, 1):
        statement = {"attestation_bundles": [{"publisher": {"kind": "GitHub", "repository": repository}}]}
        (folder / f"{day}.json").write_text(json.dumps(statement))
        files.append({"upload-time": f"2026-01-0{day}", "provenance": repository and f"{index}/{day}.json"})
    (folder / "ours").mkdir()
    (folder / "ours" / "index.html").write_text(json.dumps({"files": files[::-1]}))


@pytest.mark.parametrize(
    ("repositories", "first", "sentence"),
    [
        (None, False, "is nobody's"),
        (None, True, ""),
        (["me/cortex"], False, ""),
        (["me/cortex"], True, "is taken already"),
        (["me/cortex", "you/cortex"], False, "published by you/cortex, not by me/cortex"),
        (["you/cortex", "me/cortex"], False, ""),
        (["me/cortex", ""], False, "published by nobody who can be verified"),
        ([], False, "published by nobody who can be verified"),
    ],
)
def test_a_release_needs_a_name_that_is_ours(
    index: str, tmp_path: Path, repositories: list[str] | None, first: bool, sentence: str
) -> None:
    if repositories is not None:
        publish(index, tmp_path, repositories)
    message = fault_of_name("ours", "me/cortex", index, first=first)
    assert sentence in message
    assert bool(sentence) == bool(message)


def test_a_release_needs_the_address_of_the_index() -> None:
    assert "RELEASE_INDEX is not set" in fault_of_name("ours", "me/cortex", "")


def test_a_release_checks_its_name_before_it_is_published() -> None:
    build = commands(workflow("release")["jobs"]["build"])
    assert "vars.RELEASE_INDEX" in (ROOT / ".github/workflows/release.yml").read_text()
    assert any(line.startswith('python scripts/release.py name "$GITHUB_REPOSITORY"') for line in build)


def workflow(name: str) -> Any:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_tests_run_on_three_systems_and_four_versions_of_python() -> None:
    job = workflow("test")["jobs"]["test"]
    systems = [name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]]
    assert systems == ["ubuntu", "macos", "windows"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert commands(job) == [".ci/run"]


def test_what_ci_draws_small_is_drawn_large_by_night() -> None:
    night = workflow("night")
    assert night[True]["schedule"]  # YAML 1.1 takes "on" for true
    assert "scripts/night" in commands(night["jobs"]["draw"])
    script = (ROOT / "scripts" / "night").read_text()
    for drawn in (
        "fuzz_ignores.py --number 10000",
        "--hypothesis-profile=night",
        "torture.py --seconds 1800",
    ):
        assert drawn in script


def test_a_release_is_published_with_provenance_and_without_a_password() -> None:
    build, publish = (workflow("release")["jobs"][name] for name in ("build", "publish"))
    assert 'python scripts/release.py "$GITHUB_REF_NAME"' in commands(build)
    assert ".ci/run" in commands(build)
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["steps"][-1]["with"] == {"attestations": True}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_no_workflow_may_write_to_the_repository() -> None:
    for name in ("test", "release"):
        assert workflow(name)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(
    ("printed", "ended", "sentence", "code"),
    [
        ("No known vulnerabilities found", 0, "No known vulnerabilities found", 0),
        ("Found 1 known vulnerability in 1 package\nanyio 4.0 PYSEC-1", 1, "anyio 4.0 PYSEC-1", 1),
        (
            "urllib3: Max retries exceeded with url",
            1,
            "the index that knows their faults cannot be reached",
            0,
        ),
        (
            "No known vulnerabilities found\nanyio Dependency not found on PyPI and could not be audited: anyio (4.0)",
            0,
            "Of the dependencies, 1 are not audited",
            0,
        ),
    ],
)
def test_an_audit_reports_faults_and_unaudited_dependencies(
    tmp_path: Path, printed: str, ended: int, sentence: str, code: int
) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "audit", tmp_path / "scripts")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n[ \"$1\" = -c ] && exit 0\nprintf '%s\\n' '{printed}'\nexit {ended}\n")
    python.chmod(0o755)
    done = subprocess.run([tmp_path / "scripts" / "audit"], capture_output=True, text=True, check=False)
    assert sentence in done.stdout
    assert done.returncode == code


def test_dependencies_are_audited() -> None:
    assert "scripts/audit" in commands(workflow("test")["jobs"]["audit"])
    assert "\nscripts/audit " in (ROOT / "scripts/check").read_text()


def test_the_tests_must_cover_most_lines() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["coverage"]["report"]["fail_under"] >= 85
    assert "scripts/coverage" in commands(workflow("test")["jobs"]["coverage"])


def test_the_documents_name_every_tool() -> None:
    from cortex.front import tools

    readme = (ROOT / "README.md").read_text()
    for name in {line.name for toolset in ("code", "memory") for line in tools.TOOLSETS[toolset]}:
        assert f"`{name}`" in readme
    page = (ROOT / "docs" / "TOOLS.md").read_text()
    for name in tools.TOOLS:
        assert f"`{name}`" in page


def test_links_between_documents_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_picture_of_a_session_is_small_and_runs_nothing() -> None:
    picture = (ROOT / "docs" / "session.svg").read_text()
    assert len(picture) <= picture_of.BYTES_MAX
    assert not re.search(r"<script|href|url\(|\bon\w+=", picture)
    for command in picture_of.COMMANDS:
        assert html.escape(command) in picture
    assert picture_of.draw([("a <b>", ["\x1b[1mbold\x1b[0m & plain"])]).count("<text") == 3
