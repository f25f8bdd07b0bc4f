"""Module names → files: tsconfig.json files that extend one another, names and entries of packages;
Python's packages and roots.
"""

from __future__ import annotations

import json

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_roots import read_roots
from cortex.indexer.syntax.source import Source, decode, digest


def project(root, files):
    changes = {}
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (root / path).write_text(text)
        if path.endswith((".ts", ".js", ".py", ".rs")) and "node_modules" not in path:
            source = decode(path, text.encode())
            assert isinstance(source, Source)
            changes[path] = facts_of(source, digest(text.encode()))
    loaded = Project(
        LANGUAGES, read_roots(str(root), [path for path, facts in changes.items() if facts is not None])
    )
    loaded.update(changes)
    return loaded


def paths(base="", **aliases):
    options = {"paths": {key.replace("_", "@") + "/*": [value] for key, value in aliases.items()}}
    return {"compilerOptions": options | ({"baseUrl": base} if base else {})}


TEXT = "export const x = 1;\n"

SCRIPTS = {
    "a test that imports the built file of a source": (
        {"package.json": {}, "src/core/x.ts": TEXT},
        ("test/units/x.test.js", "../../dist/core/x.js", "src/core/x.ts"),
    ),
    "of a package of several": (
        {
            "package.json": {},
            "packages/app/package.json": {"name": "app"},
            "packages/app/src/x.ts": TEXT,
            "src/x.ts": TEXT,
        },
        ("packages/app/test/x.test.ts", "../dist/esm/x.mjs", "packages/app/src/x.ts"),
    ),
    "a built file that is there": (
        {"package.json": {}, "dist/x.js": TEXT, "src/x.ts": TEXT},
        ("test/x.test.js", "../dist/x.js", "dist/x.js"),
    ),
    "a file of no build": ({"package.json": {}, "src/x.ts": TEXT}, ("test/x.test.js", "../other/x.js", "")),
    "a tsconfig that extends one above it": (
        {"tsconfig.base.json": paths("src", _="./*"), "app/tsconfig.json": {"extends": "../tsconfig.base"}},
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "of several that it extends the last": (
        {
            "one.json": paths(_="./one/*"),
            "two.json": paths(_="./src/*"),
            "tsconfig.json": {"extends": ["./one.json", "./two.json"]},
        },
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "one of an installed package, with a comment and a comma": (
        {
            "node_modules/@acme/config/tsconfig.json": paths("../../../src", _="./*"),
            "app/tsconfig.json": '{ // shared\n  "extends": "@acme/config/tsconfig.json",\n}',
        },
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "what a tsconfig without files references": (
        {
            "tsconfig.json": {"files": [], "references": [{"path": "./tsconfig.app.json"}]},
            "tsconfig.app.json": paths(_="./src/*"),
        },
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "a circle of tsconfig files": (
        {
            "tsconfig.json": {"extends": "./other.json"} | paths(_="./src/*"),
            "other.json": {"extends": "./tsconfig.json"},
        },
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "the nearest tsconfig": (
        {"tsconfig.json": paths(_="./lib/*"), "app/tsconfig.json": paths(_="../src/*")},
        ("app/a.ts", "@/x", "src/x.ts"),
    ),
    "no tsconfig beside the nearest": (
        {"tsconfig.json": paths(_="./src/*"), "app/tsconfig.json": {}},
        ("app/a.ts", "@/x", ""),
    ),
    "baseUrl alone": (
        {"tsconfig.json": {"compilerOptions": {"baseUrl": "src"}}},
        ("app/a.ts", "x", "src/x.ts"),
    ),
    "the project's own name": (
        {"package.json": {"name": "shop", "exports": {".": "./dist/x.js"}}},
        ("app/a.ts", "shop", "src/x.ts"),
    ),
    "an entry with conditions": (
        {
            "package.json": {
                "name": "shop",
                "exports": {"./y": {"types": "./x.d.ts", "import": {"node": "./src/x.js"}}},
            }
        },
        ("app/a.ts", "shop/y", "src/x.ts"),
    ),
    "an entry with a star, and the longest of several": (
        {
            "package.json": {
                "name": "@acme/shop",
                "exports": {"./*": "./no/*.js", "./in/*": "./dist/esm/*.mjs"},
            }
        },
        ("app/a.ts", "@acme/shop/in/x", "src/x.ts"),
    ),
    "what outDir was built from": (
        {
            "tsconfig.json": {"compilerOptions": {"outDir": "made", "rootDir": "src"}},
            "package.json": {"name": "shop", "main": "./made/x.js"},
        },
        ("app/a.ts", "shop", "src/x.ts"),
    ),
    "an import of the package's own": (
        {"package.json": {"imports": {"#in/*": {"default": "./dist/*.js"}}}},
        ("app/a.ts", "#in/x", "src/x.ts"),
    ),
    "another package of the workspace": (
        {"packages/shop/package.json": {"name": "shop"}, "packages/shop/src/x.ts": TEXT},
        ("app/a.ts", "shop/x", "packages/shop/src/x.ts"),
    ),
    "an ending that the file is built to": ({}, ("app/a.ts", "../src/x.js", "src/x.ts")),
    "a name that is nobody's": (
        {"package.json": {"name": "shop"}, "tsconfig.json": {"extends": "../outside.json"}},
        ("app/a.ts", "shopping/x", ""),
    ),
}


@pytest.mark.parametrize("case", SCRIPTS)
def test_script_imports_resolve_to_the_right_files(case, tmp_path):
    files, (importer, module, expected) = SCRIPTS[case]
    texts = {"app/a.ts": TEXT, "src/x.ts": TEXT, "lib/x.ts": TEXT, importer: TEXT} | files
    assert project(tmp_path, texts).find_module(module, importer) == expected


PYTHON = {
    "a standard module, not one of its own package by that name": (
        ["pkg/__init__.py", "pkg/json.py", "pkg/a.py"],
        ("pkg/a.py", "json", ""),
    ),
    "a standard module, not one beside it": (["tools/queue.py", "tools/a.py"], ("tools/a.py", "queue", "")),
    "the project's own package, not an example's": (
        ["src/flask/__init__.py", "examples/one/flask/__init__.py", "tests/apps/flask.py", "tests/a.py"],
        ("tests/a.py", "flask", "src/flask/__init__.py"),
    ),
    "a name-space package below src": (
        ["src/ns/part/mod.py", "tests/a.py"],
        ("tests/a.py", "ns.part.mod", "src/ns/part/mod.py"),
    ),
    "a name-space package in several roots": (
        ["one/src/ns/one/__init__.py", "two/src/ns/two/b.py", "one/tests/a.py"],
        ("one/tests/a.py", "ns.two.b", "two/src/ns/two/b.py"),
    ),
    "the root of its own project among several": (
        ["one/src/shop/__init__.py", "two/src/shop/__init__.py", "two/tests/a.py"],
        ("two/tests/a.py", "shop", "two/src/shop/__init__.py"),
    ),
    "a script beside it": (["tools/report.py", "tools/a.py"], ("tools/a.py", "report", "tools/report.py")),
    "a module of its own package by the whole name": (
        ["pkg/__init__.py", "pkg/report.py", "report/__init__.py", "pkg/a.py"],
        ("pkg/a.py", "pkg.report", "pkg/report.py"),
    ),
    "no module of its own package by the last name": (
        ["pkg/__init__.py", "pkg/report.py", "pkg/a.py"],
        ("pkg/a.py", "report", ""),
    ),
}


#: content of the project's folder, with `importing file, module, expected file`
INSIDE = {
    "a module by its whole name": (["__init__.py", "b.py", "sub/a.py"], ("sub/a.py", "shop.b", "b.py")),
    "the package itself": (["__init__.py", "a.py"], ("a.py", "shop", "__init__.py")),
    "a module of a package that the folder is in": (
        ["__init__.py", "b.py", "a.py"],
        ("a.py", "trade.shop.b", "b.py"),
    ),
    "a module by a relative name": (["__init__.py", "b.py", "sub/a.py"], ("sub/a.py", "..b", "b.py")),
    "a package of the same name inside it": (
        ["__init__.py", "shop/__init__.py", "a.py"],
        ("a.py", "shop", "shop/__init__.py"),
    ),
    "no module of another package": (["__init__.py", "b.py", "a.py"], ("a.py", "store.b", "")),
    "nothing where the folder is no package": (["b.py", "a.py"], ("a.py", "shop.b", "")),
}


@pytest.mark.parametrize("case", INSIDE)
def test_imports_resolve_where_the_project_itself_is_a_package(case, tmp_path):
    paths, (importer, module, expected) = INSIDE[case]
    texts = {path: "" if path.endswith("__init__.py") else "x = 1\n" for path in paths}
    assert project(tmp_path / "shop", texts).find_module(module, importer) == expected


@pytest.mark.parametrize("case", PYTHON)
def test_python_imports_resolve_to_the_right_files(case, tmp_path):
    paths, (importer, module, expected) = PYTHON[case]
    texts = {path: "" if path.endswith("__init__.py") else "x = 1\n" for path in paths}
    assert project(tmp_path, texts).find_module(module, importer) == expected


#: files that are unreadable, or on which a parser may fail in other ways
BROKEN = ("[package\n", "a = " + "[" * 5000, "a = " + "1" * 5000)


def test_a_crate_has_its_cargo_name_and_each_test_is_its_own_crate(tmp_path):
    loaded = project(
        tmp_path,
        {
            "Cargo.toml": '[package]\nname = "disk-store"\n',
            "src/lib.rs": "pub mod disk;\n",
            "src/disk.rs": "pub struct Disk;\n",
            "tests/whole.rs": "use disk_store::disk::Disk;\nmod common;\n",
            "tests/common/mod.rs": "pub fn make() {}\n",
            "odd/Cargo.toml": '[package]\nname = "odd"\n[lib]\nname = "even"\npath = "./here.rs"\n',
            "odd/here.rs": "pub fn here() {}\n",
            **{f"broken{at}/Cargo.toml": text for at, text in enumerate(BROKEN)},
            **{f"broken{at}/src/lib.rs": "pub fn here() {}\n" for at in range(len(BROKEN))},
        },
    )
    assert loaded.find_module("disk_store.disk", "tests/whole.rs") == "src/disk.rs"
    assert loaded.find_module("common", "tests/whole.rs") == "tests/common/mod.rs"
    assert loaded.find_module("crate.common", "tests/whole.rs") == "tests/common/mod.rs"
    assert loaded.find_module("even", "tests/whole.rs") == "odd/here.rs"
    assert not loaded.find_module("odd", "tests/whole.rs")
    assert loaded.find_module("broken0", "tests/whole.rs") == "broken0/src/lib.rs"
