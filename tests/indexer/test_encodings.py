"""Files in any encoding and text under the suffixes of binary files, through an index run."""

from __future__ import annotations

import msgspec
import pytest

from cortex.indexer.run import index
from cortex.indexer.store import manifest as manifests
from cortex.settings.config import Config
from tests.indexer.indexed_tree import chunks


@pytest.fixture
def empty(tmp_path) -> Config:
    (tmp_path / "own").mkdir()
    return Config(root=(tmp_path / "own").resolve())


def texts(config: Config, path: str) -> str:
    return "\n".join(
        chunk["text"] for chunk in chunks(config).values() if chunk["metadata"]["file_path"] == path
    )


def test_files_are_indexed_as_they_or_their_project_say_and_again_when_that_changes(empty):
    root = empty.root
    (root / "a.py").write_bytes(
        "# -*- coding: gbk -*-\n# 计算订单总额\ndef total(): return 1\n".encode("gbk")
    )
    (root / "b.c").write_bytes("/* цена */\nint price;\n".encode("koi8_r"))
    (root / "plain.c").write_text("/* größer, höher, schöner */\nint plain;\n")
    (root / ".gitattributes").write_text("*.c encoding=koi8-r\n")
    report = index(empty)
    assert "计算订单总额" in texts(empty, "a.py")
    assert "цена" in texts(empty, "b.c")
    remarks = {remark.path: remark.reason for remark in report.remarks}
    assert remarks == {
        "a.py": "not UTF-8: read as GBK, as declared",
        "b.c": "not UTF-8: read as KOI8-R, as declared",
    }
    assert index(empty).indexed == 0
    (root / ".gitattributes").write_text("*.c encoding=cp1251\n")
    assert index(empty).indexed == 3  # those that are not UTF-8, and the file itself
    assert "цена" not in texts(empty, "b.c")
    (root / ".gitattributes").unlink()
    index(empty)
    entry = manifests.load(empty.manifest).files["b.c"]
    assert entry.remarks[0].endswith("a guess")
    assert index(empty).indexed == 0


def test_text_is_what_its_bytes_are_whatever_its_suffix(empty):
    root = empty.root
    for name in (
        "heat.mo",
        "parts.lib",
        "cube.obj",
        "grid.dat",
        "x.bin",
        "x.db",
        "x.o",
        "x.a",
        "x.doc",
        "x.class",
        "x.pt",
    ):
        (root / name).write_text(f"needle_{name.replace('.', '_')} 1 2 3\n")
        (root / f"raw_{name}").write_bytes(b"needle\0\1\2\n")
    (root / "picture.png").write_text("no picture\n")
    index(empty)
    indexed = {chunk["metadata"]["file_path"] for chunk in chunks(empty).values()}
    assert indexed == {path.name for path in root.iterdir() if path.is_file()} - {"picture.png"} - {
        path.name for path in root.glob("raw_*")
    }
    entries = manifests.load(empty.manifest).files
    assert {entries[path.name].skipped for path in root.glob("raw_*")} == {"binary"}


def test_translations_of_qt_are_no_typescript(empty):
    (empty.root / "de.ts").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS><source>Open</source></TS>\n'
    )
    (empty.root / "real.ts").write_text("export function real() { return 1 }\n")
    (empty.root / "film.ts").write_bytes(b"\x47\x40\0\0" * 50)
    report = index(empty)
    assert not report.remarks
    languages = {
        chunk["metadata"]["file_path"]: chunk["metadata"]["language"] for chunk in chunks(empty).values()
    }
    assert languages == {"de.ts": "xml", "real.ts": "typescript"}


def test_files_of_an_index_that_read_fewer_encodings_and_repaired_no_syntax_are_read_again(empty):
    root = empty.root
    (root / "b.c").write_bytes("/* \u0446\u0435\u043d\u0430 */\nint price;\n".encode("koi8_r"))
    (root / "odd.kt").write_text("fun a() = when (x) { is A if b -> 1\n else -> 2 }\nfun last() = 1\n")
    (root / "plain.kt").write_text("fun plain() = 1\n")
    index(empty)
    manifest = manifests.load(empty.manifest)
    old = {"b.c": "not UTF-8: read as Latin-1", "odd.kt": "syntax errors"}
    for path, remark in old.items():
        manifest.files[path] = msgspec.structs.replace(manifest.files[path], remarks=(remark,), encoding="")
    manifests.save(empty.manifest, manifest)
    assert index(empty).indexed == len(old)
    assert index(empty).indexed == 0
