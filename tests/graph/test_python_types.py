"""Types of Python values: through functions that return their argument, declarations,
inheritance.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_roots import read_roots
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import calls_in, facts_in, project_of

_DISK = "class Disk:\n    def flush(self): ...\n"
#: subject → (the file, lines and the targets of their calls)
CASES = {
    "a cast": (
        _DISK + "def go(x):\n    cast(Disk, x).flush()\n    y = typing.cast('Disk', x)\n    y.flush()\n",
        {(4, "a:Disk.flush"), (6, "a:Disk.flush")},
    ),
    "a function that returns its argument": (
        _DISK + "async def make() -> Disk: ...\ndef go(loop):\n    copy.copy(Disk()).flush()\n"
        "    with closing(Disk()) as disk:\n        disk.flush()\n"
        "    loop.run_until_complete(make()).flush()\n    asyncio.run(make()).flush()\n",
        {
            *((line, "a:Disk") for line in (5, 6)),
            *((line, "a:Disk.flush") for line in (5, 7, 8, 9)),
            *((line, "a:make") for line in (8, 9)),
        },
    ),
    "a class of the project that is called as a container is": (
        (
            "class Queue:\n    def put(self, x): ...\ndef go(q: Queue[int], all: list[Queue], may: 'Queue[int] | None'):\n"
            "    q.put(1)\n    all[0].put(1)\n    may.put(1)\n"
        ),
        {(4, "a:Queue.put"), (5, "a:Queue.put"), (6, "a:Queue.put")},
    ),
    "the order of several bases": (
        (
            "class Base:\n    def run(self): ...\nclass Far(Base):\n    def fetch(self): ...\nclass Near(Far): ...\n"
            "class Mixin(Base):\n    def fetch(self): ...\n    def run(self): ...\nclass Both(Near, Mixin):\n"
            "    def go(self):\n        self.fetch()\n        self.run()\n"
        ),
        {(11, "a:Far.fetch"), (12, "a:Mixin.run")},
    ),
    "a parameter of a method that overrides one which says its type": (
        _DISK + "class Server:\n    def handle(self, disk: Disk, at): ...\nclass Own(Server):\n"
        "    def handle(self, disk, at):\n        disk.flush()\n        at.flush_it()\n",
        {(7, "a:Disk.flush")},
    ),
    "the result of an operator is that of its method": (
        _DISK + "class Range:\n    def __and__(self, other) -> Disk: ...\ndef go(a: Range, n: int, x):\n"
        "    disk = a & a\n    disk.flush()\n    (a & a).flush()\n    y = x / 'y'\n    y.flush()\n    z = 1 + n\n    z.flush()\n",
        {(6, "a:Range.__and__"), (7, "a:Disk.flush"), (8, "a:Range.__and__"), (8, "a:Disk.flush")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_lead_to_methods_of_the_values_type(case):
    text, wanted = CASES[case]
    project = project_of({"a.py": text})
    calls = calls_in(project, "a.py")
    assert {(edge.location.line, edge.target) for edge in calls} == wanted


def test_a_new_type_of_an_overridden_parameter_reaches_the_files_below():
    files = {
        "disk.py": "class Disk:\n    def flush(self): ...\nclass Tape:\n    def flush(self): ...\n",
        "base.py": "from disk import Disk, Tape\nclass Server:\n    def handle(self, held: Disk): ...\n",
        "between.py": "from base import Server\nclass Between(Server): ...\n",
        "own.py": "from between import Between\nclass Own(Between):\n    def handle(self, held):\n        held.flush()\n",
    }
    project = project_of(files)
    edited = files["base.py"].replace("held: Disk", "held: Tape").encode()
    assert "own.py" in project.update({"base.py": facts_of(decode("base.py", edited), digest(edited))})
    calls = calls_in(project, "own.py")
    assert [edge.target for edge in calls] == ["disk:Tape.flush"]


def test_a_named_fixture_is_found_by_its_current_name():
    conftest = (
        'import pytest\nfrom disk import Disk\n@pytest.fixture(scope="module", name="disk")\n'
        "def _disk():\n    return Disk()\n"
    )
    files = {
        "disk.py": "class Disk:\n    def flush(self): ...\nclass Tape:\n    def flush(self): ...\n",
        "tests/conftest.py": conftest,
        "tests/test_disk.py": "def test_flush(disk):\n    disk.flush()\n",
    }
    project = project_of(files)
    wanted = {(1, "tests/conftest:_disk"), (2, "disk:Disk.flush")}
    assert {(edge.location.line, edge.target) for edge in calls_in(project, "tests/test_disk.py")} == wanted
    edited = conftest.replace('name="disk"', 'name="tape"').encode()
    changed = project.update(
        {"tests/conftest.py": facts_of(decode("tests/conftest.py", edited), digest(edited))}
    )
    assert "tests/test_disk.py" in changed
    assert not [edge for edge in calls_in(project, "tests/test_disk.py") if edge.target.startswith("tests/")]


def test_a_module_in_another_root_of_a_name_space_package_is_called_by_its_whole_name():
    files = {
        "one/src/acme/core/store.py": "def save(): ...\n",
        "two/src/acme/extra/use.py": "import acme.core.store\ndef go():\n    acme.core.store.save()\n",
    }
    calls = calls_in(project_of(files), "two/src/acme/extra/use.py")
    assert [edge.target for edge in calls] == ["one/src/acme/core/store:save"]


FIXTURES = "import pytest\nfrom disk import Disk\n@pytest.fixture\ndef disk():\n    return Disk()\n"


@pytest.mark.parametrize(
    "files",
    [
        {"tests/conftest.py": "pytest_plugins = 'shop.testing.fixtures'\n"},
        {"tests/conftest.py": "pytest_plugins = ['other', 'shop.testing.fixtures']\n"},
        {"conftest.py": "pytest_plugins: tuple[str, ...] = ('shop.testing.fixtures',)\n"},
        {"tests/conftest.py": "from shop.testing.fixtures import disk\n"},
        {"tests/conftest.py": "from shop.testing.fixtures import *\n"},
        {
            "tests/conftest.py": "from .plug import tape as disk\n",
            "tests/plug.py": "from shop.testing.fixtures import disk as tape\n",
        },
        {
            "conftest.py": "pytest_plugins = ['plug']\n",
            "plug.py": "pytest_plugins = ['shop.testing.fixtures', 'plug']\n",
        },
    ],
)
def test_fixtures_of_plugins_and_of_imported_modules_reach_the_tests_below(files):
    code = {
        "disk.py": "class Disk:\n    def flush(self): ...\n",
        "shop/__init__.py": "",
        "shop/testing/__init__.py": "",
        "shop/testing/fixtures.py": FIXTURES,
        "tests/__init__.py": "",
        "tests/test_disk.py": "def test_flush(disk):\n    disk.flush()\n",
        "other/test_disk.py": "def test_flush(disk):\n    disk.flush()\n",
    }
    project = project_of(code | files)
    wanted = {(1, "shop/testing/fixtures:disk"), (2, "disk:Disk.flush")}
    assert {(edge.location.line, edge.target) for edge in calls_in(project, "tests/test_disk.py")} == wanted
    others = {edge.target for edge in calls_in(project, "other/test_disk.py")}
    assert ("shop/testing/fixtures:disk" in others) == ("conftest.py" in files)


def test_a_new_plugin_and_a_changed_fixture_reach_the_tests():
    files = {
        "disk.py": "class Disk:\n    def flush(self): ...\nclass Tape:\n    def flush(self): ...\n",
        "plug.py": FIXTURES,
        "tests/conftest.py": "",
        "tests/test_disk.py": "def test_flush(disk):\n    disk.flush()\n",
    }
    project = project_of(files)
    assert not [edge for edge in calls_in(project, "tests/test_disk.py") if edge.target == "plug:disk"]
    for path, text in (
        ("tests/conftest.py", "pytest_plugins = ['plug']\n"),
        ("plug.py", FIXTURES.replace("Disk", "Tape")),
    ):
        assert "tests/test_disk.py" in project.update({path: facts_in(path, text)})
        flushed = "disk:Tape.flush" if path == "plug.py" else "disk:Disk.flush"
        wanted = {(1, "plug:disk"), (2, flushed)}
        assert {
            (edge.location.line, edge.target) for edge in calls_in(project, "tests/test_disk.py")
        } == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project.entry-points.pytest11]\nshop = "shop.plug"\n'),
        ("pyproject.toml", '[tool.poetry.plugins."pytest11"]\nshop = "shop.plug"\n'),
        ("setup.cfg", "[options.entry_points]\npytest11 =\n    shop = shop.plug\n"),
    ],
)
def test_fixtures_of_a_plugin_that_the_project_declares_reach_all_tests(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    files = {
        "disk.py": "class Disk:\n    def flush(self): ...\n",
        "src/shop/__init__.py": "",
        "src/shop/plug.py": FIXTURES,
        "tests/test_disk.py": "def test_flush(disk):\n    disk.flush()\n",
    }
    project = Project(LANGUAGES, read_roots(str(tmp_path), files))
    project.update({path: facts_in(path, text) for path, text in files.items()})
    targets = {edge.target for edge in calls_in(project, "tests/test_disk.py")}
    assert targets == {"src/shop/plug:disk", "disk:Disk.flush"}


@pytest.mark.parametrize(
    "text", ["[options.entry_points]\npytest11 = x", "pytest11 = [", "[a]\n[a]\npytest11"]
)
def test_faulty_declarations_of_plugins_are_ignored(tmp_path, text):
    for name in ("pyproject.toml", "setup.cfg"):
        (tmp_path / name).write_text(text)
    assert read_roots(str(tmp_path), ["a.py"]).plugins == ()
