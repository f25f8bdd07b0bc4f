"""The vendored libraries of the page and its tests are unchanged, with licences."""

import importlib
from pathlib import Path

import orjson
import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def vendor_page(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("vendor_page")


def test_every_vendored_library_is_unchanged_and_has_its_licence_and_version(vendor_page):
    for folder in {library.folder for library in vendor_page.LIBRARIES}:
        assert vendor_page.faults(folder) == []
        rows = orjson.loads((folder / vendor_page.MANIFEST).read_bytes())
        libraries = [entry for entry in vendor_page.LIBRARIES if entry.folder == folder]
        assert [(row["name"], row["version"], row["licence"]) for row in rows] == [
            (entry.name, entry.version, entry.spdx) for entry in libraries
        ]
        assert all((folder / f"{entry.name}.LICENSE").stat().st_size for entry in libraries)


def test_a_changed_library_is_reported(vendor_page, tmp_path):
    (tmp_path / "a.js").write_bytes(b"1")
    (tmp_path / "b.js").write_bytes(b"2")
    rows = [{"name": "a", "sha256": {"a.js": "0" * 64, "c.js": ""}}]
    (tmp_path / vendor_page.MANIFEST).write_bytes(orjson.dumps(rows))
    messages = " ".join(vendor_page.faults(tmp_path))
    assert "b.js is in no manifest" in messages
    assert "c.js is missing" in messages
    assert "a.js does not have the hash" in messages
