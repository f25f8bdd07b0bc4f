"""Long files without definitions: their outlines, and the sections that a question wants."""

import asyncio

import pytest

from cortex.ask.reading.read import Read, read
from cortex.ask.reading.read_outlines import outline_document
from cortex.ask.references.uses import UsesQuestion, uses
from ipc.messages import Filters
from tests.ask.searched import ask

LICENCE = "<!--\nLicensed to the public.\n\nUnless required by applicable law\n\nit is as is.\n-->\n"
PLUGINS = "".join(
    f"      <plugin>\n        <artifactId>plugin-{at}</artifactId>\n        <version>{at}</version>\n      </plugin>\n"
    for at in range(30)
)
POM = (
    f'<?xml version="1.0"?>\n{LICENCE}<project>\n  <name>Shop</name>\n\n  <properties>\n'
    "    <javaVersion>17</javaVersion>\n  </properties>\n\n"
    f"  <build>\n    <plugins>\n{PLUGINS}    </plugins>\n  </build>\n</project>\n"
)
CARGO = (
    '[package]\nname = "shop"\n\n[features]\ndefault = ["color"]\nwrap_help = ["dep:terminal_size"]\n\n'
    "[dependencies]\n" + "".join(f'crate{at} = "1.{at}"\n' for at in range(80)) + '\n[lints]\nrust = "deny"\n'
)
CI = "name: ci\n\non: push\n\njobs:\n" + "".join(
    f"  job{at}:\n    steps:\n      - run: make part{at}\n" for at in range(30)
)


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("documents")
    for name, text in {"pom.xml": POM, "Cargo.toml": CARGO, "ci.yml": CI}.items():
        (root / name).write_text(text)
    return serve(root)


@pytest.mark.parametrize(
    ("path", "query", "line"),
    [
        ("pom.xml", "which java version", "    <javaVersion>17</javaVersion>"),
        ("Cargo.toml", "the feature wrap_help", 'wrap_help = ["dep:terminal_size"]'),
        ("Cargo.toml", "lints of rust", 'rust = "deny"'),
    ],
)
def test_a_question_shows_the_sections_with_its_words(served, path, query, line):
    (entry,) = asyncio.run(read(served.context(), Read((path,), query)))["code"]
    shown = "\n".join(piece["text"] for piece in entry["pieces"]).split("\n")
    assert line in shown
    assert len(shown) < 60
    (bare,) = asyncio.run(read(served.context(), Read((path,))))["code"]
    assert "pieces" not in bare
    (other,) = asyncio.run(read(served.context(), Read((path,), "zebra")))["code"]
    assert "pieces" not in other


def test_a_long_section_of_data_is_an_outline_of_its_keys(served):
    (bare,) = asyncio.run(read(served.context(), Read(("ci.yml:jobs",))))["code"]
    assert "pieces" not in bare
    assert (bare["start"], bare["name"]) == (5, "jobs")
    rows = [row["text"].strip() for row in bare["outline"]]
    assert {f"job{at}:" for at in range(30)} <= set(rows)
    assert not any("make" in row for row in rows)
    (entry,) = asyncio.run(read(served.context(), Read(("ci.yml:jobs",), "part7")))["code"]
    shown = "\n".join(piece["text"] for piece in entry["pieces"]).split("\n")
    assert "      - run: make part7" in shown
    assert len(shown) < 8
    (short,) = asyncio.run(read(served.context(), Read(("Cargo.toml:features",))))["code"]
    assert short["pieces"][0]["text"].startswith("[features]")


def test_a_search_shows_the_lines_of_a_data_section_with_its_words(served):
    answer = ask(served, "make part21 of job21", filters=Filters(paths=("*.yml",)))
    text = "\n".join(piece["text"] for entry in answer["code"] for piece in entry["pieces"])
    assert "make part21" in text
    assert "make part19" not in text


def test_an_outline_of_markup_has_its_elements_and_no_licence():
    lines = dict(enumerate(POM.split("\n"), 1))
    rows = [row["text"].strip() for row in outline_document(lines, "pom.xml", 4_000)]
    assert rows == ["<project>", "<name>Shop</name>", "<properties>", "<build>"]


def test_a_key_of_a_configuration_file_is_a_line_with_the_name(served):
    answer = asyncio.run(uses(served.context(), UsesQuestion("wrap_help")))
    (block,) = answer["sites"]
    assert [(file["file"], [site["line"] for site in file["sites"]]) for file in block["files"]] == [
        ("Cargo.toml", [6])
    ]
    answer = asyncio.run(uses(served.context(), UsesQuestion("terminal_size")))
    assert "pom.xml" not in str(answer["sites"])


def test_the_outline_of_yaml_has_all_keys_of_an_indent():
    services = "".join(
        f"  service{at}:\n    image: a\n    # why\n    test: b\n    environment:\n      KEY{at}: c\n"
        for at in range(90)
    )
    lines = dict(enumerate(f"x-common: &common\n  restart: always\nservices:\n{services}".split("\n"), 1))
    rows = [row["text"] for row in outline_document(lines, "docker-compose.yml", 10_000)]
    assert rows == [
        "x-common: &common",
        "  restart: always",
        "services:",
        *(f"  service{at}:" for at in range(90)),
    ]
