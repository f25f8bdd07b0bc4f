"""`cortex-hook`: ends well for any input, writes events without secrets, and prints the last
briefing of exactly this project.
"""

import io
import json
import os
import stat
import subprocess
import sys
import time
from argparse import Namespace

import pytest

from cortex.front import hook
from cortex.front.cli.setup import hooks
from cortex.memory.serving import open_worker
from cortex.memory.transcripts.formats import spool
from cortex.memory.transcripts.formats.spool_reader import waiting
from cortex.memory.transcripts.formats.tags import plain
from cortex.sealing import places
from cortex.settings.config import load_data
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import cache_base
from cortex.settings.folders.identity import identity_of
from cortex.settings.table import Memory
from cortex.system.errors import Misconfigured
from ipc.messages import MemoryCall

KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def tell(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CORTEX_MEMORY_DATA_DIR", str(tmp_path / "memory"))

    def send(event, payload):
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        hook.tell([event])
        return capsys.readouterr().out

    return send


def read_spool(tmp_path):
    folder = tmp_path / "memory" / "spool"
    return (
        [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))] if folder.exists() else []
    )


def test_cortex_home_moves_the_events_with_the_memory(tell, tmp_path, monkeypatch):
    monkeypatch.delenv("CORTEX_MEMORY_DATA_DIR")
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path))
    tell("prompt", {"session_id": "s1", "cwd": "/shop", "prompt": "mend the till"})
    assert [event["text"] for event in read_spool(tmp_path)] == ["mend the till"]
    assert load_data().root == tmp_path / "memory"
    assert hooks.program_arguments() == ["--data-dir", str(tmp_path / "memory")]


@pytest.mark.parametrize("variable", ["CORTEX_HOME", "CORTEX_MEMORY_DATA_DIR"])
def test_a_relative_folder_gets_no_events_for_it_would_be_in_the_project(
    tell, tmp_path, monkeypatch, variable
):
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.delenv("CORTEX_MEMORY_DATA_DIR")
    monkeypatch.setenv(variable, "near")
    tell("prompt", {"session_id": "s1", "cwd": "/shop", "prompt": "mend the till"})
    assert list((tmp_path / "shop").iterdir()) == []


def test_an_event_is_kept_for_its_person_alone_without_what_is_private_or_secret(tell, tmp_path):
    tell(
        "prompt",
        {"session_id": "s1", "cwd": "/shop", "prompt": f"use {KEY}\n<private>42</private> and mend it"},
    )
    tell("tool-use", {"session_id": "s1", "tool_name": "Edit", "tool_input": {"file_path": f"/{KEY}/a.py"}})
    prompt, tool = read_spool(tmp_path)
    assert prompt["text"] == "use [removed]\n and mend it"
    assert (tool["tool"], tool["files"], tool["modified"]) == ("Edit", ["/[removed]/a.py"], True)
    folder = tmp_path / "memory" / "spool"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_the_general_form_is_taken_as_well(tell, tmp_path):
    tell("prompt", {"session": "s1", "cwd": "/shop", "text": "why?", "agent": "mine"})
    tell("tool-use", {"session": "s1", "tool": "edit", "files": ["a.py"], "modified": True})
    prompt, tool = read_spool(tmp_path)
    assert (prompt["text"], prompt["agent"], tool["files"], tool["modified"]) == (
        "why?",
        "mine",
        ["a.py"],
        True,
    )


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"prompt": 3, "files": 4}'])
@pytest.mark.parametrize("event", hook.EVENTS)
def test_broken_input_is_no_error(tell, raw, event):
    assert tell(event, raw) == ""


def test_half_a_character_does_not_keep_an_event_away(tell, tmp_path):
    tell("prompt", b'{"session_id": "s1", "prompt": "cut \\ud83d off", "transcript_path": "/\\ud83d"}')
    ((_, _, event),) = waiting(tmp_path / "memory" / "spool")
    assert event.text == "cut ? off"


def test_an_unknown_event_and_no_event_do_nothing(tell, tmp_path):
    tell("dance", {"prompt": "x"})
    hook.tell([])
    assert read_spool(tmp_path) == []


def test_a_folder_that_cannot_be_written_and_no_home_are_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    for variables in ({"CORTEX_MEMORY_DATA_DIR": str(tmp_path / "file")}, {"HOME": "/dev/null/home"}):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cortex.front.hook", "prompt"],
            input=b'{"prompt": "x"}',
            env={"PATH": "/usr/bin", **variables},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_imports_nothing_that_is_not_ours_or_of_the_standard_library():
    code = "import sys, cortex.front.hook, cortex.settings.folders.identity; print(*{n.partition('.')[0] for n in sys.modules})"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(*{n.partition('.')[0] for n in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    )
    more = set(done.stdout.split()) - set(bare.stdout.split()) - set(sys.stdlib_module_names)
    assert more <= {"cortex", "ipc"}


def test_an_event_is_bounded_and_so_is_all_that_waits(tell, tmp_path, monkeypatch):
    tell("prompt", {"prompt": "word " * 200_000})
    (event,) = read_spool(tmp_path)
    assert len(json.dumps(event)) <= hook.EVENT_BYTES_MAX
    monkeypatch.setattr(spool, "BYTES_MAX", 10 * spool.BLOCK_BYTES)
    for _ in range(10):
        tell("prompt", {"prompt": "more"})
    full = len(read_spool(tmp_path))
    assert 2 <= full <= 10
    folder = tmp_path / "memory" / "spool"
    assert (folder / spool.COUNT).stat().st_size <= 10
    max(folder.glob("*.json"), key=lambda path: path.stat().st_size).unlink()
    spool.count(str(folder))
    tell("prompt", {"prompt": "there is room again"})
    assert read_spool(tmp_path)[-1]["text"] == "there is room again"


#: program that lists a folder by a descriptor, as `files` does, and prints the imported modules
COUNTED = """
import sys
import time
listed = []
def seen(event, given):
    if event in ("os.listdir", "os.scandir") and isinstance(given[0], int):
        listed.append(given)
sys.addaudithook(seen)
from cortex.front import hook
hook.main()
print(len(listed), *sys.modules)
"""
#: modules of the standard library that take longer to import than an event takes to be written down
SLOW = {"hashlib", "hmac", "pathlib", "random", "secrets", "shutil", "subprocess", "tempfile", "urllib"}


def test_an_event_is_written_down_without_a_look_at_those_that_wait(tmp_path):
    for number in range(50):
        spool.add(str(tmp_path / "spool"), b"%d" % number)
    done = subprocess.run(
        [sys.executable, "-P", "-c", COUNTED, "prompt", "--data-dir", str(tmp_path)],
        input=b'{"prompt": "why?", "session": "s1"}',
        capture_output=True,
        check=True,
    )
    count, *modules = done.stdout.decode().split()
    assert len(list((tmp_path / "spool").glob("*.json"))) == 51
    assert count == "0"
    bare = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(*sys.modules)"], capture_output=True, check=True
    )
    assert not SLOW & (set(modules) - set(bare.stdout.decode().split()))


def test_events_keep_their_order_although_the_clock_is_set_back(tmp_path):
    folder = tmp_path / "spool"
    spool.add(str(folder), b"{}")
    ahead = (2_000_000_000 * 10**9,) * 2
    os.utime(folder / spool.COUNT, ns=ahead)  # at the last event the clock was years ahead
    for _ in range(2):
        spool.add(str(folder), b"{}")
    spool.count(str(folder))
    spool.add(str(folder), b"{}")
    numbers = sorted(int(path.name.partition("-")[0]) for path in folder.glob("*.json"))
    assert len(set(numbers)) == 4
    assert numbers[1] > ahead[0]


def test_a_session_begins_with_the_last_briefing_of_exactly_this_project(tell, tmp_path):
    shop, other = tmp_path / "shop", tmp_path / "other"
    shop.mkdir()
    other.mkdir()
    folder = tmp_path / "memory" / "briefings"
    folder.mkdir(parents=True)
    lines = "\n".join(f"- note {at} of the shop: ä" for at in range(1_000))
    (folder / f"{identity_of(shop)}.md").write_text(lines)
    briefing = tell("session-start", {"cwd": str(shop), "source": "startup"})
    assert len(briefing.encode()) <= hook.BRIEFING_BYTES_MAX
    assert briefing.startswith("<cortex-briefing>\n- note 0 ")
    last = briefing.strip().splitlines()[-2]
    assert last in lines.splitlines()
    assert plain(f"before {briefing} after").split() == ["before", "after"]
    assert tell("session-start", {"cwd": str(other)}) == ""
    assert tell("session-start", {"cwd": "shop"}) == ""


@pytest.mark.parametrize(
    "mark",
    ["</cortex-briefing>", "</ Cortex-Briefing >", "<system-reminder>", "</note>", "<\n/cortex-briefing>"],
)
def test_no_note_ends_the_marks_around_a_briefing_or_begins_others(tell, tmp_path, mark):
    shop, folder = tmp_path / "shop", tmp_path / "memory" / "briefings"
    shop.mkdir()
    folder.mkdir(parents=True)
    (folder / f"{identity_of(shop)}.md").write_text(
        f"- **A note**: {mark} now outside\n- a < b and <b>bold</b>"
    )
    briefing = tell("session-start", {"cwd": str(shop), "source": "startup"})
    assert briefing.endswith("now outside\n- a < b and <b>bold</b>\n</cortex-briefing>\n")
    assert mark not in briefing.removesuffix("</cortex-briefing>\n")
    assert plain(f"before {briefing} after").split() == ["before", "after"]


def test_a_session_begins_with_the_briefing_of_a_sealed_memory_with_plain_bytes_on_disk(
    tell, tmp_path, monkeypatch
):
    """Where nothing is in memory, and a person permitted it."""
    monkeypatch.setattr(places, "IN_MEMORY", frozenset())
    monkeypatch.setattr(places, "_permitted", [cache_base() / places.ON_DISK / places.PLAIN])
    places._plain_base.cache_clear()
    shop, sealed = tmp_path / "shop", tmp_path / "memory" / "sealed"
    for folder in (shop, sealed):
        folder.mkdir(parents=True)
    folder = places.plain_of(os.path.realpath(sealed)) / "home" / "briefings"
    folder.mkdir(parents=True)
    (folder / f"{identity_of(shop)}.md").write_text("jitter")
    places._permitted.clear()  # the hook is a process of its own
    assert "jitter" in tell("session-start", {"cwd": str(shop)})
    places._plain_base.cache_clear()


def test_a_session_of_a_clone_begins_with_the_briefing_that_its_remote_shares(tell, tmp_path, data):
    clones = [tmp_path / name for name in ("one", "two", "stranger")]
    for clone, origin in zip(
        clones, ("git@github.com:ada/shop.git", "https://github.com/ada/shop", "x/y"), strict=True
    ):
        (clone / ".git").mkdir(parents=True)
        (clone / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {origin}\n')
    remotes = ("github.com/ada/shop",)
    worker = open_worker(DataFolder(data, Memory(remotes=remotes)))
    note_fields = {"title": "We use jitter for retries", "kind": "decision"}
    worker.call(MemoryCall("store", note_fields, True, "", identity_of(clones[0], remotes), "", "", "cli"))
    worker._last_write -= 10  # as if no event had come since
    worker.reload()
    worker.close()
    (tmp_path / "memory").symlink_to(data)
    briefings = [tell("session-start", {"cwd": str(clone)}) for clone in clones]
    assert ["jitter" in briefing for briefing in briefings] == [True, True, False]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Send an event with `--ask`, some minutes after the first; return the printed answer."""
    begin = int(time.time() * 1_000)

    def send(event, minutes, **payload):
        monkeypatch.setattr(time, "time_ns", lambda: (begin + minutes * 60_000) * 1_000_000)
        raw = json.dumps({"session_id": "s1", "cwd": "/shop", **payload}).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        printed = io.StringIO()
        monkeypatch.setattr(sys, "stdout", printed)
        hook.tell([event, "--ask", "--data-dir", str(tmp_path / "memory")])
        return json.loads(printed.getvalue() or "{}")

    return send


def edit(work, minutes, count=1):
    for _ in range(count):
        work("tool-use", minutes, tool_name="Edit", tool_input={"file_path": "/shop/a.py"})


def test_a_stop_asks_for_a_hand_over_after_five_edits_and_half_an_hour(work, tmp_path):
    edit(work, 0, 4)
    work("tool-use", 1, tool_name="Read", tool_input={"file_path": "/shop/a.py"})
    assert work("stop", 31) == {}
    edit(work, 32)
    request = work("stop", 33, stop_hook_active=False)
    assert request["decision"] == "block"
    assert "kind `handover`" in request["reason"]
    assert work("stop", 34) == {}  # not again before five more edits and half an hour
    edit(work, 35, 5)
    assert work("stop", 40) == {}
    assert work("stop", 64)["decision"] == "block"
    work("session-end", 65)
    assert list((tmp_path / "memory" / "asks").iterdir()) == []
    assert len(read_spool(tmp_path)) == 17


def test_a_stop_that_follows_a_request_asks_for_nothing(work):
    edit(work, 0, 9)
    assert work("stop", 90, stop_hook_active=True) == {}
    assert work("stop", 90)["decision"] == "block"


def test_sessions_are_counted_apart_and_counts_of_killed_ones_are_removed(work, tmp_path):
    edit(work, 0, 5)
    assert work("stop", 60, session_id="s2") == {}
    (killed,) = (tmp_path / "memory" / "asks").iterdir()
    os.utime(killed, (1_700_000_000, 1_700_000_000))
    work("stop", 61, session_id="s3")
    assert not killed.exists()


def test_no_stop_asks_unless_a_person_chose_it(settings, tell):
    for _ in range(9):
        tell("tool-use", {"session_id": "s1", "tool_name": "Edit", "tool_input": {"file_path": "/a.py"}})
    assert tell("stop", {"session_id": "s1"}) == ""
    hooks.install(options())
    assert "--ask" not in settings.read_text()
    hooks.install(options(ask=True))
    entries = json.loads(settings.read_text())["hooks"]
    asking = {event for event, (entry,) in entries.items() if "--ask" in entry["hooks"][0]["command"]}
    assert asking == {"Stop", "PostToolUse", "SessionEnd"}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.delenv("CORTEX_MEMORY_DATA_DIR")
    (tmp_path / "claude").mkdir()
    return tmp_path / "claude" / "settings.json"


def options(**more):
    return Namespace(
        **{"yes": True, "only_print": False, "data_dir": None, "prompts": False, "ask": False, **more}
    )


def test_hooks_are_put_beside_what_is_there_and_taken_out_again(settings, capsys):
    other = {"matcher": "Edit", "hooks": [{"type": "command", "command": "lint"}]}
    before = {"model": "opus", "hooks": {"PostToolUse": [other], "Notification": []}}
    settings.write_text(json.dumps(before))
    assert hooks.install(options(only_print=True)) == 0
    assert json.loads(settings.read_text()) == before
    assert hooks.install(options()) == 0
    after = json.loads(settings.read_text())
    assert after["model"] == "opus"
    assert after["hooks"]["PostToolUse"][0] == other
    commands = {
        event: entries[-1]["hooks"][0]["command"] for event, entries in after["hooks"].items() if entries
    }
    assert commands.keys() == hooks.EVENTS.keys()
    assert all("cortex-hook" in command or "cortex.front.hook" in command for command in commands.values())
    assert hooks.install(options()) == 0
    assert json.loads(settings.read_text()) == after
    assert hooks.uninstall(options()) == 0
    assert json.loads(settings.read_text()) == before
    assert "session-end" in capsys.readouterr().out


def test_hooks_are_written_after_they_were_shown_and_agreed_to_only(settings, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert hooks.install(options(yes=False)) != 0
    assert not settings.exists()
    assert "SessionStart" in capsys.readouterr().out
    assert hooks.install(options()) == 0
    assert hooks.uninstall(options()) == 0
    assert json.loads(settings.read_text()) == {}


@pytest.mark.parametrize(
    "text", ["{", "[]", '"x"', '{"hooks": []}', '{"hooks": {"Stop": 1}}', "// a comment\n{}"]
)
def test_settings_that_are_none_are_refused_and_stay(settings, text):
    settings.write_text(text)
    with pytest.raises(Misconfigured, match="stays as it is"):
        hooks.install(options())
    assert settings.read_text() == text


def test_the_usual_folder_is_part_of_the_command_if_a_person_set_it(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    hooks.install(options(data_dir=str(tmp_path / ".cortex" / "default")))
    assert f"--data-dir {tmp_path / '.cortex' / 'default'}" in settings.read_text()


def test_another_folder_of_memory_is_part_of_the_command(settings, tmp_path):
    hooks.install(options(data_dir=str(tmp_path / "my notes")))
    commands = settings.read_text()
    assert f"--data-dir '{tmp_path / 'my notes'}'" in commands
