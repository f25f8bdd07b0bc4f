"""scripts/torture: draws depend on seed and step alone, counts survive a restart, and the checks
detect broken promises.
"""

import os
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from torture import clones, corruptions, forgeries, grammar, wire
from torture.growth import compare
from torture.record import Record

from cortex.settings.folders.identity import identity_of


def test_a_step_draws_the_same_whatever_was_drawn_before():
    begun, resumed = Record(7), Record(7, steps={"kills": 2})
    begun.draws("wire").random()
    drawn = [begun.draws("kills").random() for _ in range(3)]
    assert resumed.draws("kills").random() == drawn[2]
    assert len(set(drawn)) == 3


def test_a_run_goes_on_from_the_last_line_that_it_printed(capsys):
    record = Record(7, asked_s=60.0)
    record.draws("kills")
    record.count("kills", 3)
    record.measure("a call, s", 1.5)
    record.breaks("kills", "every call ends", "it did not")
    resumed = Record.load(record.dump())
    assert resumed == record
    assert "--seed 7 --only kills --step 0" in capsys.readouterr().err


def test_figures_of_two_processes_are_added_and_their_worst_is_kept():
    first, other = Record(1, steps={"kills": 4}), Record(1, steps={"queries": 9})
    first.count("broken")
    first.measure("s", 2)
    other.count("queries drawn", 5)
    other.measure("s", 3)
    joined = first.join(other)
    assert dict(joined.counts) == {"broken": 1, "queries drawn": 5}
    assert (joined.worst, joined.steps) == ({"s": 3}, {"kills": 4, "queries": 9})


def test_drawn_queries_hold_every_form_of_the_language():
    draws = random.Random(1)
    queries = [grammar.draw_query(draws) for _ in range(3000)]
    for piece in (" AND ", "NOT ", "file_path:", '"', "*", "~2", "/get", "[1 TO 9]", "^"):
        assert any(piece in query for query in queries), piece
    assert max(map(len, queries)) > 5000


@pytest.mark.parametrize("how", sorted(corruptions.DAMAGES))
def test_every_damage_changes_the_file_and_nothing_beside_it(tmp_path, how):
    path, other = tmp_path / "a.seg", tmp_path / "b.seg"
    path.write_bytes(bytes(range(1, 256)) * 40)
    path.chmod(0o600)
    other.write_bytes(b"other")
    before, changed = (path.lstat().st_mode, path.read_bytes()), False
    for seed in range(5):  # a draw may be a place of no length, or equal bytes
        if not path.is_file() or path.is_symlink():
            break
        corruptions.DAMAGES[how](path, random.Random(seed))
        regular = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
        content = path.read_bytes() if regular else None
        changed = changed or (path.exists() and (path.lstat().st_mode, content) != before) or content is None
    assert changed
    assert other.read_bytes() == b"other"


def test_a_touched_canary_is_detected(tmp_path):
    with clones._attack(tmp_path) as attack:
        before = attack.state()
        assert attack.state() == before
        (attack.canaries / "folder" / "old").write_text("left alone\n")  # the same, written anew
        changed = attack.state()
        (attack.canaries / "new").touch()
        assert before != changed != attack.state()


def test_drawn_forgeries_of_a_repository_are_of_each_kind_and_join_no_other(tmp_path):
    victim, draws = forgeries.make_victim(tmp_path, dict(os.environ)), random.Random(1)
    assert forgeries.draw_many(tmp_path / "many", victim, draws, 400) == []
    assert identity_of(tmp_path / "worktree") == identity_of(victim)
    gits = [clone / ".git" for clone in (tmp_path / "many").glob("*/clone")]
    assert all(
        any(kind(git) for git in gits) for kind in (Path.is_symlink, Path.is_dir, Path.is_file, Path.is_fifo)
    )
    assert any(os.path.lexists(git.parent / "fake" / "commondir") for git in gits)


def test_garbage_is_drawn_with_the_answer_that_it_must_have():
    draws = random.Random(1)
    drawn = [wire.draw_garbage(draws) for _ in range(200)]
    assert {garbage.code for garbage in drawn} == {wire.PARSE_ERROR, wire.INVALID_REQUEST, None}
    assert all(b"\n" not in garbage.line for garbage in drawn)


@pytest.mark.parametrize(
    ("megabytes", "broken"),
    [
        (lambda look: 40.0 + 3 * look, 1),
        (lambda look: 40.0 if look < 6 else 61.0, 0),
        (lambda look: 40.0 if look < 11 else 61.0, 0),
        (lambda _look: 40.0, 0),
    ],
)
def test_steady_growth_is_reported_and_a_single_allocation_is_not(megabytes, broken):
    record = Record(1)
    compare(record, [(250 * look, {"watcher 1": (megabytes(look), 5, 5)}) for look in range(1, 13)])
    assert record.counts["broken"] == broken
