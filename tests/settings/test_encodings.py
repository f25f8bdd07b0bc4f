"""The encodings that .editorconfig and .gitattributes name for the files of a project."""

import pytest

from cortex.settings.encodings import Encodings


@pytest.fixture
def named(tmp_path):
    def ask(files, path):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return Encodings(str(tmp_path)).named(path)

    return ask


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*", "a/b.c", True),
        ("*.c", "a/b.c", True),
        ("*.c", "b.cc", False),
        ("*.{c,h}", "src/x.h", True),
        ("*.{c,h}", "src/x.hpp", False),
        ("{a,b{1,2}}.c", "b2.c", True),
        ("file{1..9}.c", "file3.c", True),
        ("[ab]x.c", "bx.c", True),
        ("[!ab]x.c", "bx.c", False),
        ("?.c", "ab.c", False),
        ("/top.c", "top.c", True),
        ("/top.c", "a/top.c", False),
        ("src/*.c", "src/a.c", True),
        ("src/*.c", "src/deep/a.c", False),
        ("src/**.c", "src/deep/a.c", True),
        ("Makefile", "a/Makefile", True),
        ("{single}.c", "single.c", True),
        ("a.b", "axb", False),
        ("[", "[", True),
    ],
)
def test_a_section_counts_for_the_paths_that_its_glob_means(named, glob, path, matches):
    assert named({".editorconfig": f"[{glob}]\ncharset = latin1\n"}, path) == ("latin1" if matches else "")


def test_the_nearest_editorconfig_and_the_last_section_win_up_to_the_root(named):
    files = {
        ".editorconfig": "[*.c]\ncharset=latin1\n[*.h]\ncharset = latin1\n[x.h]\ncharset = utf-8 ; not latin1\n",
        "a/.editorconfig": "[*.c]\nCharset = UTF-16LE # wide\n",
        "b/.editorconfig": "root = true\n[*.txt]\nindent_size = 2\n",
    }
    assert named(files, "z.c") == "latin1"
    assert named(files, "y.h") == "latin1"
    assert named(files, "x.h") == ""
    assert named(files, "a/deep/z.c") == "utf-16le"
    assert named(files, "a/z.h") == "latin1"
    assert named(files, "b/z.c") == ""


def test_attributes_of_git_count_before_the_editors(named):
    files = {
        ".editorconfig": "[*]\ncharset = latin1\n",
        ".gitattributes": "* text=auto\n*.rc text working-tree-encoding=UTF-16LE eol=crlf\n*.c encoding=cp1251\n"
        '"with space/*.q" encoding=gbk\nno.rc -working-tree-encoding\n# *.h encoding=big5\n',
        "deep/.gitattributes": "*.c encoding=koi8-r\n",
    }
    assert named(files, "m.rc") == "UTF-16LE"
    assert named(files, "a/no.rc") == "latin1"
    assert named(files, "x.c") == "cp1251"
    assert named(files, "deep/er/x.c") == "koi8-r"
    assert named(files, "with space/x.q") == "gbk"
    assert named(files, "x.h") == "latin1"


def test_a_link_or_a_binary_file_names_nothing(named, tmp_path):
    (tmp_path / "other").write_text("[*]\ncharset = latin1\n")
    (tmp_path / ".editorconfig").symlink_to(tmp_path / "other")
    (tmp_path / ".gitattributes").write_bytes(b"*.c encoding=\xff\xfe\n\0\xff")
    assert named({}, "a.py") == ""
