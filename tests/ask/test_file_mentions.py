"""Uses of files and of components by the names of their files."""

import asyncio

import orjson
import pytest

from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import write

FILES = {
    "install/setup.sh": "function prepare() {\n  echo 1\n}\n",
    "other/setup.sh": "function other() {\n  echo 1\n}\n",
    "install.sh": "source install/setup.sh\nsource other/setup.sh\n. ./install/setup.sh.old\n",
    "run.sh": 'source "$HOME/install/setup.sh"\n',
    "other/run.sh": "source setup.sh\n",
    "docs/guide/scaling.md": "# Scaling\n\nSee [limits](#limits).\n\n## Limits\n\nTen.\n",
    "docs/guide/index.md": "# Guide\n\n[Scaling](scaling.md#limits)\n",
    "docs/faq.md": "# Questions\n\n[Scaling](./guide/scaling.md) and autoscaling.md\n",
    "mkdocs.yml": "nav:\n  - Scaling: guide/scaling.md\n",
    ".github/workflows/build.yaml": "on: workflow_call\n",
    ".github/workflows/release.yaml": "jobs:\n  image:\n    uses: ./.github/workflows/build.yaml\n",
    "web/icons.ts": "export default { a: 1 }\n",
    "web/main.ts": "import icons from './icons'\nregister('icons', icons)\n",
    "web/Person.vue": "<template><p/></template>\n",
    "web/List.vue": "<script setup>\nimport Person from './Person.vue'\n</script>\n<template>\n<Person/>\n</template>\n",
    "web/bar/one.ts": "export const one = 1\n",
    "web/bar/two.ts": "export const two = 2\n",
    "web/other/bar/three.ts": "export const three = 3\n",
    "web/page.ts": "import { one } from './bar/one'\nopen('bar')\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("site")
    write(root, FILES)
    return serve(root)


def places_of(served, symbol):
    """Return (heading, places) of each block of an answer."""
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    blocks = orjson.loads(orjson.dumps(answer))["sites"]
    return [
        (block["of"], [f"{file['file']}:{row['line']}" for file in block["files"] for row in file["sites"]])
        for block in blocks
    ]


@pytest.mark.parametrize(
    ("symbol", "file", "places"),
    [
        ("install/setup.sh", "install/setup.sh", ["install.sh:1", "run.sh:1"]),
        ("other/setup.sh", "other/setup.sh", ["install.sh:2", "other/run.sh:1"]),
        ("scaling.md", "docs/guide/scaling.md", ["mkdocs.yml:2", "docs/faq.md:3", "docs/guide/index.md:3"]),
        ("build.yaml", ".github/workflows/build.yaml", [".github/workflows/release.yaml:3"]),
    ],
)
def test_a_file_is_used_where_its_path_is_written(site, symbol, file, places):
    assert places_of(site, symbol) == [(file, places)]


def test_a_name_of_two_files_has_the_lines_of_each(site):
    assert [heading for heading, _ in places_of(site, "setup.sh")] == ["install/setup.sh", "other/setup.sh"]


def test_the_file_of_a_component_is_the_component(site):
    assert places_of(site, "Person.vue") == [("Person", ["web/List.vue:5"])]
    assert places_of(site, "web/Person.vue") == [("Person", ["web/List.vue:5"])]


def test_a_bare_name_of_a_file_also_has_the_other_lines_with_it(site):
    answer = asyncio.run(uses(site.context(), UsesQuestion("icons")))
    others = orjson.loads(orjson.dumps(answer))["elsewhere"]
    assert [(file["file"], [row["line"] for row in file["sites"]]) for file in others["files"]] == [
        ("web/main.ts", [2])
    ]


def test_a_name_of_two_folders_means_all_files_of_each_and_the_lines_with_it(site):
    assert places_of(site, "bar") == [("web/bar", ["web/page.ts:1"]), ("web/other/bar", [])]
    others = orjson.loads(orjson.dumps(asyncio.run(uses(site.context(), UsesQuestion("bar")))))["elsewhere"]
    assert [(file["file"], [row["line"] for row in file["sites"]]) for file in others["files"]] == [
        ("web/page.ts", [2])
    ]
