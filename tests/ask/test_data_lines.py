"""Lines of files of data that name a definition."""

from cortex.ask.references.word_lines import TextLine, WordLines, list_others


def test_a_name_of_several_parts_counts_as_a_key_or_a_value():
    for name in ("skip-missing-interpreters", "answer_tokens", "sendMail", "BASE", "aA" * 30_000):
        lines = {("a.yml", 1): TextLine("", f"{name}: true"), ("a.yml", 2): TextLine("", f"- no {name} here")}
        others = list_others(name, WordLines(lines, truncated=False), (), (), 1_000)
        assert (others["total"], others["texts"]) == (1, 1), name[:30]


def test_a_path_to_a_function_counts_behind_a_key_of_the_same_name():
    lines = {("a.yml", 1): TextLine("", "run: app:run"), ("a.yml", 2): TextLine("", "run: fast")}
    others = list_others("run", WordLines(lines, truncated=False), (), (), 1_000)
    assert [(file["file"], [site["line"] for site in file["sites"]]) for file in others["files"]] == [
        ("a.yml", [1])
    ]
