"""Trees and ignore rules that are drawn: a scan has the files that git lists."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_ignores.py"
#: sets of rules in each test
NUMBER = 50


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_ignores", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(0, 6 * NUMBER, NUMBER))
def test_a_scan_has_the_files_that_git_lists(fuzz, tmp_path, seed):
    assert [drawn for drawn in fuzz.run(tmp_path, NUMBER, seed) if drawn[-1]] == []


def test_a_difference_is_found(fuzz, tmp_path, monkeypatch):
    monkeypatch.setattr("cortex.terms.selection.wildmatch._stars", lambda _glob, start: (b"[^/]*", start + 1))
    assert any(drawn for *_, drawn in fuzz.run(tmp_path, 10 * NUMBER, 0))


# Found by drawing, or on the way there.
@pytest.mark.parametrize(
    "rules",
    [
        b"\xef\xbb\xbf\t\n", b"a/b**\n", b"src**/b\n", b"[c-a]\n", b"caf\xc3?\n", b"a\0b\n", b"a\\ \n", b"a\\  \n",
        b"\r\r\n", b"[[:bad:]]\n*\n!a\n", b"/**\n!/a\n", b"**\\/b\n", b"[\\a-b]\n", b"a/**/\n", b"//a\n", b"a//\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("folds", [False, True])
def test_odd_rules_mean_what_git_reads(fuzz, tmp_path, monkeypatch, rules, folds):
    paths = [
        "\t",
        "A",
        "B",
        "a ",
        "b",
        "c",
        "caf\u00e9",
        "a\\",
        "\r",
        "src/b",
        "srcx/b",
        "x/a/b",
        "x/a/bc/d",
        "x/srcx/c/b",
    ]
    place = fuzz.Place(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, place.environment[name])
    place.make_tree(paths)
    drawn = fuzz.Drawn({".gitignore": rules, "x/.gitignore": rules}, folds=folds)
    assert fuzz.differences(place, paths, drawn) == []
