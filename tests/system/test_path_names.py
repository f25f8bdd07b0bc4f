"""Paths as Windows reads them, compared with pathlib."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from cortex.system import hosts
from cortex.system.folders import path_names
from cortex.terms.text.spelling import path_below, read_file_lines, read_globs

ROOT = r"C:\Users\Ann\shop"


@pytest.mark.parametrize(
    "path", [r"C:\x", "c:/x", r"\\server\share\x", r"\\?\C:\x", r"\x", "/x", r"C:x", "C:", r"x\y", "", "."]
)
def test_a_path_of_windows_is_one_place_only_with_a_drive_as_pathlib_has_it(path):
    assert path_names.is_absolute(path, windows=True) == PureWindowsPath(path).is_absolute()


@pytest.mark.parametrize("path", ["/x", "x", "", "C:/x", r"\x"])
def test_elsewhere_a_path_is_one_place_with_a_slash(path):
    assert path_names.is_absolute(path, windows=False) == PurePosixPath(path).is_absolute()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (r"C:\Users\Ann\shop\src\a.py", "src/a.py"),
        ("c:/users/ann/SHOP/src/a.py", "src/a.py"),
        (r"src\..\lib\a.py", "lib/a.py"),
        ("src/a.py", "src/a.py"),
        (r"C:\Users\Ann\shop", ""),
        (r"C:\Users\Ann\shopping\a.py", ""),
        (r"D:\Users\Ann\shop\a.py", ""),
        (r"..\other\a.py", ""),
        (r"\\server\share\a.py", ""),
        (r"\Users\Ann\shop\a.py", "a.py"),
    ],
)
def test_a_path_of_windows_is_named_from_its_root_in_either_slash_and_any_case(path, expected):
    assert path_names.inside(path, ROOT, windows=True) == expected
    full = PureWindowsPath(ROOT, path)
    if expected and ".." not in path:
        assert full.relative_to(ROOT) == PureWindowsPath(expected)


def test_the_root_of_a_drive_is_a_folder_like_others():
    assert path_names.inside(r"C:\a\b.py", "C:\\", windows=True) == "a/b.py"
    assert path_names.inside(r"\\server\share\a.py", r"\\server\share", windows=True) == "a.py"


def test_elsewhere_a_backslash_is_a_letter_and_case_counts():
    assert path_names.inside("/p/a\\b.py", "/p", windows=False) == "a\\b.py"
    assert path_names.inside("/P/a.py", "/p", windows=False) == ""
    assert path_names.inside("/a.py", "/", windows=False) == "a.py"
    assert path_names.inside("../q/a.py", "/p", windows=False) == ""
    assert path_names.stays_inside("a\\..\\b", windows=False)


@pytest.mark.parametrize(
    "path", ["../a", "/a", r"..\a", r"src\..\..\a", r"\a", "C:/a", "C:a", "a.py:stream", "C:"]
)
def test_paths_that_leave_a_folder_on_windows_are_recognised(path):
    assert not path_names.stays_inside(path, windows=True)
    assert path_names.stays_inside("src/a.py", windows=True)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///C:/Users/Ann/shop", ROOT),
        ("file:///c%3A/Users/Ann/shop", ROOT),
        ("file:///C|/Users/Ann/shop", ROOT),
        ("file://localhost/C:/Users/Ann/shop", ROOT),
        ("file:///C:/", "C:\\"),
        ("file:///C:/My%20shop", r"C:\My shop"),
        ("file://server/share/shop", r"\\server\share\shop"),
    ],
)
def test_a_root_that_an_editor_of_windows_names_is_a_path(uri, path):
    assert PureWindowsPath(path_names.path_of(uri, windows=True)) == PureWindowsPath(path)


def test_a_root_that_an_editor_names_elsewhere_is_a_path():
    assert path_names.path_of("file:///home/ann/my%20shop", windows=False) == "/home/ann/my shop"
    assert (
        path_names.path_of("https://host/x", windows=False) == path_names.path_of("file:", windows=True) == ""
    )


def test_folders_of_cortex_on_windows_are_in_the_profile():
    variables = {"LOCALAPPDATA": r"D:\Local", "APPDATA": r"D:\Roaming"}
    folders = {
        kind: path_names.own_folder(kind, r"C:\Users\Ann", variables) for kind in ("cache", "run", "config")
    }
    assert folders == {
        "cache": r"D:\Local\cortex\cache",
        "run": r"D:\Local\cortex\run",
        "config": r"D:\Roaming\cortex",
    }
    for variables in ({}, {"LOCALAPPDATA": r"\Local"}):
        usual = PureWindowsPath(path_names.own_folder("run", r"C:\Users\Ann", variables))
        assert usual == PureWindowsPath(r"C:\Users\Ann\AppData\Local\cortex\run")


def test_the_home_folder_on_windows_is_the_profile_not_the_variable_of_a_shell():
    variables = {"HOME": "/c/Users/Ann", "USERPROFILE": r"C:\Users\Ann"}
    assert path_names.home_variable(variables, windows=True) == "USERPROFILE"
    assert (
        path_names.home_variable(variables, windows=False)
        == path_names.home_variable({}, windows=True)
        == "HOME"
    )


def test_a_file_that_an_agent_names_on_windows_is_found_whatever_its_case():
    for path in (
        r"c:\users\ann\shop\src\a.py",
        "file:///c%3A/Users/Ann/shop/src/a.py",
        "C:/Users/Ann/shop/src/a.py",
    ):
        assert path_below(path, ROOT) == "src/a.py"
    assert path_below(r"C:\Users\Ann\shopping\a.py", ROOT).endswith("shopping/a.py")
    assert path_below("/home/Ann/SHOP/a.py", "/home/ann/shop") == "/home/Ann/SHOP/a.py"
    assert read_globs(r"c:\users\ann\shop\src\*.py", ROOT) == ("/src/*.py",)
    assert read_file_lines("file:///C:/shop/a.py:12").line == 12


def test_a_program_on_windows_is_searched_on_the_path_alone(tmp_path, monkeypatch):
    ours, theirs = tmp_path / "bin", tmp_path / "project"
    for folder in (ours, theirs):
        folder.mkdir()
        (folder / "git.exe").write_bytes(b"")
    monkeypatch.chdir(theirs)
    assert hosts.find_program("git", str(ours), windows=True) == str(ours / "git.exe")
    assert hosts.find_program("git", "", windows=True) is None
