"""Answers that show files in other encodings, or with syntax that was not understood, say so; their
lines are those of the file.
"""

import asyncio

import orjson
import pytest

from cortex.ask.freshness import RESERVATIONS_MAX
from cortex.front.tools import TOOLS
from tests.conftest import open_project

FILES = {
    "guessed.py": "# 计算订单总额\n\n\ndef guessed_total():\n    return 1\n".encode("gbk"),
    "declared.py": "# coding: euc-jp\n# 在庫を調べる\ndef declared_stock():\n    return 1\n".encode("euc-jp"),
    "wide.py": "# заказ\r\ndef wide_order():\r\n    return 1\r\n".encode("utf-16"),
    "plain.py": b"def plain_sum():\n    return 1\n",
    "shop.kt": b"fun before(): Int = 1\nfun kind(x: Any): Int = when (x) {\n    is String if x.length > 1 -> 1\n"
    b"    else -> 3\n}\nfun after(): Int = before()\n",
}
FILES_TEXT = {
    path: FILES[path].decode(codec)
    for path, codec in {"guessed.py": "gbk", "declared.py": "euc-jp", "wide.py": "utf-16"}.items()
}
GUESS = "guessed.py is not UTF-8: read as GBK, a guess."
GUARD = "shop.kt: line 3 of this file was not understood (Kotlin guard)."


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for name, raw in FILES.items():
        (root / name).write_bytes(raw)
    return open_project(root), root


def ask(project, name, **arguments):
    tool = TOOLS[name]
    answer = asyncio.run(tool.call(project[0].context(), tool.check(arguments)))
    return orjson.loads(orjson.dumps(answer))


def message(answer):
    return answer["index"].get("message", "")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("cortex_read", {"places": ["guessed.py:1-5"]}, GUESS),
        ("cortex_exact", {"query": "订单总额"}, GUESS),
        ("cortex_outline", {"path": "guessed.py"}, GUESS),
        ("cortex_search", {"query": "guessed total"}, GUESS),
        ("cortex_read", {"places": ["shop.kt:2"]}, GUARD),
        ("cortex_outline", {"path": "shop.kt"}, GUARD),
        ("cortex_explore", {"query": "shop.kt:6"}, GUARD),
        ("cortex_graph", {"operation": "callers", "target": "before"}, GUARD),
    ],
)
def test_an_answer_states_the_doubt_about_a_file(project, tool, arguments, sentence):
    assert sentence in message(ask(project, tool, **arguments))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cortex_outline", {"path": "plain.py"}),
        ("cortex_outline", {"path": "declared.py"}),
        ("cortex_read", {"places": ["wide.py:1-3"]}),
    ],
)
def test_a_file_without_doubt_needs_no_sentence(project, tool, arguments):
    assert not message(ask(project, tool, **arguments))


@pytest.mark.parametrize(
    ("word", "path", "line"),
    [("订单总额", "guessed.py", 1), ("在庫を調べる", "declared.py", 2), ("заказ", "wide.py", 1)],
)
def test_a_literal_is_found_on_its_line_in_any_encoding(project, word, path, line):
    (hit,) = ask(project, "cortex_exact", query=word)["results"]
    assert hit["chunk"]["metadata"]["file_path"] == path
    assert f"{line}: {FILES_TEXT[path].splitlines()[line - 1]}" in hit["chunk"]["text"]


def test_the_changed_lines_of_a_file_are_read_in_its_encoding(project):
    changed = "# coding: euc-jp\n# 新しい注文\n# 在庫を調べる\ndef declared_stock():\n    return 2\n"
    (project[1] / "declared.py").write_bytes(changed.encode("euc-jp"))
    try:
        answer = ask(project, "cortex_read", places=["declared.py:1-5"])
        shown = "\n".join(piece["text"] for entry in answer["code"] for piece in entry["pieces"])
        assert shown == changed.rstrip()
    finally:
        (project[1] / "declared.py").write_bytes(FILES["declared.py"])


def test_the_context_of_a_graph_answer_is_read_in_the_encoding_of_its_file(project):
    (project[1] / "guessed.py").write_bytes(FILES["guessed.py"])
    answer = ask(project, "cortex_graph", operation="dependents", target="guessed_total", context_lines=5)
    assert "\ufffd" not in str(answer)


def test_sentences_on_many_files_are_bounded(tmp_path):
    for number in range(6):
        (tmp_path / f"f{number}.py").write_bytes(f"# 计算订单总额\ntotal_{number} = 1\n".encode("gbk"))
    served = open_project(tmp_path)
    places = [f"f{number}.py:1-2" for number in range(6)]
    text = message(ask((served, tmp_path), "cortex_read", places=places))
    assert text.count("a guess.") == RESERVATIONS_MAX
    assert "3 more such remarks" in text
