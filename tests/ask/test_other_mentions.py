"""An answer without callers names other places of the word."""

import asyncio

import pytest

from cortex.ask.references.uses import UsesQuestion, uses
from cortex.ask.structure import graph
from ipc.messages import GraphSearch

FILES = {
    "jobs.py": "def late_job():\n    return 1\n\n\ndef lonely_job():\n    return 2\n\n\ndef used_job():\n    return 3\n",
    "table.py": "import jobs\n\nRUN = getattr(jobs, 'late_job')()\njobs.used_job()\n",
    "setup.cfg": "[run]\njob = jobs:late_job\n",
    "listed.py": "def own_job():\n    return 4\n\n\nNAMES = ['own_job']\n",
    "other.py": "# the lonely job of jobs.py, and LonelyJob\nlonelyJob = 5\n",
    "disk.rb": "class Disk\n  def wipe!\n    1\n  end\nend\n",
    "run.rb": "wipe = 2\ndisk.public_send(:wipe!)\n",
    "plain.rb": "wipe = 3\n",
    "money.cpp": (
        "struct Money {\n  Money operator-() const { return *this; }\n  bool operator==(const Money& other) const { return true; }\n"
        "  bool operator!=(const Money& other) const { return true; }\n  operator int() const { return 1; }\n};\n"
        "Money minus(Money one) { return -one; }\nbool same(Money one, Money other) { return one == other; }\n"
    ),
    "purse.swift": "struct Purse {\n    subscript(at: Int) -> Int {\n        return at\n    }\n}\n",
    "purse.cs": "class Purse {\n  public int this[int at] {\n    get { return at; }\n  }\n}\n",
    "money.rb": "class Money\n  def <=>(other)\n    0\n  end\n\n  def []=(at, value)\n    0\n  end\nend\n",
    "web/toast.ts": "export function showToast() {}\n",
    "web/date-utils.ts": "export function day() {}\n",
    "web/parts/index.ts": "export const part = 1;\n",
    "web/unused.ts": "export const nothing = 1;\n",
    "web/page.pug": "script.\n  import { showToast } from './toast'\n  import './date-utils'\n  import '../parts'\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("elsewhere")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def suggestion(served, operation, target, **more):
    return asyncio.run(graph(served.context(), GraphSearch(operation, target, **more)))["suggestion"]


@pytest.mark.parametrize("operation", ["callers", "dependents", "impact"])
def test_a_function_mentioned_elsewhere_is_not_called_unused(served, operation):
    sentence = suggestion(served, operation, "late_job")
    what = "call" if operation == "callers" else "use"
    assert sentence.startswith(f"No {what} of late_job is resolved; the word occurs in 2 other files: ")
    assert "table.py:3" in sentence
    assert "setup.cfg:2" in sentence


@pytest.mark.parametrize("operation", ["dependents", "impact"])
@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("web/toast.ts", "toast is resolved; the word toast occurs in 1 other file: web/page.pug:2."),
        (
            "web/date-utils.ts",
            "date-utils is resolved; the word date-utils occurs in 1 other file: web/page.pug:3.",
        ),
        ("web/parts/index.ts", "index is resolved; the word parts occurs in 1 other file: web/page.pug:4."),
        ("web/unused.ts", "unused is resolved, and the word unused occurs in no other file of the index."),
    ],
)
def test_a_file_named_in_a_language_without_a_graph_is_not_called_unused(served, operation, target, place):
    sentence = suggestion(served, operation, target)
    assert sentence.startswith("No use of web/")
    assert place in sentence


@pytest.mark.parametrize("symbol", ["web/toast.ts", "own_job"])
def test_no_uses_come_with_the_other_places_of_the_word(served, symbol):
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    assert any("the word" in note for note in answer["notes"])


def test_a_word_without_other_mentions_is_reported_as_such(served):
    sentence = suggestion(served, "callers", "lonely_job")
    assert sentence.startswith(
        "No call of lonely_job is resolved, and the word occurs in no other file of the index."
    )


def test_where_there_are_callers_or_a_scope_nobody_is_asked_about_the_word(served):
    assert "the word" not in suggestion(served, "callers", "used_job")
    assert "the word" not in suggestion(served, "callers", "late_job", scope="*.md")


def test_words_that_are_merely_alike_are_not_the_word(served):
    assert "other.py" not in suggestion(served, "callers", "lonely_job")


def test_a_name_mentioned_only_in_its_own_file_comes_with_its_lines(served):
    assert suggestion(served, "callers", "own_job").startswith(
        "No call of own_job is resolved, and the word occurs in no other file of the index. "
        "In its own file it is on lines 1, 5."
    )


def test_a_name_of_ruby_is_looked_for_with_its_mark(served):
    sentence = suggestion(served, "callers", "Disk#wipe!")
    assert sentence.startswith("No call of wipe! is resolved; the word occurs in 1 other file: run.rb:2.")


def test_an_offset_behind_the_last_result_is_not_reported_as_no_use(served):
    sentence = suggestion(served, "callers", "used_job", offset=9)
    assert sentence == "There is 1 result; offset 9 is past the last."


@pytest.mark.parametrize(
    ("symbol", "operator"),
    [
        ("money.cpp:4", "operator!="),
        ("money.cpp:5", "operator int"),
        ("purse.swift:3", "subscript"),
        ("purse.cs:3", "this"),
        ("money.rb:2", "<=>"),
        ("money.rb:6", "[]="),
    ],
)
def test_an_operator_without_resolved_uses_is_not_called_unused(served, symbol, operator):
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    notes = [note for note in answer["notes"] if note.startswith(f"No use of {operator} is resolved. ")]
    assert len(notes) == 1
    assert ("implicit" in notes[0]) == (operator == "operator int")


@pytest.mark.parametrize("line", [2, 3])
def test_an_operator_with_uses_has_no_such_note(served, line):
    answer = asyncio.run(uses(served.context(), UsesQuestion(f"money.cpp:{line}")))
    assert answer["sites"][0]["total"] == 1
    assert not any("is resolved" in note for note in answer["notes"])


DATA = {
    "app/tasks.py": "def send_mail():\n    return 1\n\n\ndef run():\n    return 2\n",
    "pyproject.toml": '[project.scripts]\nmail = "app.tasks:send_mail"\nstart = "app.tasks:run"\n# send_mail is a comment\n',
    ".github/workflows/ci.yml": (
        "jobs:\n  lint-all:\n    run: make lint\n  build:\n    needs: [lint-all]\n    run: echo run the send_mail now\n"
    ),
    "compose.yaml": "services:\n  worker:\n    command: celery\n    depends_on:\n      - lint-all\nsend_mail: true\n",
    "settings.json": '{"send_mail": {"limit": 3}, "text": "please send_mail soon"}\n',
    **{
        f"i18n/{name}.json": f'{{"send_mail": "{name}"}}\n'
        for name in ("de", "en", "es", "fr", "it", "nl", "pl")
    },
}


@pytest.fixture(scope="module")
def data(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("data")
    for name, text in DATA.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def lines_of_uses(served, symbol):
    """(path:line of the sites, path:line of the other lines with the name, their text)."""
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    sites = [
        f"{file['file']}:{row['line']}"
        for block in answer["sites"]
        for file in block["files"]
        for row in file["sites"]
    ]
    rows = [(file["file"], row) for file in answer["elsewhere"]["files"] for row in file["sites"]]
    return sites, {f"{file}:{row['line']}": row.get("text", "") for file, row in rows}, answer


def test_uses_of_a_definition_list_lines_of_settings_and_one_of_many_translations(data):
    _, others, answer = lines_of_uses(data, "send_mail")
    expected = ["compose.yaml:6", "i18n/en.json:1", "pyproject.toml:2", "settings.json:1"]
    assert sorted(others) == expected
    assert others["i18n/en.json:1"].endswith("⋯ and in 6 files like it: i18n/{de,es,fr,it,nl,pl}.json")
    assert answer["elsewhere"]["total"] == 10
    assert answer["elsewhere"]["texts"] == 2  # a comment, and a sentence


def test_data_with_a_plain_word_use_a_definition_only_by_a_path(data):
    assert list(lines_of_uses(data, "run")[1]) == ["pyproject.toml:3"]


def test_uses_of_a_name_that_only_data_have_are_their_lines(data):
    sites, _, _ = lines_of_uses(data, "lint-all")
    assert sorted(sites) == [".github/workflows/ci.yml:2", ".github/workflows/ci.yml:5", "compose.yaml:5"]
