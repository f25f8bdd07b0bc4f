"""The only module that opens files: no links, no pipes, bounds, and only folders of this user."""

import contextlib
import errno
import itertools
import os
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex.system import files
from cortex.system.folders import folder_operations


@pytest.fixture(autouse=True, params=[False, True], ids=["by-descriptors", "by-paths"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as on Unix, and as on Windows, where folders cannot be opened."""
    monkeypatch.setattr(folder_operations, "BY_PATH", request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    return path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of the user's own that Cortex must not touch."""
    folder = tmp_path / "elsewhere"
    (folder / "inner").mkdir(parents=True)
    (folder / "kept").write_bytes(b"kept")
    (folder / "inner" / "kept").write_bytes(b"kept")
    return folder


def content(folder: Path) -> dict[str, bytes | None]:
    return {
        os.fspath(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# Replacing a file


@pytest.mark.parametrize("sync", [False, True])
def test_a_replaced_file_is_a_new_one_and_an_open_reader_keeps_the_old(path, sync):
    with path.open("rb") as reader:
        files.replace(path, b"new", sync=sync)
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["state.json"]


def test_a_file_that_was_not_there_is_made_for_its_owner_alone(tmp_path):
    files.replace(tmp_path / "first", b"new")
    assert (tmp_path / "first").read_bytes() == b"new"
    assert mode(tmp_path / "first") == 0o600


def test_until_the_end_of_the_body_readers_see_the_old_file(path):
    with files.replacing(path) as file:
        file.write(b"half")
        file.flush()
        assert path.read_bytes() == b"old"
        (temporary,) = set(names(path.parent)) - {path.name}
        assert temporary.startswith(".")
    assert path.read_bytes() == b"half"


def test_two_writers_of_one_file_do_not_meet(path):
    with files.replacing(path) as first, files.replacing(path) as second:
        first.write(b"first, which is longer")
        second.write(b"second")
    assert path.read_bytes() == b"first, which is longer"


def interrupted(path: Path) -> None:
    with files.replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def interrupted_by_name(path: Path) -> None:
    with files.replacing_by_name(path) as temporary:
        temporary.write_bytes(b"half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("write", [interrupted, interrupted_by_name])
def test_a_body_that_fails_leaves_the_old_file_and_nothing_else(path, write):
    with pytest.raises(KeyboardInterrupt):
        write(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["state.json"]


def test_a_rename_that_fails_leaves_nothing_behind(tmp_path):
    name = "f" * 233  # a folder that cannot move aside: its name there would be too long
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=name):
        files.replace(tmp_path / name, b"new")
    assert names(tmp_path) == [name]


def test_a_library_writes_to_a_name_beside_the_file(path):
    with files.replacing_by_name(path) as temporary:
        assert temporary.parent == path.parent
        assert mode(temporary) == 0o600
        temporary.write_bytes(b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["state.json"]


# Reading


def test_a_plain_file_is_read_up_to_the_bound(path):
    assert files.read_plain(path, 100) == b"old"
    assert files.read_plain(os.fspath(path), 2) == b"ol"
    assert files.read_ours(path, 3) == b"old"
    with pytest.raises(OSError, match="More than 2 bytes"):
        files.read_ours(path, 2)


def test_a_file_of_a_terabyte_takes_no_memory(path):
    os.truncate(path, 1 << 40)
    with pytest.raises(OSError, match="More than") as raised:
        files.read_ours(path, 1 << 20)
    assert raised.value.errno == errno.EFBIG
    assert len(files.read_plain(path, 1000)) == 1000


def test_dots_in_a_path_are_resolved_by_its_text(path):
    (path.parent / "inner").mkdir()
    assert files.read_plain(f"{path.parent}/inner/../{path.name}", 100) == b"old"


READS = [
    lambda path: files.read_plain(path, 100),
    lambda path: files.read_ours(path, 100),
    files.open_plain,
]


@pytest.mark.parametrize("read", READS)
def test_a_link_is_not_opened(path, read):
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(OSError, match="is a link"):
        read(link)


@pytest.mark.parametrize("read", READS)
def test_a_link_among_the_folders_above_is_not_followed(path, tmp_path, read):
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "deep").symlink_to(tmp_path)
    for folder in ("folder", "real/deep", "folder/real/deep/folder"):
        with pytest.raises(OSError, match="is a link"):
            read(tmp_path / folder / path.name)


def test_a_link_to_the_same_folder_is_refused_too(path, tmp_path):
    (tmp_path / "self").symlink_to(".")
    with pytest.raises(OSError, match="is a link"):
        files.read_plain(tmp_path / "self" / path.name, 100)


@pytest.mark.parametrize("read", READS)
def test_a_pipe_a_socket_and_a_device_are_refused_without_waiting(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        read("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(tmp_path / "s"))
        with pytest.raises(OSError):  # noqa: PT011 - each system has its own message
            read(tmp_path / "s")


def test_a_folder_and_a_missing_file_are_refused(tmp_path, path):
    with pytest.raises(OSError, match="Not a regular file"):
        files.open_plain(tmp_path)
    with pytest.raises(FileNotFoundError):
        files.open_plain(tmp_path / "missing")
    with pytest.raises(NotADirectoryError):
        files.open_plain(path / "inside a file")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_a_refused_file_leaves_no_descriptor_open(tmp_path, path, elsewhere):
    (tmp_path / "link").symlink_to(elsewhere)
    before = names(Path("/proc/self/fd"))
    for _ in range(5):
        for bad in (tmp_path, tmp_path / "link" / "kept", path / "x", tmp_path / "missing" / "x"):
            for use in (files.open_plain, files.names, files.remove_tree, files.make_folder, files.open_log):
                if (use, bad) != (files.remove_tree, tmp_path) and use is not files.make_folder:
                    try:
                        opened = use(bad)
                    except OSError:
                        continue
                    if isinstance(opened, int):
                        os.close(opened)
    assert names(Path("/proc/self/fd")) == before


def test_a_folder_is_listed_without_following_links(tmp_path, path, elsewhere):
    (tmp_path / "link").symlink_to(path)
    assert sorted(files.names(tmp_path)) == ["elsewhere", "link", "state.json"]
    listed = files.entries(tmp_path)
    assert stat.S_ISLNK(listed["link"].st_mode)
    assert listed["state.json"].st_size == 3
    (tmp_path / "folder").symlink_to(elsewhere)
    for look in (files.names, files.entries):
        with pytest.raises(OSError, match="is a link"):
            look(tmp_path / "folder")


# Changing files and folders


def write_by_name(path: Path) -> None:
    with files.replacing_by_name(path) as temporary:
        temporary.write_bytes(b"hostile")


WRITES: list[Callable[[Path], object]] = [
    lambda path: files.replace(path, b"hostile"),
    write_by_name,
    lambda path: files.write_new(path.parent, path.name, b"hostile"),
    lambda path: files.move(path, path.with_name("moved")),
    lambda path: files.link(path, path.with_name("linked")),
    lambda path: os.close(files.open_log(path)),
    files.remove,
    files.remove_tree,
    lambda path: files.remove_tree(path.parent / "inner"),
    lambda path: files.make_folder(path.with_name("made") / "deep"),
    lambda path: files.make_private(path.with_name("made")),
]


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_changed_behind_a_link(tmp_path, elsewhere, write):
    before = content(elsewhere)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "link").symlink_to(elsewhere)
    (tmp_path / "ours" / "again").symlink_to("link")
    for folder in ("link", "again", "link/inner"):
        with pytest.raises(OSError, match="is a link"):
            write(tmp_path / "ours" / folder / "kept")
    assert content(elsewhere) == before


@pytest.mark.parametrize("write", [WRITES[0], write_by_name, files.remove, files.remove_tree])
def test_a_link_in_the_place_of_a_file_is_replaced_and_its_target_stays(tmp_path, elsewhere, write):
    before = content(elsewhere)
    link = tmp_path / "link"
    for target in ("elsewhere/kept", "elsewhere", "elsewhere/new"):
        link.symlink_to(target)
        write(link)
        assert not link.is_symlink()
        link.unlink(missing_ok=True)
        assert content(elsewhere) == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("write", [*WRITES[:9], WRITES[10]])
def test_nothing_is_changed_in_a_folder_of_another_user(elsewhere, write):
    os.chown(elsewhere / "kept", 12345, 12345)
    os.chown(elsewhere / "inner", 12345, 12345)
    (elsewhere / "made").mkdir()
    os.chown(elsewhere / "made", 12345, 12345)
    os.chown(elsewhere, 12345, 12345)
    before = content(elsewhere)
    with pytest.raises(PermissionError, match="another user"):
        write(elsewhere / "kept")
    assert content(elsewhere) == before


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_taken_for_ours(path):
    os.chown(path, 12345, 12345)
    assert files.read_plain(path, 100) == b"old"
    with pytest.raises(PermissionError, match="another user"):
        files.read_ours(path, 100)


def test_removing_a_tree_removes_its_links_and_not_their_targets(tmp_path, elsewhere):
    before = content(elsewhere)
    tree = tmp_path / "tree" / "deep"
    tree.mkdir(parents=True)
    (tree / "folder").symlink_to(elsewhere)
    (tree / "file").symlink_to(elsewhere / "kept")
    files.remove_tree(tmp_path / "tree")
    files.remove_tree(tmp_path / "tree")
    files.remove(tmp_path / "tree")
    assert names(tmp_path) == ["elsewhere"]
    assert content(elsewhere) == before


def test_a_tree_is_removed_while_threads_still_make_and_remove_files_in_it(tmp_path):
    """As the merges of a dropped tantivy writer do."""
    tree, end = tmp_path / "tree", threading.Event()

    def write(thread):
        for at in itertools.count():
            with contextlib.suppress(OSError):
                (tree / f"{thread}-{at}").write_bytes(b"x")
                (tree / f"{thread}-{at - 5}").unlink()
            if end.is_set():
                return

    threads = [threading.Thread(target=write, args=(at,)) for at in range(3)]
    tree.mkdir()
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            files.remove_tree(tree)
            assert not tree.exists()
            tree.mkdir()
            time.sleep(0.01)  # the threads make files meanwhile
    finally:
        end.set()
        for thread in threads:
            thread.join()


def test_made_folders_are_private_and_there_may_be_one_already(tmp_path):
    files.make_folder(tmp_path / "a" / "b" / "c")
    files.make_folder(tmp_path / "a" / "b" / "c")
    assert {mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")} == {0o700}
    (tmp_path / "a").chmod(0o777)
    files.make_private(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        files.make_folder(tmp_path / "file")


def test_temporary_files_of_a_killed_writer_are_removed_later_and_nothing_else(tmp_path, elsewhere):
    with files.replacing(tmp_path / "state.json"):
        (fresh,) = set(names(tmp_path)) - {"elsewhere"}
        for name in (
            ".old.json.0123456789abcdef.tmp",
            ".link.0123456789abcdef.tmp",
            ".git",
            ".old.tmp",
            "old.tmp",
        ):
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (1, 1))
        (tmp_path / ".link.0123456789abcdef.tmp").unlink()
        (tmp_path / ".link.0123456789abcdef.tmp").symlink_to(elsewhere / "kept")
        os.utime(tmp_path / ".link.0123456789abcdef.tmp", (1, 1), follow_symlinks=False)
        files.sweep(tmp_path)
        files.sweep(tmp_path / "missing")
        assert names(tmp_path) == sorted([fresh, "elsewhere", ".git", ".old.tmp", "old.tmp"])
    assert (elsewhere / "kept").read_bytes() == b"kept"


# Logs


def append(path: Path, raw: bytes) -> None:
    with os.fdopen(files.open_log(path), "ab") as log:
        log.write(raw)


def test_a_log_is_appended_to_by_all_its_writers(tmp_path):
    for word in (b"one ", b"two"):
        append(tmp_path / "worker.log", word)
    assert (tmp_path / "worker.log").read_bytes() == b"one two"
    assert mode(tmp_path / "worker.log") == 0o600


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_log_that_is_a_hard_link_is_replaced_by_a_new_file(tmp_path, elsewhere, make):
    before = content(elsewhere)
    make(tmp_path / "worker.log", elsewhere / "kept")
    append(tmp_path / "worker.log", b"rm -rf ~\n")
    assert (tmp_path / "worker.log").read_bytes() == b"rm -rf ~\n"
    assert content(elsewhere) == before


def test_a_log_that_is_a_pipe_or_leads_to_nothing_is_made_anew(tmp_path):
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "dangling.log").symlink_to(tmp_path / "made by us")
    for name in ("pipe.log", "dangling.log"):
        append(tmp_path / name, b"a line\n")
        assert (tmp_path / name).read_bytes() == b"a line\n"
    assert not (tmp_path / "made by us").exists()


@pytest.mark.parametrize("write", [append, files.replace], ids=["a log", "a file that is replaced"])
def test_a_folder_in_the_place_of_a_file_is_moved_aside_with_its_contents(tmp_path, write):
    place = tmp_path / "worker.log"
    place.mkdir()
    (place / "kept").write_bytes(b"kept")
    write(place, b"a line\n")
    assert place.read_bytes() == b"a line\n"
    [aside] = [entry for entry in tmp_path.iterdir() if entry != place]
    assert (aside / "kept").read_bytes() == b"kept"


def test_the_newer_half_of_a_large_log_is_moved_to_a_second_file(tmp_path):
    append(tmp_path / "worker.log", b"0" * 60 + b"1" * 50)
    files.trim_log(tmp_path / "worker.log", 200)
    assert names(tmp_path) == ["worker.log"]
    files.trim_log(tmp_path / "worker.log", 100)
    assert (tmp_path / "worker.log").read_bytes() == b""
    assert (tmp_path / "worker.log.1").read_bytes() == b"1" * 50


def test_a_log_to_be_trimmed_that_is_a_link_empties_nothing(tmp_path, elsewhere):
    (elsewhere / "kept").write_bytes(b"x" * 1000)
    before = content(elsewhere)
    (tmp_path / "worker.log").write_bytes(b"y" * 1000)
    (tmp_path / "worker.log.1").symlink_to(elsewhere / "kept")
    files.trim_log(tmp_path / "worker.log", 100)
    (tmp_path / "worker.log").unlink()
    (tmp_path / "worker.log").symlink_to(elsewhere / "kept")
    files.trim_log(tmp_path / "worker.log", 10)
    assert content(elsewhere) == before


def test_files_closed_to_their_owner_are_reopened_and_nothing_elsewhere(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("x")
    tree = tmp_path / "tree"
    (tree / "closed" / "deeper").mkdir(parents=True)
    (tree / "closed" / "deeper" / "file").write_text("in it")
    (tree / "link").symlink_to(elsewhere)
    (tree / "open").write_text("x")
    (tree / "open").chmod(0o640)
    for path in (tree / "closed" / "deeper" / "file", tree / "closed" / "deeper", tree / "closed", elsewhere):
        path.chmod(0)
    files.reopen(tree)
    modes = {path.name: path.lstat().st_mode & 0o777 for path in tree.rglob("*") if not path.is_symlink()}
    assert modes == {"closed": 0o700, "deeper": 0o700, "file": 0o600, "open": 0o640}
    assert elsewhere.stat().st_mode & 0o777 == 0
