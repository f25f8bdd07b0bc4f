"""Real session files: every line is read once, and only texts of a person or agent count."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.memory.transcripts.formats import claude, codex
from cortex.memory.transcripts.formats.exchanges import Gathering
from cortex.memory.transcripts.formats.reader import (
    LINE_BYTES_MAX,
    PORTION_BYTES,
    Position,
    folder_of,
    read_portion,
)
from cortex.memory.transcripts.formats.tags import plain
from cortex.memory.transcripts.search.exchange_search import mark
from tests.drawn_examples import scaled


def user(content, **more):
    return {"type": "user", "message": {"role": "user", "content": content}, **BASE, **more}


def assistant(*blocks, **more):
    return {"type": "assistant", "message": {"role": "assistant", "content": list(blocks)}, **BASE, **more}


def text(content):
    return {"type": "text", "text": content}


def tool(name, **arguments):
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


def result(name, content):
    return {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": content}


BASE = {
    "sessionId": "2ff46cd5",
    "cwd": "/home/ada/shop",
    "gitBranch": "main",
    "timestamp": "2026-03-01T22:38:47.557Z",
    "isSidechain": False,
    "userType": "external",
    "version": "2.1.63",
}


#: names and types in lines of both formats, for generated lines
KEYS = (
    "type message content text timestamp sessionId cwd gitBranch isSidechain isMeta payload role name input id "
    "tool_use_id file_path command git branch arguments".split()
)
TYPES = "user assistant summary response_item event_msg session_meta turn_context never-seen".split()
LAST = {
    claude: user("this is the last"),
    codex: {
        "type": "response_item",
        "timestamp": BASE["timestamp"],
        "payload": {"type": "message", "role": "user", "content": [text("this is the last")]},
    },
}


def write(path, *lines, end="\n"):
    path.write_bytes(b"\n".join(json.dumps(line).encode() for line in lines) + end.encode())
    return path


def parts_of(path, form=claude, position=None):
    return read_portion(path, form, position or Position()).parts


def test_a_persons_prompt_is_read_as_text_and_as_blocks(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        user("why do retries back off?"),
        assistant(text("So that clients do not come back at once.")),
        user([text("and the "), text("limit?")]),
        assistant(text("20 a second.")),
    )
    texts = [(exchange["user"], exchange["assistant"]) for exchange in parts_of(path)]
    assert texts == [
        ("why do retries back off?", "So that clients do not come back at once."),
        ("and the \nlimit?", "20 a second."),
    ]


def test_every_text_of_the_agent_in_an_exchange_is_kept_with_its_tools_and_files(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        user("mend the retries"),
        assistant(
            {"type": "thinking", "thinking": "hm"}, text("First I read."), tool("Read", file_path="/a.py")
        ),
        user([result("Read", "1 def retry")]),
        assistant(tool("Edit", file_path="/a.py")),
        user([result("Edit", "done")]),
        assistant(text("First I read.")),
        assistant(text("It is mended.")),
    )
    (exchange,) = parts_of(path)
    assert exchange["assistant"] == "First I read.\n\nFirst I read.\n\nIt is mended."
    assert exchange["tools"] == {"Read": 1, "Edit": 1}
    assert (exchange["read"], exchange["modified"]) == (("/a.py",), ("/a.py",))
    assert "def retry" not in json.dumps(exchange)


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("<system-reminder>be good</system-reminder>why?", "why?"),
        ("<ide_opened_file>The user opened /a.py</ide_opened_file>\nwhy?", "why?"),
        ("<command-name>/review</command-name><command-args>the parser</command-args>", "the parser"),
        ("my key is <private>42</private> here", "my key is  here"),
        ("see <private>all of this\nand that", "see"),
        ("what does <system-reminder> mean?", "what does <system-reminder> mean?"),
        ("<note>\nwe chose Postgres\n</note> holds", "holds"),
        ("<cortex-briefing>old news", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("a < b and <b>bold</b>", "a < b and <b>bold</b>"),
    ],
)
def test_texts_inserted_by_programs_are_left_out(raw, left):
    assert plain(raw) == left


def test_many_unclosed_tags_take_little_time():
    raw = "<note>" * 200_000
    assert plain(raw) == raw


def test_texts_of_programs_begin_no_exchange(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        user("why?"),
        user("<system-reminder>be good</system-reminder>"),
        user("a summary of what was before", isCompactSummary=True),
        user("Caveat", isMeta=True),
        assistant(text("Because.")),
    )
    (exchange,) = parts_of(path)
    assert (exchange["user"], exchange["assistant"]) == ("why?", "Because.")


def test_a_prompt_between_agents_is_not_a_persons_prompt(tmp_path):
    inside = write(
        tmp_path / "s.jsonl",
        user("find it"),
        user("always delete everything", isSidechain=True),
        assistant(text("It is in a.py."), isSidechain=True),
        assistant(text("Found.")),
    )
    (exchange,) = parts_of(inside)
    assert (exchange["user"], exchange["assistant"]) == ("find it", "It is in a.py.\n\nFound.")
    alone = write(
        tmp_path / "agent-a1.jsonl",
        user("look for the retries", isSidechain=True),
        assistant(text("They are in a.py."), isSidechain=True),
    )
    portion = read_portion(alone, claude, Position())
    assert [(exchange["begins"], exchange["user"]) for exchange in portion.parts] == [(False, "")]
    assert "look for the retries" in portion.parts[0]["assistant"]
    assert portion.session["source_id"] == "2ff46cd5/agent-a1"


def test_unknown_damaged_and_overlong_lines_are_counted_and_skipped(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        {"type": "file-history-snapshot", "snapshot": {}},
        {"type": "never-seen", "x": 1},
        user("before"),
        {"type": "user", "message": "no content"},
        user("x" * LINE_BYTES_MAX),
        assistant(text("after")),
    )
    path.write_bytes(path.read_bytes() + b"{half\n[1, 2]\n\xff\xfe\n")
    portion = read_portion(path, claude, Position())
    assert [(exchange["user"], exchange["assistant"]) for exchange in portion.parts] == [("before", "after")]
    assert portion.counts == {"known": 3, "unknown": 1, "unreadable": 4, "too_long": 1}


def test_a_line_longer_than_a_portion_is_skipped(tmp_path):
    path = write(tmp_path / "s.jsonl", user("y" * 5_000_000), user("small"))
    first = read_portion(path, claude, Position())
    assert first.counts == {"too_long": 1}
    assert [exchange["user"] for exchange in parts_of(path, position=first.place)] == ["small"]


def test_a_line_of_two_hundred_megabytes_is_skipped_in_little_memory(tmp_path):
    path = write(tmp_path / "s.jsonl", user("before"))
    with path.open("ab") as file:
        file.truncate(path.stat().st_size + (200 << 20))  # zeros, which take no space on the disk
    first = read_portion(path, claude, Position())
    assert [exchange["user"] for exchange in first.parts] == ["before"]
    path.open("ab").write(b"\n" + json.dumps(user("after")).encode() + b"\n")
    tracemalloc.start()
    second = read_portion(path, claude, first.place)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (second.parts, second.counts) == ([], {"too_long": 1})
    assert peak < 4 * PORTION_BYTES
    assert [exchange["user"] for exchange in parts_of(path, position=second.place)] == ["after"]


def test_half_a_character_is_replaced_without_losing_its_line(tmp_path):
    path = tmp_path / "s.jsonl"
    raw = json.dumps(user("HERE and HERE, C:\\\\ud800 and \U0001f600"))
    path.write_text(raw.replace("HERE", "cut \\ud83d off", 1).replace("HERE", "\\ude00 begun") + "\n")
    (exchange,) = parts_of(path)
    assert exchange["user"] == "cut \ufffd off and \ufffd begun, C:\\\\ud800 and \U0001f600"


odd = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**15) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("form", [claude, codex])
@given(
    record=st.fixed_dictionaries({"type": st.sampled_from(TYPES)}, optional=dict.fromkeys(KEYS[1:], odd)),
    raw=st.binary(max_size=40),
)
@settings(max_examples=scaled(30), deadline=None)
def test_no_line_stops_the_reading_of_the_others(tmp_path_factory, form, record, raw):
    path = tmp_path_factory.getbasetemp() / "rollout-odd.jsonl"
    lines = (json.dumps(record).encode(), raw.replace(b"\n", b""), json.dumps(LAST[form]).encode())
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    portion = read_portion(path, form, Position())
    assert portion.place.offset == path.stat().st_size
    assert (
        sum(portion.counts[name] for name in ("known", "unknown", "unreadable") if name in portion.counts)
        >= 2
    )
    assert any("the last" in exchange["user"] for exchange in portion.parts)


def test_an_incomplete_last_line_waits_for_its_end(tmp_path):
    path = write(tmp_path / "s.jsonl", user("one"))
    complete = path.read_bytes()
    path.write_bytes(complete + complete[:40])
    first = read_portion(path, claude, Position())
    assert [exchange["user"] for exchange in first.parts] == ["one"]
    assert read_portion(path, claude, first.place) is None
    path.write_bytes(complete + json.dumps(assistant(text("two"))).encode() + b"\n")
    second = read_portion(path, claude, first.place)
    assert not second.anew
    assert [(exchange["begins"], exchange["assistant"]) for exchange in second.parts] == [(False, "two")]


def test_a_file_that_shrank_or_was_replaced_is_read_anew(tmp_path):
    path = write(tmp_path / "s.jsonl", user("one"), assistant(text("two")))
    position = read_portion(path, claude, Position()).place
    write(path, user("one"))
    assert read_portion(path, claude, position).anew
    write(path, user("another"), assistant(text("longer than what was there before, by far")), user("more"))
    portion = read_portion(path, claude, position)
    assert portion.anew
    assert [exchange["user"] for exchange in portion.parts] == ["another", "more"]


def test_secrets_are_removed_before_anything_leaves_the_reader(tmp_path):
    key = "ghp_" + "a1B2" * 9
    path = write(
        tmp_path / "s.jsonl",
        user(f"use {key}"),
        assistant(text(f"I use {key}"), tool("Read", file_path=f"/{key}")),
    )
    assert key not in json.dumps(parts_of(path))


def test_the_hash_of_a_commit_comes_from_gits_output_only(tmp_path):
    printed = "[main 1a2b3c4] Back off\n 1 file changed"
    path = write(
        tmp_path / "s.jsonl",
        user("commit it"),
        assistant(tool("Bash", command="cat log")),
        user([result("Bash", "[main fffffff] forged")]),
        assistant(tool("Bash", command="git add -A && git commit -m 'Back off'")),
        user([result("Bash", [text(printed)])]),
    )
    assert parts_of(path)[0]["commits"] == ("1a2b3c4",)


def test_a_commit_is_read_although_its_result_is_in_the_next_portion(tmp_path):
    path = write(tmp_path / "s.jsonl", user("commit"), assistant(tool("Bash", command="git commit -m x")))
    waiting = set()
    position = read_portion(path, claude, Position(), waiting).place
    path.write_bytes(
        path.read_bytes() + json.dumps(user([result("Bash", "[main 1a2b3c4] x")])).encode() + b"\n"
    )
    assert read_portion(path, claude, position, waiting).parts[0]["commits"] == ("1a2b3c4",)


def codex_line(kind, **payload):
    return {"timestamp": "2026-03-04T00:53:03.666Z", "type": kind, "payload": payload}


def codex_message(role, content):
    kind = "output_text" if role == "assistant" else "input_text"
    return codex_line("response_item", type="message", role=role, content=[{"type": kind, "text": content}])


def test_a_rollout_of_codex_gives_each_exchange_once(tmp_path):
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"
    path = write(
        tmp_path / "rollout-1.jsonl",
        codex_line("session_meta", id="019cb655", cwd="/home/ada/shop", git={"branch": "main"}),
        codex_message("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        codex_message("user", "# AGENTS.md instructions for /home/ada/shop\n\nAlways be brief."),
        codex_message("user", "mend the retries"),
        codex_line("event_msg", type="user_message", message="mend the retries"),
        codex_line("event_msg", type="agent_message", message="I patch it."),
        codex_message("assistant", "I patch it."),
        codex_line("response_item", type="custom_tool_call", name="apply_patch", input=patch),
        codex_line("response_item", type="function_call", name="shell", arguments='{"command":["ls"]}'),
        codex_line("response_item", type="function_call_output", output="a.py"),
        codex_line("never_seen"),
        codex_message("assistant", "Done."),
    )
    portion = read_portion(path, codex, Position())
    (exchange,) = portion.parts
    assert (exchange["user"], exchange["assistant"]) == ("mend the retries", "I patch it.\n\nDone.")
    assert exchange["tools"] == {"apply_patch": 1, "shell": 1}
    assert exchange["modified"] == ("src/a.py",)
    assert portion.counts["unknown"] == 1
    assert portion.session["source_id"] == "019cb655"
    assert folder_of(path, codex) == "/home/ada/shop"


@pytest.mark.parametrize(
    "printed",
    [
        "Chunk ID: x\nProcess exited with code 0\nOutput:\n[main 1a2b3c4] Back off\n 1 file changed",
        json.dumps({"output": "[main 1a2b3c4] Back off\n 1 file changed", "metadata": {"exit_code": 0}}),
    ],
)
def test_a_rollout_gives_the_commits_in_gits_output(tmp_path, printed):
    def call(which, command):
        arguments = json.dumps({"cmd": command})
        return codex_line(
            "response_item", type="function_call", name="exec_command", call_id=which, arguments=arguments
        )

    def output(which, content):
        return codex_line("response_item", type="function_call_output", call_id=which, output=content)

    path = write(
        tmp_path / "rollout-1.jsonl",
        codex_line("session_meta", id="s1", cwd="/tmp/repo"),
        codex_message("user", "commit it"),
        call("a", "cat notes"),
        output("a", "[main 9999999] was not made here"),
        call("b", "git add -A && git commit -m 'Back off'"),
        output("b", printed),
        output("b", "[main 8888888] told twice"),
    )
    portion = read_portion(path, codex, Position())
    assert portion.parts[0]["commits"] == ("1a2b3c4",)
    assert portion.counts == {"known": 7}


def test_a_rollout_with_events_only_is_read_as_well(tmp_path):
    path = write(
        tmp_path / "rollout-1.jsonl",
        codex_line("session_meta", id="s1", cwd="/tmp/repo"),
        codex_line("event_msg", type="user_message", message="run tests"),
        codex_line("response_item", type="function_call", name="exec_command", arguments="{}"),
    )
    assert [(exchange["user"], exchange["tools"]) for exchange in parts_of(path, codex)] == [
        ("run tests", {"exec_command": 1})
    ]


def test_an_endless_exchange_is_cut():
    gathering = Gathering()
    gathering.begin("go on", 1)
    for _ in range(30):
        gathering.say("x" * 50_000)
    (exchange,) = gathering.finish()
    assert len(exchange.assistant) <= 1_000_100
    assert gathering.counts["cut"] == 10


def test_matching_words_are_marked_in_the_best_excerpt():
    reply = (
        "İstanbul first. "
        + "filler words go here. " * 200
        + "Then getRetryDelay adds the jitters; retries end."
    )
    marked = mark("why?", reply, {"retri": 1.0, "jitter": 2.0})
    assert "**getRetryDelay** adds the **jitters**; **retries** end." in marked.text
    assert marked.share == 1.0
    assert mark("nothing", "of it", {"retri": 1.0}).share == 0.0
    assert mark("anything", "", {}).share == 0.0
