"""A folder served from the project around it: answers render places, and never alter file text."""

import asyncio
import dataclasses
import re
import subprocess

import pytest

from cortex.front.subfolder import _PLACES, _SENTENCES
from cortex.front.tools import choose
from tests.conftest import open_project

FOLDER, FILE = "packages/api", "packages/api/src/load.py"
SOURCE = f'''"""Loads {FILE} and {FILE}:3."""

#: {FILE} is the default
DEFAULT = "{FILE}"


def load_data(path="{FILE}"):
    """Read {FILE}, as {FOLDER} does."""
    # {FILE} may be gone
    return open(path).read()


def main():
    """Load {FILE}."""
    return load_data("{FILE}")
'''
TEST = f'''from packages.api.src.load import load_data


def test_load_data():
    """{FILE} is loaded."""
    assert load_data("{FILE}")
'''
DOCUMENT = f"# Loading {FILE}\n\n`load_data` reads {FILE}.\n\n## {FILE} by hand\n\nCall `load_data`.\n"
DIFF = f'''--- a/{FILE}
+++ b/{FILE}
@@ -13,3 +13,3 @@
 def main():
-    """Load."""
+    """Load {FILE}."""
     return load_data("{FILE}")
'''
CALLS = [
    *(("cortex_search", {"query": "load data", "detail": detail}) for detail in ("auto", "full", "snippet")),
    *(("cortex_exact", {"query": "load_data", "detail": detail}) for detail in ("auto", "full", "snippet")),
    ("cortex_exact", {"query": '"src/load.py"', "detail": "full"}),
    ("cortex_graph", {"operation": "callers", "target": "load_data", "include_context": True}),
    ("cortex_graph", {"operation": "callees", "target": "main", "include_context": True, "detail": "full"}),
    ("cortex_graph", {"operation": "impact", "target": "src/load.py", "include_context": True}),
    ("cortex_outline", {"path": "src/load.py"}),
    ("cortex_pattern", {"pattern": "load_data($X)", "language": "python"}),
    ("cortex_explore", {"query": "how is data loaded"}),
    ("cortex_explore", {"query": "load_data"}),
    ("cortex_explore", {"diff": DIFF}),
    ("find_related", {"file": "src/load.py"}),
    ("code_context", {"query": "load data"}),
    ("cortex_read", {"places": ("src/load.py:8", "main", "docs/loading.md")}),
    ("cortex_uses", {"symbol": "load_data"}),
    ("cortex_uses", {"symbol": "src/load.py:8"}),
    ("cortex_uses", {"symbol": "main", "direction": "callees"}),
    ("cortex_read", {"places": ["src/load.py", "src/load.py:3-5", "load_data", "src"]}),
    ("cortex_read", {"places": ["load.py:14", "docs/loading.md"]}),
]

#: fields with translated paths: places, sentences of Cortex, titles, and the query
RENDERED = _PLACES | _SENTENCES | {"title", "query"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("mono")
    texts = {FILE: SOURCE, f"{FOLDER}/tests/test_load.py": TEST, f"{FOLDER}/docs/loading.md": DOCUMENT}
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git = ("git", "-C", str(root), "-c", "user.name=Ann", "-c", "user.email=ann@localhost")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", f"Load {FILE} at last")):
        subprocess.run((*git, *command), check=True)
    return open_project(root)


def call(served, name, arguments, audience="program"):
    tool = choose(("code", "agent"))[name]
    config = dataclasses.replace(served.config, subfolder=FOLDER)
    context = dataclasses.replace(served.context(config), audience=audience)
    return asyncio.run(tool.call(context, tool.arguments(**arguments)))


def strings(value, key=""):
    """Yield (field, string) for every string in an answer; raw chunks are parsed."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)
    elif isinstance(value, str):
        yield key, value


@pytest.mark.parametrize(
    ("name", "arguments", "audience"),
    [*((*each, "program") for each in CALLS), ("cortex_search", {"query": "load data"}, "agent")],
    ids=lambda value: str(value)[:60],
)
def test_no_tool_alters_the_text_of_a_file_that_is_full_of_its_own_path(served, name, arguments, audience):
    fields = list(strings(call(served, name, arguments, audience)))
    texts = [(key, re.sub("</?em>", "", text)) for key, text in fields if key not in RENDERED]
    assert not [text for text in texts if re.search(r"(?<!packages/api/)src/load\.py", text[1])]
    places = {text.partition(":")[0] for key, text in fields if key in ("file", "file_path", "at")}
    assert places
    assert not [place for place in places if place.startswith(FOLDER)]


def test_a_variable_and_a_comment_are_quoted_as_the_file_has_them(served):
    answer = call(served, "cortex_pattern", {"pattern": "load_data($X)", "language": "python"})
    values = {row["variables"]["X"] for row in answer["results"]}
    assert f'"{FILE}"' in values
    answer = call(served, "cortex_exact", {"query": "main", "detail": "full"})
    assert f"Load {FILE}." in " ".join(text for key, text in strings(answer) if key == "comment_text")


def test_a_heading_in_a_title_is_quoted_as_the_document_has_it(served):
    answer = call(served, "cortex_search", {"query": "loading by hand", "detail": "full"})
    titles = [text for key, text in strings(answer) if key == "title" and "loading.md" in text]
    assert titles
    assert all(title.startswith("docs/loading.md") for title in titles)
    assert any(FILE in title for title in titles)
