"""Calls of the small projects, as compilers and type checkers resolve them: no expectation is our
own output.

`graph_truth.py --sample 0 --keep tests/golden/sites REFERENCE=COPY` wrote the files, over copies of
tests/golden/graph (of Go one with a go.mod): path, line, column and kind of a site, and its
possible targets; none for an external target.
"""

import importlib
import shutil
from pathlib import Path

import pytest

from tests.graph.small_graphs import project_of

ROOT = Path(__file__).parents[2]
SITES = sorted((ROOT / "tests" / "golden" / "sites").iterdir())
#: sites where the graph differs, each with its reason
DIFFERENT = {
    "c.clangd main.c:9:8": "a pointer in a struct",
    "c.clangd main.c:11:4": "a pointer in a variable",
    "c.clangd trap.c:16:9": "a pointer in a struct",
    "c.clangd trap.c:17:15": "a pointer in a struct",
    "c.clangd trap.c:18:4": "a pointer in a parameter",
    "go.gopls trap/trap.go:40:4": "the type of a switch over types",
    "java.javac app/trap/Trap.java:40:26": "a class without a name",
    "java.javac overloads/Evident.java:75:19": "a class without a name",
    "java.javac overloads/Evident.java:75:61": "a class without a name",
    "java.javac overloads/Picks.java:61:8": "an argument whose type is not evident",
    "php.intelephense trap.php:43:5": "a closure in a variable",
    "typescript.typescript trap.ts:21:52": "ours names the body behind the signatures of its overloads",
    "typescript.typescript trap.ts:47:16": "ours names the body behind the signatures of its overloads",
}


def _read(place):
    """Return site → (kind, targets)."""
    sites = {}
    for line in place.read_text().splitlines():
        path, row, column, kind, *places = line.split(" ")
        sites[path, int(row), int(column)] = (
            kind,
            {(file, int(at)) for file, _, at in (p.rpartition(":") for p in places)},
        )
    return sites


@pytest.mark.parametrize("place", SITES, ids=lambda place: place.name)
def test_calls_agree_with_the_reference_resolvers(monkeypatch, tmp_path, place):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "bench")
    truth = importlib.import_module("graph_truth")
    folder = shutil.copytree(ROOT / "tests" / "golden" / "graph" / place.stem, tmp_path / place.stem)
    if place.stem == "go":
        (folder / "go.mod").write_text("module example.com/shop\n\ngo 1.19\n")
    language = truth.LANGUAGES[place.suffix[1:]]
    project = truth.load(folder, list(importlib.import_module("truth_sites").files_of(folder, language)))
    answers = truth.our_answers(project)
    different = []
    for site, (kind, places) in _read(place).items():
        ours, _ = answers.of.get(site, (frozenset(), ""))
        sure = ours and site not in answers.unsure
        wrong = sure and kind != "value" and not ours & places
        missed = kind == "static" and not (sure and ours & places)
        if wrong or missed:
            different.append(f"{place.name} {':'.join(map(str, site))}")
    assert sorted(different) == sorted(
        site_name for site_name in DIFFERENT if site_name.startswith(f"{place.name} ")
    )


def test_an_edge_with_one_candidate_is_not_sure(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "bench")
    text = 'int setenv(const char* a, const char* b, int c) { return 0; }\nint run() { return setenv("A", "B", 1); }\n'
    answers = importlib.import_module("graph_truth").our_answers(project_of({"ports.cpp": text}))
    assert answers.unsure == {("ports.cpp", 2, 19)}


def test_casts_and_declarations_behind_macros_are_no_calls_of_cpp(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "bench")
    truth_sites = importlib.import_module("truth_sites")
    text = "class SHOP_API Disk : public Base {\n public:\n  Disk(int n);\n  int size() { return static_cast<int>(count(1)); }\n};\n"
    (tmp_path / "disk.hpp").write_text(text)
    (file,) = truth_sites.files_of(tmp_path, ("cpp",))
    assert truth_sites.sites_of(file) == [("disk.hpp", 4, 39)]


def test_names_before_a_block_and_between_operands_are_sites_of_kotlin_on_request(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "scripts" / "bench")
    truth_sites = importlib.import_module("truth_sites")
    text = "fun run(disk: Disk) {\n  disk.use { it.save(1) }\n  retry(2) { start() }\n  disk store size\n  val class1 = if (ok) { 1 } else { 2 }\n}\n"
    (tmp_path / "disk.kt").write_text(text)
    (file,) = truth_sites.files_of(tmp_path, ("kotlin",))
    plain = [("disk.kt", 2, 16), ("disk.kt", 3, 2), ("disk.kt", 3, 13)]
    assert truth_sites.sites_of(file) == plain
    assert truth_sites.sites_of(file, bare=True) == [("disk.kt", 2, 7), *plain, ("disk.kt", 4, 7)]
