"""The shell examples in README.md and docs/, run unchanged in a scratch home, over a small project
with the names that they use, and a real set.

tests/front/http/test_docs.py runs the examples of HTTP.md that call a server with curl,
test_howto.py those of HOWTO.md, which belong together.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, make_project
from tests.wait_until import BOUND_S

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
HOWTO = ROOT / "docs" / "HOWTO.md"
DOCUMENTS = (ROOT / "README.md", *sorted({*(ROOT / "docs").glob("*.md")} - {HOWTO}))

#: begin of an example that is not run here → why
NOT_RUN = {
    "uv tool install .": "installs from the network; tests of the wheel do it without",
    "claude mcp add": "another's program; tests/e2e/test_two_commands.py starts what it writes down",
    "cortex up": "stays until Ctrl-C; its form with --detach is run",
    "honcho start": "stays until Ctrl-C; tests/processes start the Procfile's processes",
    "cortex serve": "stays until Ctrl-C; tests/front/http start it",
    "cortex open": "opens a browser; tests/front/http/test_open_page.py",
    "cortex index https://": "fetches from the network; tests/front/test_cloning.py has a local one",
    "cortex search --project encode/httpx": "asks what was fetched from the network",
    "cortex search --project shop:python": "asks packages of an environment; tests/front/test_dependencies.py",
    "curl ": "tests/front/http/test_docs.py",
    ".venv/bin/python scripts/bench": "a benchmark: takes others' repositories, and minutes",
}
#: example → its possible exit codes, where 0 is not the only one
CODES = {
    "cortex doctor": (0, 3),  # says what this machine lacks
    "cortex pattern 'requests.get($URL, $$$)' python": (0, 2),  # names the missing extra
    "cortex install": (0, 1),  # writes only after consent
    "cortex clean": (0, 1),
    "cortex clean --older-than 60d": (0, 1),
}
#: files with the names in the examples
SOURCES = {
    "src/auth/session.py": "".join(
        f"def session_{n}(token: str) -> str:\n    return refresh(token, {n})\n\n\n" for n in range(20)
    )
    + "def refresh(token: str, times: int) -> str:\n    return token * times\n",
    "src/auth/check.py": (
        "from src.auth.session import refresh\n\n\ndef check_password(name: str, password: str) -> bool:\n"
        '    """Passwords are checked against the stored hash."""\n    return refresh(password, 1) != name\n'
    ),
    "src/fetch.py": "import requests\n\n\ndef fetch(url: str) -> str:\n    return requests.get(url, timeout=3).text\n",
    "store/ledger.go": (
        "package store\n\ntype Ledger struct{}\n\nfunc (l *Ledger) Transfer(from, to string) error { return nil }\n\n"
        'func pay(l *Ledger) error { return l.Transfer("a", "b") }\n'
    ),
    ".gitignore": "node_modules/\n",
    "node_modules/left/index.js": "function pad(text) {\n  return text;\n}\n",
    "handlers/request.py": "def handle(request):\n    return respond(request)\n\n\ndef respond(request):\n    return request\n",
}


def examples() -> list[str]:
    """Return each line of each shell block in order, without its comments.

    A line of alternatives with a slash between them gives several examples.
    """
    texts = [path.read_text(encoding="utf-8") for path in DOCUMENTS]
    blocks = [block for text in texts for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    lines = (re.split(r"\s+# ", line)[0] for block in blocks for line in block.splitlines())
    return list(
        dict.fromkeys(example.strip() for line in lines for example in line.split(" / ") if example.strip())
    )


def reason(example: str) -> str:
    """Return why an example is not run; "" if it is."""
    return next((why for begin, why in NOT_RUN.items() if _begins(example, begin)), "")


def _begins(example: str, begin: str) -> bool:
    """Return whether `example` begins with the words `begin`: `cortex up --detach` is not the
    example `cortex up`.
    """
    return example == begin or (example.startswith(begin) and " --detach" not in example)


RUN = [example for example in examples() if not reason(example)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("examples")
    with (
        pytest.MonkeyPatch.context() as patch,
        make_project(folder, cache, patch, idle_exit_s=20) as new_project,
    ):
        (folder / "home").mkdir()
        new_project.environment["HOME"] = str(folder / "home")
        for name, text in SOURCES.items():
            path = new_project.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (new_project.root / ".git").rmdir()
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
            subprocess.run([*git, *words], cwd=new_project.root, check=True)
        changed = new_project.root / "src/auth/check.py"
        changed.write_text(changed.read_text().replace("refresh(password, 1)", "refresh(password, 2)"))
        assert new_project.run("index").returncode == 0
        yield new_project


@pytest.mark.parametrize("example", RUN)
def test_an_example_for_a_shell_does_what_it_says(example, place):
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail\n{example}"],
        cwd=place.root,
        env={name: value for name, value in os.environ.items() if name != "CORTEX_PROJECT"}
        | place.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * BOUND_S,
        check=False,
    )
    assert done.returncode in CODES.get(example, (0,)), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_every_example_is_run_or_says_why_not():
    assert len(RUN) >= 20
    for begin in NOT_RUN:
        assert any(_begins(example, begin) for example in examples()), f"no example begins {begin!r} any more"
    for example in CODES:
        assert example in RUN, f"{example!r} is no example any more"
