"""Lines of files of data that name a definition."""

from cortex.ask.references.word_lines import TextLine, WordLines, list_others


def test_a_path_to_a_function_counts_behind_a_key_of_the_same_name():
    lines = {("a.yml", 1): TextLine("", "run: app:run"), ("a.yml", 2): TextLine("", "run: fast")}
    others = list_others("run", WordLines(lines, truncated=False), (), (), 1_000)
    assert [(file["file"], [site["line"] for site in file["sites"]]) for file in others["files"]] == [
        ("a.yml", [1])
    ]
