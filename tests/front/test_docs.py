"""docs/TOOLS.md, docs/CONFIG.md and docs/RANKING.md match the code; the agents' texts have the
routing rules.
"""

import dataclasses
import re
import shlex
import sys
from pathlib import Path

import orjson
import pytest

from cortex.engines.milvus.place import Milvus
from cortex.front.cli import commands
from cortex.front.cli.parsing.generated import make_command
from cortex.front.mcp.server import describe
from cortex.front.tools import TOOLS, choose, instruct
from cortex.ranking.weights import WITH_VECTORS, WITHOUT_VECTORS
from cortex.settings.layers import ALIASES
from cortex.settings.table import SECTIONS
from cortex.terms.observations import ROWS
from scripts import tools_page
from tests.front.tools_page import section_of

CODE = choose(("code",))
INSTRUCTIONS = instruct(CODE)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_and_argument_is_documented(name):
    for argument in TOOLS[name].schema["properties"]:
        assert f"`{argument}`" in section_of(name), argument


def test_the_page_of_tools_is_what_the_code_and_its_template_give():
    assert (DOCS / "TOOLS.md").read_text() == tools_page.render(), "run scripts/tools_page.py"


def test_a_tool_without_a_text_of_its_own_has_a_section_of_its_module(monkeypatch):
    template = tools_page.TEMPLATE.read_text()
    shorter = re.sub(r"<!-- tool cortex_outline.*?(?=<!-- tool)", "", template, flags=re.DOTALL)
    module = sys.modules[TOOLS["cortex_outline"].function.__module__]
    monkeypatch.setattr(module, "__doc__", "The tool.\n\nThe answer has `path`.\n")
    page = tools_page.render(shorter)
    assert page.count("### `cortex_outline`: ") == 1
    assert "| `path` | string | | File or folder" in page
    assert "|\n\nThe answer has `path`.\n" in page.partition("\n## Tools of memory\n")[0]


def test_the_tools_of_observations_are_rows_of_one_table():
    lines = (DOCS / "TOOLS.md").read_text().splitlines()
    rows = [
        number
        for number, line in enumerate(lines)
        for name in ROWS
        if line.startswith(f"| `{name}` | `cortex")
    ]
    assert rows == list(range(rows[0], rows[0] + len(ROWS)))


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_is_documented_with_its_command(name):
    row = next(
        line
        for line in (DOCS / "TOOLS.md").read_text().splitlines()
        if line.startswith(f"| `{name}` | `cortex")
    )
    command = make_command(TOOLS[name])
    usage = (command.usage or "").removesuffix(" [options]")
    assert f"| `cortex {command.name} {usage}` |" in row


@pytest.mark.parametrize("name", TOOLS)
def test_the_name_of_a_tool_is_snake_case(name):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)


def test_every_field_of_the_index_block_is_documented():
    text = (DOCS / "TOOLS.md").read_text()
    for field in ("generation", "pending", "pending_count", "degraded", "indexing", "message", "stale"):
        assert f"`{field}`" in text or f'"{field}"' in text


SETTINGS = {
    f"{name}.{field.name}": (name, field)
    for name, cls in (SECTIONS | {"milvus": Milvus}).items()
    for field in dataclasses.fields(cls)
}


@pytest.mark.parametrize(("section", "field"), SETTINGS.values(), ids=SETTINGS)
def test_every_setting_is_documented_with_its_variable_and_default(section, field):
    row = next(
        line
        for line in (DOCS / "CONFIG.md").read_text().splitlines()
        if line.startswith(f"| `{section}.{field.name}`")
    )
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert f"`CORTEX_{section.replace('.', '_')}_{field.name}`".upper() in cells[1].upper()
    default = field.default
    if isinstance(default, tuple):
        default = ",".join(default)
    if isinstance(default, bool):
        default = str(default).lower()
    assert cells[2] == (f"`{default}`" if default != "" else "empty")


def test_the_aliases_of_the_environment_are_documented():
    text = (DOCS / "CONFIG.md").read_text()
    assert all(f"`{name}`" in text for name in (*ALIASES, "CORTEX_PROJECT", "CLAUDE_PROJECT_DIR"))


def test_the_documented_weights_are_the_ones_in_use():
    text = (DOCS / "RANKING.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\S+) \| (\S+) \|$", text, re.MULTILINE)
    documented = {
        name: tuple(0.0 if cell == "–" else float(cell.replace("−", "-")) for cell in cells)
        for name, *cells in rows
    }
    fields = [field.name for field in dataclasses.fields(WITH_VECTORS)]
    assert documented == {
        name: (getattr(WITH_VECTORS, name), getattr(WITHOUT_VECTORS, name)) for name in fields
    }


RULES = [
    "natural language question",
    '"how", "why", "explain"',
    "semantic understanding",
    "exact identifier",
    "boolean operators",
    "faster for exact matches",
    "semantic context",
    "prefix and fuzzy matching",
    "structural query",
    "asks about architecture",
    "safest for ambiguous queries",
]


@pytest.mark.parametrize("rule", RULES)
def test_the_instructions_carry_the_routing_rules(rule):
    assert rule.lower() in " ".join(INSTRUCTIONS.split()).lower()


def test_each_routing_rule_is_one_line():
    rules = [line for line in INSTRUCTIONS.splitlines() if line.startswith("- ")]
    assert len(rules) >= 9
    assert all(re.search(r": (?:cortex|code|find)_\w+", line) for line in rules)


SYNTAX = [
    "Full-text keyword search",
    "file_path:",
    "Boolean operators: AND, OR, NOT, +required, -excluded",
    '"error handling"',
    "Prov* (prefix)",
    "Provdier~1 (fuzzy)",
    "text:handler AND tags:go AND -file_path:test",
    "text: (default)",
]


@pytest.mark.parametrize("line", SYNTAX)
def test_the_description_of_cortex_exact_carries_its_syntax(line):
    assert line in " ".join(TOOLS["cortex_exact"].description.split())


EXAMPLES = [
    "Find all uses of sync.RWMutex",
    "How does the mutex protect the collection?",
    "Provider AND interface",
    "Prov* interface",
    "text:Provider",
    'text:"error handling"',
    "(text:handler OR text:controller) AND",
    "authentication design decisions",
    "authentication handler implementation",
    "database connection settings",
    "how does authentication work",
    "error handling patterns",
    '"chunk_types": ["documentation"]',
    '"chunk_types": ["symbols", "definitions"]',
    '"chunk_types": ["data"]',
]


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_examples_that_agents_are_not_sent_are_documented(line):
    assert line in " ".join((DOCS / "TOOLS.md").read_text().split())


#: tokens (bytes of JSON / 4) that the list of tools and the instructions may cost an agent, and how
#: many of them cortex_explore may take
LIST_TOKENS_MAX, EXPLORE_TOKENS = 2_600, 300


def test_the_list_of_tools_with_the_instructions_is_cheap():
    listed = [describe(tool) for tool in CODE.values()]
    tokens = (len(orjson.dumps({"tools": listed})) + len(orjson.dumps(INSTRUCTIONS))) / 4
    assert tokens <= LIST_TOKENS_MAX - (0 if "cortex_explore" in TOOLS else EXPLORE_TOKENS)


@pytest.mark.parametrize("name", TOOLS)
def test_a_description_has_one_example_or_is_two_lines(name):
    text = TOOLS[name].description
    assert text.count("Example: ") == 1 or len(text.splitlines()) <= 2


def test_a_description_speaks_of_tools_that_exist():
    for text in (instruct(TOOLS), *(tool.description for tool in TOOLS.values())):
        assert set(re.findall(r"\b(?:cortex|code)_\w+", text)) <= set(TOOLS)


def examples() -> list[str]:
    """Return our commands in all examples for a shell."""
    texts = [path.read_text() for path in (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))]
    blocks = (block for text in texts for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    lines = (line.partition(" #")[0] for block in blocks for line in block.splitlines())
    return sorted({command.strip() for line in lines for command in _commands(line)})


def _commands(line: str) -> list[str]:
    """Yield the commands of one line, which a slash, a pipe or brackets may separate."""
    parts = re.split(r"(?:^|\| *|\(|/ +)cortex +", re.sub(r"\)$", "", line.strip()))
    return [piece.partition(" | ")[0].removesuffix(" / ").strip() for piece in parts[1:]]


@pytest.mark.parametrize("example", examples())
def test_every_example_of_a_command_is_one_that_its_parser_takes(example):
    words = shlex.split(example)
    by_count = ((count, commands.find(" ".join(words[:count]))) for count in (1, 2, 3))
    count, command = next((count, command) for count, command in by_count if command is not None)
    command.parser().read(words[count:])


def test_the_documents_hold_examples():
    assert len(examples()) > 25
