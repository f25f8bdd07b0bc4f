"""The training data: reading a git folder, accepted licences, and the pairs of files and
commits.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from scripts.train import mine, pairs, sources
from scripts.train.pairs import Pair

LISTED = Path(__file__).parents[2] / "scripts" / "train" / "repositories.tsv"

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person. The above copyright notice stays."
GPL = "GNU GENERAL PUBLIC LICENSE Version 3"

PYTHON = '''"""Reads and writes ledgers of a small shop."""


def open_ledger(path):
    """Open the ledger of one year for reading.

    Args:
        path: where it lies
    """
    # the caller closes it
    return path.open("rb", buffering=4096)
'''
GO = """package mux

// ServeRoute finds the handler of a route and calls it.
func (r *Router) ServeRoute(w http.ResponseWriter, req *http.Request) {
	handler := r.match(req)
	handler.ServeHTTP(w, req)
}

// Copyright 2020 The Authors. All rights reserved.
func other() { fmt.Println("nothing that is described here") }
"""


def pairs_of(path: str, text: str) -> list[Pair]:
    return list(pairs.file_pairs(path, text, random.Random(2)))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git folder where the clones are expected, with two commits."""
    work = tmp_path / "work"
    work.mkdir()

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=work, check=True, capture_output=True)

    git("init", "-b", "main")
    (work / "LICENSE").write_text(MIT)
    (work / "ledger.py").write_text(PYTHON * 2)
    (work / "tests").mkdir()
    (work / "tests" / "test_ledger.py").write_text(PYTHON * 2)
    git("add", ".")
    git("commit", "-m", "Add the ledger of the shop")
    (work / "ledger.py").write_text(
        PYTHON * 2 + "\n\ndef close_ledger(file):\n    file.flush()\n    file.close()\n"
    )
    git("commit", "-am", "Flush a ledger before it is closed")
    (tmp_path / "clones").mkdir()
    (work / ".git").rename(tmp_path / "clones" / "shop+ledger")
    return tmp_path / "clones"


def source(clones: Path) -> sources.Source:
    folder = clones / "shop+ledger"
    return sources.Source("shop/ledger", sources.git(folder, "rev-parse", "HEAD").strip(), "MIT")


def test_a_docstring_is_paired_with_its_definition_without_it() -> None:
    doc_pair = next(pair for pair in pairs_of("shop/ledger.py", PYTHON) if pair.kind == "doc")
    assert doc_pair.query == "Open the ledger of one year for reading."
    assert "buffering=4096" in doc_pair.document
    assert "Open the ledger" not in doc_pair.document


def test_a_name_is_paired_with_a_body_that_does_not_hold_it() -> None:
    name_pair = next(pair for pair in pairs_of("mux.go", GO) if pair.kind == "name")
    assert name_pair.query == "ServeRoute"
    assert "ServeRoute" not in name_pair.document
    assert "r.match(req)" in name_pair.document


def test_the_head_of_a_file_is_paired_with_its_bodies() -> None:
    head_pair = next(pair for pair in pairs_of("shop/ledger.py", PYTHON) if pair.kind == "head")
    assert head_pair.query == "Reads and writes ledgers of a small shop."
    assert "buffering" in head_pair.document


def test_legal_text_describes_nothing() -> None:
    queries = [pair.query for pair in pairs_of("mux.go", GO) if pair.kind == "doc"]
    assert queries == ["ServeRoute finds the handler of a route and calls it."]


@pytest.mark.parametrize(
    ("path", "text", "query"),
    [
        ("a.rs", "/// Joins two paths with a slash.\n#[inline]\npub fn join(a: &str) -> String {\n    format!(a, b, c, d, e, f)\n}\n", "Joins two paths with a slash."),
        ("A.java", "/**\n * Joins two paths with a slash.\n * @param a the first\n */\npublic String join(Path a) {\n    return first + other + last;\n}\n", "Joins two paths with a slash."),
        ("a.cs", "/// <summary>\n/// Joins two paths with a slash.\n/// </summary>\npublic string Join(Path a)\n{\n    return first + other + last;\n}\n", "Joins two paths with a slash."),
        ("a.ex", '@doc """\nJoins two paths with a slash.\n\n## Examples\n"""\ndef join(a, b) do\n  Enum.join([a, b, c, d, e, f], "/")\nend\n', "Joins two paths with a slash."),
        ("a.hs", "-- | Joins two paths with a slash.\njoinPath :: Path -> Path -> Path\njoinPath a b = concat [a, slash, b, rest]\n", "Joins two paths with a slash."),
        ("a.lua", "--- Joins two paths with a slash.\nfunction M.join(a, b)\n  return table.concat({a, b}, separator)\nend\n", "Joins two paths with a slash."),
        ("a.sh", "# Joins two paths with a slash.\njoin_path() {\n  printf '%s/%s' \"$first\" \"$second\" | normalise\n}\n", "Joins two paths with a slash."),
    ],
)  # fmt: skip
def test_comments_of_each_style_are_read(path: str, text: str, query: str) -> None:
    assert [pair.query for pair in pairs_of(path, text) if pair.kind == "doc"] == [query]


def test_the_bodies_sub_words_are_those_of_the_embedder() -> None:
    assert pairs.subwords("getHTTPResponse2 snake_case") == ["get", "http", "response", "snake", "case"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MIT, "MIT"),
        (GPL, "refused"),
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("Redistribution and use in source and binary forms, with\nor without: 1. Redistributions of", "BSD"),
        ("All rights reserved by the vendor.", ""),
    ],
)
def test_a_licence_is_known_by_its_words(text: str, name: str) -> None:
    assert sources.name_licence(text) == name


def test_a_repository_gives_pairs_of_its_files_and_commits(repository: Path) -> None:
    mined = pairs.repository_pairs(source(repository), repository, seed=1)
    assert {pair.path for pair in mined} == {"ledger.py"}  # not the pairs of the tests
    commit = next(pair for pair in mined if pair.query == "Flush a ledger before it is closed")
    assert "file.flush()" in commit.document


def test_the_same_seed_gives_the_same_pairs(repository: Path) -> None:
    first, second = (pairs.repository_pairs(source(repository), repository, seed=1) for _ in range(2))
    assert first == second


def test_a_licence_is_read_from_the_revision(repository: Path) -> None:
    listed_source = source(repository)
    assert sources.find_licence(listed_source.folder(repository), listed_source.revision) == "MIT"


def test_an_excluded_repository_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    listed, excluded = tmp_path / "list.tsv", tmp_path / "exclude.txt"
    listed.write_text("shop/ledger\tabc\tMIT\n")
    excluded.write_text("# why\nShop/Ledger\n")
    with pytest.raises(SystemExit, match="shop/ledger"):
        mine.mine(listed, excluded, tmp_path, tmp_path / "out", seed=1)


def test_every_listed_repository_has_a_revision_and_an_accepted_licence() -> None:
    accepted = {name for name, _ in sources.LICENCES} - {"refused"}
    listed = sources.read_list(LISTED)
    assert len({entry.name.lower() for entry in listed}) == len(listed) >= 250
    assert all(len(entry.revision) == 40 and entry.licence in accepted for entry in listed)
