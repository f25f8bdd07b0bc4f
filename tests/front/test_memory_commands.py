"""Memory's output for people: numbers that work as arguments, dates as people say them."""

import io
import json

import pytest

from cortex.front.cli.parsing.generated import make_command
from cortex.front.text.notes import say_ago
from cortex.front.tools import PEOPLE, TOOLS
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, BadRequest, CortexError

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2023-11-14T22:13:00Z", "just now"),
        ("2023-11-14T22:12:20Z", "1 minute ago"),
        ("2023-11-14T20:00:00Z", "2 hours ago"),
        ("2023-11-11T22:13:20Z", "3 days ago"),
        ("2023-10-24T22:13:20Z", "3 weeks ago"),
        ("2023-08-14T22:13:20Z", "3 months ago"),
        ("2021-11-14T22:13:20Z", "2 years ago"),
        ("2023-11-16T22:13:21Z", "in 2 days"),
    ],
)
def test_a_moment_is_printed_as_an_age(moment, words):
    assert say_ago(moment, NOW) == words


@pytest.fixture
def shell(open_window, capsys):
    """Return a function: command → (exit code, output, standard error), on the window's memory."""
    window = open_window(channel="cli", trust="user")

    def run(name, *words):
        tool = {**TOOLS, **PEOPLE}[name]
        command = make_command(
            tool, lambda _tool, arguments, _where: json.dumps(window.ask(name, **arguments)).encode()
        )
        code = command.run(command.parser().read(words))
        return code, *capsys.readouterr()

    return run


def test_a_note_is_stored_found_shown_and_forgotten_by_its_number(shell):
    assert shell(
        "cortex_store", "Retries use back-off with jitter", "--kind", "decision", "--body", "a\nb\nc\nd"
    ) == (
        EXIT_OK,
        "1  Stored: Retries use back-off with jitter\n",
        "hint: The body is very short: say why, and where it applies.\n",
    )
    shell("cortex_store", "The provider allows twenty calls a second", "--tags", "ops")
    code, out, _ = shell("cortex_relate", "2", "1", "causes")
    assert (
        out
        == "Related: The provider allows twenty calls a second → causes → Retries use back-off with jitter\n"
    )
    code, out, _ = shell("cortex_recall", "back-off of retries")
    assert code == EXIT_OK
    first, *lines = out.splitlines()
    assert first.split("  ")[1:3] == [" 1", "Retries use back-off with jitter"]
    assert "decision, just now" in first
    assert [line.strip() for line in lines[:4]] == ["a", "b", "c", "… 1 more line: cortex memory show 1"]
    code, out, _ = shell("memory_show", "1")
    assert "← causes The provider allows twenty calls a second" in out
    assert "<note>" not in out
    assert shell("memory_forget", "1")[:2] == (EXIT_OK, "1  Forgotten.\n")
    code, out, error = shell("memory_search", "back-off of retries")
    assert (code, out, error) == (
        EXIT_NOTHING,
        "",
        "Nothing is noted about this. No note has “back”, “off”, “retries”. Try other words, or the code.\n",
    )
    code, out, _ = shell("memory_stats")
    assert out.splitlines()[:2] == ["1 note (1 fact), 1 edge", "besides 1 deleted"]


def test_json_output_is_the_answer_that_an_agent_gets(shell, window):
    window.ask("cortex_store", title="Retries use back-off with jitter", body="Because of the herd.")
    arguments = {"query": "back-off of retries"}
    _, out, _ = shell("cortex_recall", "back-off of retries", "--json")
    [printed], [got] = json.loads(out)["results"], window.ask("cortex_recall", **arguments)["results"]
    assert printed | {"score": 0} == got | {"score": 0}


def test_a_timeline_marks_what_was_asked_about_and_counts_the_rest(shell, window):
    for day in range(1, 6):
        window.ask("cortex_store", title=f"On day {day} it rained", occurred_at=f"2026-01-0{day}")
    _, out, hint = shell("memory_timeline", "3", "--before", "1", "--after", "1")
    assert [line[:18].rstrip() for line in out.splitlines()] == [
        "  2026-01-02 00:00",
        "→ 2026-01-03 00:00",
        "  2026-01-04 00:00",
    ]
    assert hint == "There are 1 earlier and 1 later ones: --before and --after show more.\n"
    _, out, hint = shell("memory_timeline", "--since", "2026-01-04", "--limit", "1")
    assert "On day 4" in out
    assert hint == "There are more: --offset 1.\n"


def test_the_last_write_is_undone(shell, window):
    window.ask("cortex_store", title="The port is 8080", operation_id="a")
    window.ask("cortex_store", id="1", title="The port is 9090", operation_id="b")
    code, out, _ = shell("memory_undo")
    assert (code, out) == (EXIT_OK, "Restored note 1  The port is 8080\n")


@pytest.mark.parametrize(
    ("call", "before", "undone"),
    [
        (("cortex_store", "The host is a"), 0, "Removed note 1  The host is a\n"),
        (("memory_forget", "1"), 1, "Restored note 1  Note 0 of the port\n"),
        (("memory_rate", "1"), 1, "Restored note 1  Note 0 of the port\n"),
        (("cortex_relate", "1", "2", "supports"), 2, "Undone: related (operation "),
    ],
)
def test_an_undone_operation_names_the_notes_removed_or_restored(shell, window, call, before, undone):
    for number in range(before):
        window.ask("cortex_store", title=f"Note {number} of the port")
    assert shell(*call)[0] == EXIT_OK
    assert shell("memory_undo")[1].startswith(undone)


@pytest.mark.parametrize("name", ["memory_show", "memory_forget", "memory_rate", "cortex_traverse"])
def test_an_unknown_note_names_the_command_that_lists_notes(shell, name):
    with pytest.raises(CortexError, match="There is no note '99'; `cortex memory list` shows"):
        shell(name, "99")


@pytest.mark.parametrize(
    ("name", "words", "options"),
    [
        ("memory_edit", ("2", "new text"), "--title or --body"),
        ("cortex_store", ("a", "b"), "--body"),
    ],
)
def test_a_second_text_gets_the_options_for_it(shell, name, words, options):
    with pytest.raises(BadRequest, match=f"New text goes in {options}"):
        shell(name, *words)


def test_a_text_of_others_never_commands_the_terminal(shell, window):
    window.ask("cortex_store", title="A title with \u202e and \x9b31m", body="\u202ehidden")
    _, out, _ = shell("cortex_recall", "title")
    assert "\u202e" not in out
    assert "\x9b" not in out


def test_an_import_skips_notes_that_were_forgotten_for_good(shell, window, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = window.ask("cortex_store", title="The first of two notes", body="Said here.", tags=["a"])
    two = window.ask("cortex_store", title="The second of two notes", kind="decision")
    window.ask("cortex_relate", from_id=first["id"], to_id=two["id"], relation="supports")
    code, out, _ = shell("memory_export", "notes.jsonl")
    assert (code, out) == (EXIT_OK, f"3 records written to {tmp_path / 'notes.jsonl'}\n")
    before = window.ask("memory_show", node_id=first["id"])
    for note in (first, two):
        shell("memory_forget", note["id"], "--hard")
    assert window.ask("memory_stats")["node_count"] == 0
    code, out, _ = shell("memory_import", "notes.jsonl", "--trusted")
    assert "2 forgotten for good and left out" in out
    assert window.ask("memory_stats")["node_count"] == 0
    assert before["title"] == "The first of two notes"


def test_complete_lines_of_a_truncated_import_are_stored(shell, window, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        {
            "type": "entity",
            "name": "Ada",
            "entityType": "person",
            "observations": ["likes tea", "writes Rust"],
        },
        {"type": "entity", "name": "Cortex", "entityType": "project", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Cortex", "relationType": "maintains"},
        {"type": "entity", "name": "Cut in the middle", "entityType": "person", "observations": []},
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "memory.json").write_text(text[:-20])
    code, out, error = shell("memory_import", "memory.json")
    assert (code, out) == (EXIT_OK, "2 notes and 1 edge are new.\n")
    assert error == "line 4: it is no complete JSON object\n"
    assert window.ask("memory_stats")["edge_count"] == 1
    code, out, error = shell("memory_import", "memory.json", "--json")
    assert (json.loads(out)["notes"], json.loads(out)["refused_count"]) == (0, 1)


def piped(monkeypatch, raw):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_an_export_goes_to_standard_output_and_comes_from_standard_input(
    shell, window, monkeypatch, tmp_path
):
    monkeypatch.setenv("CORTEX_MEMORY_DATA_DIR", str(tmp_path / "spool"))
    window.ask("cortex_store", title="The first of two notes", body="Said here.\n\x1b[31m")
    window.ask("cortex_store", title="The second of two notes")
    code, out, error = shell("memory_export", "-", "--json")
    assert (code, json.loads(error)["records"]) == (EXIT_OK, 2)
    assert [next(iter(json.loads(line))) for line in out.splitlines()] == ["cortex", "note", "note"]
    shell("memory_forget", "1", "--hard")
    piped(monkeypatch, out.encode())
    code, output, error = shell("memory_import", "-", "--trusted")
    assert (code, error) == (EXIT_OK, "")
    assert output == "0 notes and 0 edges are new, 1 known already, 1 forgotten for good and left out.\n"
    piped(monkeypatch, b"a,b,c")
    with pytest.raises(CortexError, match="Standard input is in no format that can be imported"):
        shell("memory_import", "-")
    assert list((tmp_path / "spool" / "run").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("missing.jsonl", None, "missing.jsonl cannot be read"),
        ("notes.csv", "a,b,c\n1,2,3\n", "is in no format that can be imported"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_sentence(shell, tmp_path, name, text, sentence):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(CortexError, match=sentence):
        shell("memory_import", str(tmp_path / name))


def test_the_doctor_says_that_nothing_is_wrong(shell, window):
    window.ask("cortex_store", title="The port is 8080")
    code, out, _ = shell("memory_doctor")
    assert code == EXIT_OK
    assert out.splitlines()[:2] == ["1 note and 0 edges were compared.", "Nothing is wrong."]


def test_the_history_of_a_note_names_the_operations_to_undo(shell, window):
    window.ask("cortex_store", title="The port is 8080", operation_id="a")
    window.ask("cortex_store", id="1", title="The port is 9090", operation_id="b")
    code, out, _ = shell("memory_history", "1")
    assert code == EXIT_OK
    lines = out.splitlines()
    assert lines[0] == "1  The port is 9090"
    assert lines[2].strip() == "title: The port is 8080 → The port is 9090"
    assert [line.split()[:2] for line in lines[3:]] == [["b", "changed,"], ["a", "stored,"]]
    assert shell("memory_undo", "b")[1] == "Restored note 1  The port is 8080\n"


def test_the_newest_notes_are_listed_page_by_page(shell, window):
    assert shell("memory_list") == (EXIT_NOTHING, "", "This project has no notes: store one.\n")
    assert shell("memory_list", "--kind", "goal")[2] == "Nothing is noted with kind: ask without.\n"
    assert (
        shell("memory_list", "--kind", "gaol")[2] == "No note has the kind 'gaol' (did you mean 'goal'?).\n"
    )
    for day in range(1, 4):
        window.ask("cortex_store", title=f"On day {day} it rained", occurred_at=f"2026-01-0{day}")
    window.ask("cortex_store", title="Retries use back-off", kind="decision", occurred_at="2026-01-04")
    code, out, hint = shell("memory_list", "--limit", "2")
    assert code == EXIT_OK
    assert [line.split()[2] for line in out.splitlines()] == ["4", "3"]
    assert hint == "There are more: --offset 2.\n"
    _, out, _ = shell("memory_list", "--kind", "fact", "--offset", "2")
    assert [line.split()[2] for line in out.splitlines()] == ["1"]


def test_a_note_is_edited_field_by_field(shell, window, monkeypatch):
    window.ask("cortex_store", title="The port is 8080", tags=["net"])
    assert shell("memory_edit", "1", "--title", "The port is 9090")[:2] == (EXIT_OK, "1  Changed: title.\n")
    piped(monkeypatch, b"The proxy took the former port.\n")
    assert shell("memory_edit", "1", "--body", "-", "--tag", "ops")[0] == EXIT_OK
    note = window.ask("memory_show", node_id="1")
    assert (note["title"], note["tags"]) == ("The port is 9090", ["ops"])
    assert "the former port" in note["body"]
    with pytest.raises(CortexError, match="Nothing to change"):
        shell("memory_edit", "1")
