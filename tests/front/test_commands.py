"""The commands made from tools: their arguments, output and exit codes."""

import inspect
import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Meta

from cortex.front.cli import main as cli
from cortex.front.cli.commands import all_commands, find, run
from cortex.front.cli.parsing.command_groups import GROUPS, HEADINGS, headings_of
from cortex.front.cli.parsing.command_names import ALIASES, command_name
from cortex.front.cli.parsing.generated import make_command
from cortex.front.cli.rendering.shell_words import example_arguments, example_command, for_people
from cortex.front.tool import make_tool
from cortex.front.tools import PEOPLE, TOOLS, choose
from cortex.system import installation
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, EXIT_USAGE, BadRequest, CortexError
from cortex.system.loaded_code import full_version
from cortex.terms.observations import ROWS

ROOT = Path(__file__).parents[2]

INDEX = {"pending": [], "pending_count": 0, "degraded": []}
EMPTY = {
    "functions": [],
    "results": [],
    "hits": [],
    "items": [],
    "similar": [],
    "callers": [],
    "tests": [],
    "documents": [],
    "total_found": 0,
    "total_returned": 0,
    "operation": "callers",
    "index": INDEX,
}
#: tool → those of the keys that its answers have
KEYS = {
    "cortex_explore": {"functions", "index"},
    "code_context": {"hits", "index"},
    "find_related": {"similar", "callers", "tests", "documents", "index"},
    "cortex_graph": {"results", "total_found", "total_returned", "operation", "index"},
}
USUAL_KEYS = {"results", "items", "total_found", "total_returned", "index"}


class FakeSet:
    """Stands for the workers: keeps its calls, and returns one answer."""

    def __init__(self, answer=EMPTY):
        self.answer, self.arguments, self.project, self.data_dir = answer, None, None, None

    def __call__(self, tool, arguments, where):
        tool.check(arguments)
        self.arguments, self.project, self.data_dir = arguments, where.project, where.data_dir
        others = EMPTY.keys() - KEYS.get(tool.name, USUAL_KEYS)
        return json.dumps({key: value for key, value in self.answer.items() if key not in others}).encode()

    def run(self, name, *words):
        command = make_command({**TOOLS, **PEOPLE}[name], self)
        return command.run(command.parser().read(words))


def arguments_of(name, *words):
    """Return the arguments that a tool gets for these words."""
    front = FakeSet()
    front.run(name, "--json", *words)
    return front.arguments


#: tools of agents that people ask by a command with more options
OF_PEOPLE = {"cortex_candidates"}
TOOLS_WITH_COMMANDS = [tool for tool in TOOLS.values() if tool.name not in OF_PEOPLE]


@pytest.mark.parametrize("tool", TOOLS_WITH_COMMANDS, ids=lambda tool: tool.name)
def test_every_tool_has_a_command_with_an_option_for_each_argument(tool, capsys):
    assert cli.main([*command_name(tool.name).split(), "--help"]) == 0
    help_text = capsys.readouterr().out
    for argument in tool.schema["properties"]:
        assert f"--{argument.replace('_', '-')}" in help_text
    assert "--json" in help_text
    assert "--project" in help_text
    assert for_people(tool.description.splitlines()[0], tool) in help_text
    assert "Example: {" not in help_text


def test_no_two_commands_have_one_name():
    names = [command.name for command in all_commands()]
    assert len(names) == len(set(names))


def test_each_form_is_of_a_tool():
    modules = {inspect.getmodule(tool.function) for tool in (*TOOLS.values(), *PEOPLE.values())}
    forms = {name for module in modules for name in getattr(module, "FORMS", ())}
    assert forms <= {*TOOLS, *PEOPLE}


@pytest.mark.parametrize("tool", TOOLS_WITH_COMMANDS, ids=lambda tool: tool.name)
def test_omitted_arguments_are_left_to_the_tool(tool):
    words = [word.argument for word in tool.form.words if not word.optional]
    values = {"operation": "callers", "boost": "0.5"}
    arguments = arguments_of(tool.name, *(values.get(word, "x") for word in words))
    lists = {word.argument for word in tool.form.words if word.many}
    assert arguments == {word: ["x"] if word in lists else values.get(word, "x") for word in words}


@pytest.mark.parametrize(
    ("name", "words", "arguments"),
    [
        (
            "cortex_search",
            "-q x -k 3 --mode semantic --type code --type data --tag go --path a/** --exclude-path b --explain",
            {
                "query": "x",
                "limit": "3",
                "mode": "semantic",
                "chunk_types": ["code", "data"],
                "tags": ["go"],
                "paths": ["a/**"],
                "exclude_paths": ["b"],
                "explain": True,
            },
        ),
        (
            "cortex_exact",
            "x --match prefix --offset 2 --limit 5",
            {"query": "x", "match_type": "prefix", "offset": "2", "limit": "5"},
        ),
        (
            "cortex_graph",
            "path -k 9 A --to B --depth 2 --scope s --exclude e --per-level 4 --no-include-context",
            {
                "operation": "path",
                "target": "A",
                "to": "B",
                "depth": "2",
                "scope": "s",
                "exclude_patterns": ["e"],
                "max_results": "9",
                "max_per_level": "4",
                "include_context": False,
            },
        ),
        ("cortex_graph", "--operation callers A", {"operation": "callers", "target": "A"}),
        ("cortex_graph", "callers --target A", {"operation": "callers", "target": "A"}),
        ("cortex_outline", "src --max-tokens 500", {"path": "src", "max_tokens": "500"}),
        ("cortex_pattern", "f($A) python", {"pattern": "f($A)", "language": "python"}),
        ("cortex_pattern", "--language go --pattern f", {"pattern": "f", "language": "go"}),
        ("code_context", "x -k 2 --lang go", {"query": "x", "k": "2", "lang": "go"}),
        ("cortex_explore", "src/a.py:42", {"query": "src/a.py:42"}),
        ("cortex_explore", "-q save --max-tokens 900", {"query": "save", "max_tokens": "900"}),
        ("find_related", "src/a.py:42 -k 2", {"file": "src/a.py:42", "limit": "2"}),
        ("find_related", "code-src/a.py#f~1", {"chunk_id": "code-src/a.py#f~1"}),
        ("find_related", "--file a.py --line 3", {"file": "a.py", "line": "3"}),
        ("find_related", "--chunk-id code-a", {"chunk_id": "code-a"}),
        (
            "cortex_store",
            "Title --body text --tags a --tags b --of-project all --supersedes 3",
            {"title": "Title", "body": "text", "tags": ["a", "b"], "project": "all", "supersedes": ["3"]},
        ),
        ("cortex_store", "--id 3 --state deleted", {"id": "3", "state": "deleted"}),
        ("cortex_relate", "1 2", {"from_id": "1", "to_id": "2"}),
        ("cortex_relate", "1 2 caused-by", {"from_id": "1", "to_id": "2", "relation": "caused-by"}),
        ("memory_timeline", "12 --before 3", {"anchor": "12", "before": "3"}),
        ("memory_timeline", "retries", {"query": "retries"}),
        ("memory_show", "12 --data-dir /x", {"node_id": "12"}),
        ("memory_edit", "12 --title T --tag a", {"node_id": "12", "title": "T", "tags": ["a"]}),
        ("search", "retries --limit 3", {"query": "retries", "limit": "3"}),
        ("timeline", "retries", {"query": "retries"}),
        ("timeline", "12 --before 3", {"anchor_id": "12", "before": "3"}),
        ("get_patterns", "retries", {"query": "retries"}),
    ],
)
def test_options_and_words_become_the_arguments_of_the_tool(name, words, arguments):
    assert arguments_of(name, *words.split()) == arguments


@pytest.mark.parametrize(
    "words", [("-q", "-test"), ("--query", "-test"), ("--query=-test",), ("--", "-test"), ("-q-test",)]
)
def test_a_query_may_begin_with_a_dash(words):
    assert arguments_of("cortex_exact", *words) == {"query": "-test"}


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("cortex_search", (), "pass one question, as an argument or with -q"),
        ("cortex_search", ("x", "y"), "pass one question"),
        ("cortex_search", ("x", "-q", "y"), "pass one question"),
        ("cortex_graph", ("callers",), "pass one target, as an argument or with --target"),
        ("cortex_graph", ("callers", "A", "B"), "pass one target"),
        ("cortex_pattern", ("f",), "pass one language"),
        ("find_related", ("--line", "3"), "pass one place"),
        ("cortex_search", ("how", "does", "it"), "Put several words in quotes"),
        ("cortex_graph", ("Context.invoke",), "as in `cortex graph callers Context.invoke`"),
        ("cortex_graph", ("calers",), "pass one target"),
        ("cortex_search", ("x", "--limit", "abc"), "--limit must be a whole number from 1 to 100, not 'abc'"),
        ("cortex_search", ("x", "--limit", "0"), "--limit must be a whole number from 1 to 100, not '0'"),
        ("cortex_search", ("x", "--min-score", "2"), "--min-score must be a number from 0 to 1, not '2'"),
        ("cortex_exact", ("x", "--offset", "1.5"), "--offset must be a whole number, not '1.5'"),
        ("cortex_graph", ("callers", "x", "--depth", "11"), "--depth must be a whole number from 1 to 10"),
    ],
)
def test_a_word_too_few_or_too_many_is_named(name, words, sentence):
    with pytest.raises(BadRequest, match=sentence):
        FakeSet().run(name, *words)


@pytest.mark.parametrize(
    "tool",
    [tool for tool in TOOLS_WITH_COMMANDS if "Example: " in tool.description],
    ids=lambda tool: tool.name,
)
def test_the_example_of_a_tool_is_a_command_with_the_same_arguments(tool, capsys):
    words = [word.argument for word in tool.form.words]
    command = example_command(tool, words)
    assert command.startswith(f"cortex {command_name(tool.name)}")
    _, *typed = shlex.split(command)
    got = arguments_of(tool.name, *typed[len(command_name(tool.name).split()) :])
    wanted = example_arguments(tool, words)
    assert got == {name: value if isinstance(value, list) else str(value) for name, value in wanted.items()}


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("cortex_outline", "pass a larger max_tokens or", "pass a larger --max-tokens or"),
        ("cortex_search", "raise `max_tokens` or `limit`", "raise --max-tokens or --limit"),
        ("cortex_graph", "cortex_exact finds every mention", "`cortex exact` finds every mention"),
        ("cortex_graph", "The operation path needs `to`.", "The operation path needs --to."),
        ("cortex_graph", "offset 20 shows the next.", "--offset 20 shows the next."),
        ("cortex_graph", "is unknown: see `candidates`.", "is unknown: --json lists them."),
        ("cortex_search", "The argument `limit` cannot be used.", "--limit cannot be used."),
        ("cortex_search", "in `project`", "in --of-project"),
        ("cortex_search", 'with paths=["x/**"] and min_score=1', 'with --paths=["x/**"] and --min-score=1'),
        ("cortex_exact", "nothing (did you mean `max_tokens`?)", "nothing (did you mean `max_tokens`?)"),
        ("cortex_graph", "any of: a/b.py:cortex_exact", "any of: a/b.py:cortex_exact"),
        ("cortex_search", "Ask for the query and its limit.", "Ask for the query and its limit."),
    ],
)
def test_a_text_for_agents_is_shown_in_the_words_of_a_shell(name, text, shown, capsys):
    front = FakeSet(EMPTY | {"suggestion": text})
    words = {"cortex_graph": ["callers", "x"]}.get(name, ["x"])
    assert front.run(name, *words) == EXIT_NOTHING
    assert capsys.readouterr().err == f"{shown}\n"
    front.run(name, *words, "--json")
    assert json.loads(capsys.readouterr().out)["suggestion"] == text

    def refuse(_tool, _arguments, _where):
        raise BadRequest(text)

    command = make_command(TOOLS[name], refuse)
    with pytest.raises(CortexError) as error:
        command.run(command.parser().read(words))
    assert str(error.value) == shown


def test_a_name_in_the_persons_own_words_stays(capsys):
    front = FakeSet(EMPTY | {"suggestion": "Nothing matches `max_tokens`; raise `limit`."})
    front.run("cortex_exact", "max_tokens")
    assert capsys.readouterr().err == "Nothing matches `max_tokens`; raise --limit.\n"


def test_a_call_on_an_unknown_receiver_says_how_many_definitions_have_the_name(capsys):
    place = {"name": "go", "kind": "function", "at": "a.go:11", "depth": 1, "candidates": ["a:x", "b:x"]}
    front = FakeSet(EMPTY | {"results": [place, place | {"candidates_of": 0}]})
    assert front.run("cortex_graph", "callers", "x") == EXIT_OK
    out = capsys.readouterr().out
    assert out.count("receiver's type unknown: 2 definitions have the name") == 2


def test_a_call_that_may_be_of_the_platform_says_so(capsys):
    place = {"name": "go", "kind": "function", "at": "a.go:11", "depth": 1, "candidates": ["a:x"]}
    front = FakeSet(EMPTY | {"results": [place]})
    assert front.run("cortex_graph", "callers", "x") == EXIT_OK
    assert "receiver's type unknown: perhaps a method of the platform" in capsys.readouterr().out


def test_people_get_what_programs_get_and_the_graph_without_its_context():
    front = FakeSet()
    for name, word, for_shell in (
        ("cortex_search", ["x"], {}),
        ("cortex_exact", ["x"], {}),
        ("cortex_graph", ["callers", "x"], {"context_lines": 0}),
    ):
        front.run(name, *word)
        people_arguments = front.arguments
        front.run(name, *word, "--json")
        assert people_arguments == front.arguments | for_shell
    front.run("cortex_search", "x", "--detail", "full")
    assert front.arguments["detail"] == "full"


def test_json_is_exactly_the_answer_and_jsonl_its_places(capsys):
    chunk = {"metadata": {"file_path": "a.py", "start_line": 3, "end_line": 9}}
    front = FakeSet({"results": [{"chunk": chunk, "combined_score": 0.5}], "index": INDEX})
    assert front.run("cortex_search", "x", "--json", "--project", "here") == 0
    assert capsys.readouterr().out == json.dumps(front.answer) + "\n"
    assert front.project == "here"
    assert front.run("cortex_search", "x", "--jsonl") == 0
    assert json.loads(capsys.readouterr().out) == {"file": "a.py", "start": 3, "end": 9, "score": 0.5}


@pytest.mark.parametrize("tool", choose(("code",)).values(), ids=lambda tool: tool.name)
def test_an_empty_answer_ends_with_1_and_its_suggestion_on_standard_error(tool, capsys):
    words = {"cortex_graph": ["callers", "x"], "cortex_pattern": ["x", "go"]}.get(tool.name, ["x"])
    front = FakeSet(EMPTY | {"suggestion": "Ask for something else."})
    assert front.run(tool.name, *words) == 1
    assert capsys.readouterr() == ("", "Ask for something else.\n")


def test_the_lines_around_a_call_have_their_numbers_and_its_own_line_follows_its_name(capsys):
    lines = ["\tif ok {", "", "\t\treturn run(now)", "\t}"]
    result = {
        "node": {"id": "a:go", "kind": "function", "file": "a.go", "start_line": 3},
        "depth": 1,
        "location": {"file": "a.go", "line": 11, "column": 9},
        "context": [{"line": at, "text": text} for at, text in enumerate(lines, 9)],
    }
    front = FakeSet(EMPTY | {"results": [result], "target": "a:run", "total_found": 1, "total_returned": 1})
    assert front.run("cortex_graph", "callers", "run", "--context-lines", "2") == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "callers of a:run: 1",
        "a.go:11  go",
        "    9  \tif ok {",
        "",
        "    11  \t\treturn run(now)",
        "    12  \t}",
    ]
    front.answer["results"][0]["context"] = [{"line": 11, "text": "\t\treturn run(now)"}]
    assert front.run("cortex_graph", "callers", "run") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["a.go:11  go: return run(now)"]
    short = {"name": "go", "kind": "function", "at": "a.go:11", "text": "return run(now)"}
    front.answer["results"] = [short]
    assert front.run("cortex_graph", "callers", "run", "--detail", "compact") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["a.go:11  go: return run(now)"]
    front.answer["results"] = [short | {"depth": 2}]
    assert front.run("cortex_graph", "callers", "run", "--depth", "2") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["2 steps away", "  a.go: go:11"]


def test_outlines_matches_and_places_are_shown_for_people(capsys):
    symbol = {"name": "run", "kind": "function", "lines": [3, 9], "signature": "run(now)", "references": 2}
    front = FakeSet(EMPTY | {"results": [{"file": "a.py", "symbols": [symbol]}]})
    assert front.run("cortex_outline") == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["a.py"],
        ["3-9", "run(now)", "2", "×"],
    ]
    match = {"file": "a.py", "start_line": 3, "end_line": 4, "text": "run(\n  now)"}
    counts = {"total_found": 2, "total_returned": 1}
    front = FakeSet(EMPTY | {"results": [match], "truncated": True} | counts)
    assert front.run("cortex_pattern", "run($A)", "python") == 0
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()] == [["a.py:3-4"], ["3", "run("], ["4", "now)"]]
    assert err == "1 of 2 are shown.\n"
    hit = {"file": "a.py", "lno": 3, "text": "def run(now):", "score": 0.5, "source": "lex", "stale": True}
    front = FakeSet(EMPTY | {"hits": [hit]})
    assert front.run("code_context", "run") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "a.py:3  changed since it was indexed"
    assert second == "  def run(now):"  # its number may be another by now


def test_a_tool_without_a_form_takes_options_and_prints_its_keys(capsys):
    async def memory_note(
        context,
        *,
        text: Annotated[str, Meta(description="What to keep.")],
        times: Annotated[int, Meta(description="How often.")] = 1,
    ) -> dict:
        """Keeps a text."""
        return {"text": text * times}

    assert command_name("memory_note") == "memory-note"
    tool = make_tool(memory_note, "Note", reads=False)
    front = FakeSet({"text": "a"})
    command = make_command(tool, front)
    assert command.run(command.parser().read(["--text", "a", "--times", "2"])) == 0
    assert front.arguments == {"text": "a", "times": "2"}
    assert capsys.readouterr().out == "text: a\n"
    assert tool.form.words == ()


def test_an_alias_names_the_same_command():
    assert find("stdio") is find("mcp")
    assert find("nonsense") is None


CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.mark.parametrize("shell", CHECKS)
def test_completion_is_printed_for_each_shell(shell, tmp_path, capsys):
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for name in (*TOOLS, *PEOPLE) for word in command_name(name).split())
    if shutil.which(shell):
        path = tmp_path / "completion"
        path.write_text(script)
        subprocess.run([*CHECKS[shell], str(path)], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["cortex", "outl"], ["outline"]),
        (["cortex", "search", "--exp"], ["--explain"]),
        (["cortex", "search", "--mode", "sem"], ["semantic"]),
        (["cortex", "graph", "calle"], ["callees", "callers"]),
        (["cortex", "memory", "re"], ["recall", "relate", "restore"]),
        (["cortex", "memory", "find"], []),
        (["cortex", "memory", "tool", "find-by-f"], ["find-by-file"]),
    ],
)
def test_bash_completes_commands_options_and_values(words, completed, tmp_path, capsys):
    assert cli.main(["completion", "bash"]) == 0
    path = tmp_path / "completion"
    path.write_text(capsys.readouterr().out)
    script = (
        f"source {path}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
        "$(complete -p cortex | sed 's/.*-F \\([^ ]*\\) .*/\\1/') cortex; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert sorted(word.strip() for word in result.stdout.split()) == completed


def test_the_choices_of_an_option_are_offered_but_the_tool_says_what_it_takes():
    with pytest.raises(BadRequest, match="it takes hybrid, semantic"):
        arguments_of("cortex_search", "x", "--mode", "magic")


def test_a_clone_is_upgraded_as_a_clone(capsys, monkeypatch):
    monkeypatch.setattr(
        installation, "_origin", lambda: {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    )
    monkeypatch.setattr(installation.sys, "prefix", str(ROOT / ".venv"))
    assert run(["upgrade"]) == EXIT_OK
    assert f"git -C {ROOT} pull && {ROOT}/scripts/setup" in capsys.readouterr().out


def test_the_version_is_printed_by_command_and_by_option(capsys):
    assert run(["--version"]) == run(["-v"]) == run(["version"]) == EXIT_OK
    assert capsys.readouterr().out == f"cortex {full_version()}\n" * 3


def words_of(group):
    """Return the command words in a group, including those of its inner groups."""
    start = f"{group} ".lstrip()
    names = {*(command.name for command in all_commands()), *GROUPS} - {group}
    return {name.removeprefix(start).split()[0] for name in names if name.startswith(start)}


def printed(capsys, *words):
    """Return the output of a command that prints help."""
    assert cli.main(list(words)) == EXIT_OK
    return capsys.readouterr().out


@pytest.mark.parametrize("group", HEADINGS)
def test_each_command_is_under_one_heading_of_the_help(group, capsys):
    headings = headings_of(group)
    listed = [word for words in headings.values() for word in words]
    assert sorted(listed) == sorted(words_of(group))
    lines = printed(capsys, *group.split(), "--help").splitlines()
    assert [line[:-1] for line in lines if line.endswith(":") and line != "options:"] == list(headings)
    assert [line.split()[0] for line in lines if line[:2] == "  " and line[2] not in " -"] == listed


@pytest.mark.parametrize(
    "words", [(), ("memory",), ("memory", "tool"), ("search",), ("memory", "store"), ("key",)]
)
def test_help_is_a_command_too(words, capsys):
    assert printed(capsys, "help", *words) == printed(capsys, *words, "--help")


def test_help_of_no_command_is_wrong_usage(capsys):
    assert cli.main(["help", "serach"]) == EXIT_USAGE
    assert "did you mean `cortex search`?" in capsys.readouterr().err


@pytest.mark.parametrize("group", [group for group in GROUPS if " " not in group])
def test_a_group_has_the_command_help(group, capsys):
    assert printed(capsys, group, "help") == printed(capsys, group, "--help")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("exat x", "`cortex exat`: did you mean `cortex exact`?"),
        ("undo", "`cortex undo`: did you mean `cortex memory undo`?"),
        ("help undo", "`cortex undo`: did you mean `cortex memory undo`?"),
        ("memory undoo", "`cortex memory undoo`: did you mean `cortex memory undo`?"),
        ("memory index", "`cortex memory index`: did you mean `cortex index`?"),
        ("forget", "`cortex forget`: did you mean `cortex key forget` or `cortex memory forget`?"),
        ("timelne", "`cortex timelne`: did you mean `cortex memory timeline`?"),
        ("qqqq", "`cortex qqqq`."),
        ("embed qqqq", "`cortex embed qqqq`."),
    ],
)
def test_a_wrong_command_gets_a_hint_of_all_groups_and_no_list(words, hint, capsys):
    assert cli.main(words.split()) == EXIT_USAGE
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"cortex: there is no command {hint}"
    assert second.startswith("`cortex help")


@pytest.mark.parametrize(("alias", "tool"), ALIASES.items())
def test_a_former_spelling_runs_the_command_of_its_tool(alias, tool, capsys):
    assert find(alias).name == command_name(tool)
    assert printed(capsys, *alias.split(), "--help") == printed(capsys, *command_name(tool).split(), "--help")


def test_every_observation_keeps_its_former_spelling():
    former = {"search": "find", "timeline": "around"}
    assert {f"memory {former.get(name, name.replace('_', '-'))}" for name in ROWS} <= ALIASES.keys()
    assert ALIASES["memory find"] == "search"
    assert ALIASES["memory tool find_by_file"] == "find_by_file"


def test_a_hidden_alias_is_in_no_help_and_no_completion(capsys):
    names = {command.name for command in all_commands()}
    assert not names & ALIASES.keys()
    assert "find-by-file" not in printed(capsys, "memory", "--help")
    script = printed(capsys, "completion", "fish")
    assert "'memory timeline'" in script
    assert not [alias for alias in ALIASES if f"'{alias}'" in script]


def without_words():
    """Return the commands, with aliases, that take options alone."""
    for name in (*(command.name for command in all_commands()), *ALIASES):
        parser = find(name).parser()
        if all(action.option_strings and not action.required for action in parser._actions):
            yield name


@pytest.mark.parametrize(
    "words",
    [
        *([*name.split(), "zzz"] for name in without_words()),
        ["down", "--", "zzz"],
        ["completion", "bash", "zzz"],
        ["why", "a.py", "question", "zzz"],
    ],
    ids=" ".join,
)
def test_a_word_too_many_is_named_alone(words, capsys):
    """An inner `--` that argparse leaves unread is no word of the person's."""
    assert cli.main(words) == EXIT_USAGE
    assert capsys.readouterr().err.rstrip().endswith("error: unrecognized arguments: zzz")


@pytest.mark.parametrize("alias", ["memory find", "memory around", "memory tool find", "memory get-patterns"])
def test_free_text_after_an_alias_is_its_query(alias):
    read = find(alias).parser().read(["retries", "--limit", "3"] if "around" not in alias else ["retries"])
    assert read.words == ["retries"]
