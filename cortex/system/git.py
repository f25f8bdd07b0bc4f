"""Questions to git about a folder, and clones of repositories that are only read.

Without git the answers are empty. A repository may come from a stranger with its `.git`, and its
configuration can name programs for almost everything. None of them runs: only commands that need
none are used, each program is switched off as well, and an answer has a deadline and a size bound.
"""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cortex.system import files, hosts

#: deadline of an answer, in seconds
ANSWER_S = 10.0
#: bytes of an answer that are read; the rest counts as unknown to git
ANSWER_BYTES_MAX = 32 << 20
#: the same for an index of files, with some 100 bytes for each
INDEX_BYTES_MAX = 512 << 20
#: characters of git's message about a failure
FAULT_CHARS = 300
#: bytes of the file HEAD that are read, and the form of a HEAD that points to a branch
_HEAD_BYTES_MAX = 4096
_REF = re.compile(rb"ref: (refs/[!-~]+)")
#: an entry of `ls-files -z -s -t` that is in the work tree: its mode and path
_ENTRY = re.compile(rb"(?:\A|\0)[HMCK?] (\d{6}) [0-9a-f]+ [0-3]\t([^\0]+)(?=\0)")
_GITLINK = b"160000"
#: the size of a file in the output of `ls-tree -r -l -z`
_SIZE = re.compile(rb"(?:\A|\0)\d{6} blob [0-9a-f]+ +(\d+)\t")
#: seconds between two looks at what a clone takes, and bytes of error output that are kept
_LOOK_S, _ERROR_BYTES = 0.2, 4096
_ADVICE = "clone it yourself, and index the folder"
#: before every command: no setting of the repository or the user starts a program, reads a file
#: that may be a pipe, or asks a person
_OPTIONS = (
    "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
    "-c", "core.fsmonitor=",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.pager=cat",
    "-c", "core.editor=false",
    "-c", "core.askPass=",
    "-c", "core.sshCommand=false",
    "-c", "core.gitProxy=",
    "-c", "core.alternateRefsCommand=",
    "-c", "core.attributesFile=/dev/null",
    "-c", "core.excludesFile=/dev/null",
    "-c", "credential.helper=",
    "-c", "diff.external=",
    "-c", "diff.orderFile=/dev/null",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "gpg.program=false",
    "-c", "blame.ignoreRevsFile=",
    "-c", "log.showSignature=false",
    "-c", "log.mailmap=false",
    "-c", "submodule.recurse=false",
)  # fmt: skip
#: GIT_ALLOW_PROTOCOL overrides `protocol.<name>.allow` of a repository's configuration: no missing
#: object is fetched, whatever command a remote names
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
#: variables that let git start a program, besides all that begin with GIT_
_DROPPED = frozenset(("EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL"))


def tracked(root: Path, paths: Collection[str]) -> frozenset[str]:
    """Return those of `paths` (relative to `root`, with `/`) that git tracks; none if git cannot
    tell.

    Listing the index opens no file, so no filter of the repository runs.
    """
    folders = sorted({os.path.dirname(path) or "." for path in paths})
    if not folders:
        return frozenset()
    answer = ask(root, ["ls-files", "-z", "--", *folders])
    return frozenset(os.fsdecode(answer).split("\0")) & frozenset(paths)


def untracked(root: Path, paths: Collection[str]) -> frozenset[str]:
    """Return those of `paths` (relative to `root`, with `/`) that git surely does not track; none
    if git cannot tell. Where a file system may ignore case, a name in other case counts as tracked.
    """
    folders = sorted({os.path.dirname(path) or "." for path in paths}) if sys.platform == "linux" else []
    output, fault = _ask(root, ["ls-files", "-z", "--", *folders], ANSWER_S, ANSWER_BYTES_MAX)
    if fault or len(output) >= ANSWER_BYTES_MAX:
        return frozenset()
    listed = {name.casefold() for name in os.fsdecode(output).split("\0")}
    return frozenset(path for path in paths if path.casefold() not in listed)


@dataclass(frozen=True, slots=True)
class Tracked:
    """The files that git tracks in one checkout, without those of a sparse checkout that are not
    there. `fault` is the reason why git did not list them.
    """

    #: sorted paths from the top of the checkout
    paths: Sequence[bytes] = ()
    #: paths of submodules
    links: frozenset[bytes] = frozenset()
    fault: str = ""

    def has(self, path: str) -> bool:
        """Whether a file is tracked, or any file below a folder, which ends in `/`; a submodule
        counts as a file below itself.
        """
        raw = os.fsencode(path)
        at = bisect_left(self.paths, raw)
        if raw.endswith(b"/"):
            return raw[:-1] in self.links or (at < len(self.paths) and self.paths[at].startswith(raw))
        return at < len(self.paths) and self.paths[at] == raw


def list_index(work_tree: Path, git_dir: Path, answer_s: float = ANSWER_S) -> Tracked:
    """Ask git for its index alone; with both folders given, no configuration names others."""
    command = [
        f"--git-dir={os.fspath(git_dir)}", f"--work-tree={os.fspath(work_tree)}",
        "ls-files", "-z", "-s", "-t",
    ]  # fmt: skip
    output, fault = _ask(work_tree, command, answer_s, INDEX_BYTES_MAX)
    if fault or len(output) >= INDEX_BYTES_MAX:
        return Tracked(fault=fault or f"its index takes more than {INDEX_BYTES_MAX >> 20} MiB")
    entries = _ENTRY.findall(output)
    links = frozenset(path for mode, path in entries if mode == _GITLINK)
    paths = sorted(dict.fromkeys(path for mode, path in entries if mode != _GITLINK))
    return Tracked(paths, links)


def ask(
    root: Path,
    command: Sequence[str],
    answer_s: float = ANSWER_S,
    bytes_max: int = ANSWER_BYTES_MAX,
    path: str = "",
) -> bytes:
    """Run `command` in the folder `root` and return the first `bytes_max` bytes of git's output.
    `path`: the folders in which git is looked for, in place of the user's.

    Empty if there is no git, no repository, one that git does not trust (another user's), or no
    answer in time.
    """
    return _ask(root, command, answer_s, bytes_max, path)[0]


def _ask(
    root: Path, command: Sequence[str], answer_s: float, bytes_max: int, path: str = ""
) -> tuple[bytes, str]:
    """As `ask`, with the reason of an empty answer."""
    path = path or search_path(root)
    program = hosts.find_program("git", path)
    if program is None:
        return b"", "there is no git here"
    until = time.monotonic() + answer_s
    try:
        process = subprocess.Popen(
            [program, "-C", os.fspath(root), *_OPTIONS, *command],
            cwd=os.sep,
            env=_environment(os.environ) | {"PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **hosts.detached_options(),
        )
    except OSError as error:
        return b"", f"git could not be started ({error.strerror})"
    with process:
        output, ended = _read_answer(process, until, bytes_max)
    if not ended:
        return output, "" if output else f"git took longer than {answer_s:g} s"
    return output, f"git ended with {process.returncode}" if process.returncode else ""


def mark_of_head(root: Path) -> tuple[object, ...]:
    """Return a value that differs whenever HEAD of the repository around `root` is, or may be,
    another commit: made from HEAD and from the times of the files that define it.

    Empty if only git can tell: in a linked work tree, or outside of a repository. Takes some 30 µs,
    asking git 10 ms.
    """
    place = next(
        (candidate for folder in (root, *root.parents) if os.path.lexists(candidate := folder / ".git")), None
    )
    try:
        if place is None or not place.is_dir() or place.is_symlink():
            return ()
        head = files.read_plain(place / "HEAD", _HEAD_BYTES_MAX).strip()
    except OSError:
        return ()
    ref_match = _REF.fullmatch(head)
    names = ("HEAD", "packed-refs", "shallow", *([ref_match[1].decode()] if ref_match else ()))
    if (place / "reftable").exists() or (ref_match is not None and b".." in ref_match[1]):
        return ()
    return head, *(_file_identity(place / name) for name in names)


def _file_identity(path: Path) -> tuple[int, ...]:
    """Return a value that differs once a file was replaced or written; empty for no file."""
    try:
        file_stat = os.lstat(path)
    except OSError:
        return ()
    return file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


@dataclass(frozen=True, slots=True)
class CloneBounds:
    """What a clone may take: time, bytes on the wire, in memory and in files, and files."""

    seconds: float = 900.0
    pack_bytes: int = 2 << 30
    memory_bytes: int = 4 << 30
    files: int = 200_000
    file_bytes: int = 4 << 30


def clone(url: str, folder: Path, protocol: str, bounds: CloneBounds) -> str:
    """Fetch the newest commit of the repository at `url`, by `protocol` alone and without following
    a redirect, into a new folder; return the reason of a failure, "" on success.

    Nothing of the repository runs: no hook, no filter, no submodule. Links in it become files. The
    user's configuration is ignored, so git cannot ask for a password. Files are written only once
    their number and sizes are known.
    """
    path = search_path(folder)
    program = hosts.find_program("git", path)
    if program is None:
        return "there is no git here; install it"
    environment = _environment(os.environ) | {
        "PATH": path,
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    head = [program, *_OPTIONS, "-c", "core.symlinks=false", "-c", "protocol.version=2"]
    fetch = [
        *head, "-c", "http.followRedirects=false", "-c", "fetch.unpackLimit=1",
        "clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-checkout",
        "--template=", "--", url, os.fspath(folder),
    ]  # fmt: skip
    until = time.monotonic() + bounds.seconds

    def excess() -> str:
        with contextlib.suppress(OSError):
            packs = files.entries(folder / ".git" / "objects" / "pack")
            if sum(info.st_size for info in packs.values()) > bounds.pack_bytes:
                return f"it has more than {bounds.pack_bytes >> 20} MiB; {_ADVICE}"
        return "" if time.monotonic() < until else f"it took longer than {bounds.seconds:g} s"

    if (
        fault := _run(fetch, environment, excess, bounds.memory_bytes)
        or excess()
        or _excess_of_files(folder, bounds)
    ):
        return fault
    write = [*head, "-C", os.fspath(folder), "checkout", "--quiet", "--force", "HEAD", "--"]
    return _run(write, environment, excess, bounds.memory_bytes)


def _excess_of_files(folder: Path, bounds: CloneBounds) -> str:
    """Return the bound that the files of a repository's newest commit exceed, "" for none."""
    output, fault = _ask(folder, ["ls-tree", "-r", "-l", "-z", "HEAD"], ANSWER_S, ANSWER_BYTES_MAX)
    if fault:
        return f"its files cannot be counted ({fault})"
    sizes = _SIZE.findall(output)
    if len(sizes) > bounds.files or len(output) >= ANSWER_BYTES_MAX:
        return f"it has more than {min(bounds.files, len(sizes)):,} files; {_ADVICE}"
    if sum(map(int, sizes)) > bounds.file_bytes:
        return f"its files have more than {bounds.file_bytes >> 20} MiB; {_ADVICE}"
    return ""


def _run(
    command: Sequence[str], environment: Mapping[str, str], excess: Callable[[], str], memory_bytes: int
) -> str:
    """Run git and return the reason of its failure, "" for none: the last line of its error output,
    or what `excess` returned meanwhile. All of its processes end.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=os.sep,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            **hosts.detached_options(),
        )
    except OSError as error:
        return error.strerror or str(error)
    hosts.bound_memory(memory_bytes, process.pid)
    blocks = list[bytes]()
    reason = ""
    with process:
        reader = threading.Thread(target=lambda: blocks.append(_read_errors(process)), daemon=True)
        reader.start()
        while process.poll() is None and not (reason := excess()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_S)
        reader.join(_LOOK_S)
        if reader.is_alive():
            hosts.end_group(process.pid)
        reader.join()
    if reason or process.returncode == 0:
        return reason
    lines = [line for line in b"".join(blocks).decode(errors="replace").splitlines() if line.strip()]
    return (lines[-1] if lines else f"git ended with {process.returncode}").rstrip(".")[:FAULT_CHARS]


def _read_errors(process: subprocess.Popen[bytes]) -> bytes:
    """Return the end of a process's error output."""
    assert process.stderr is not None
    output = b""
    while block := os.read(process.stderr.fileno(), _ERROR_BYTES):
        output = (output + block)[-_ERROR_BYTES:]
    return output


def _read_answer(process: subprocess.Popen[bytes], until: float, bytes_max: int) -> tuple[bytes, bool]:
    """Return its output until that moment, none if it failed, and whether it ended by itself; ends
    all of its processes.
    """
    assert process.stdout is not None
    output, ended = b"", False
    try:
        output, ended = hosts.read_within(process.stdout.fileno(), until, bytes_max)
        if ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
    finally:
        code = process.poll()
        failed = code != 0 and len(output) < bytes_max  # one with too much output is ended below
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                hosts.end_group(process.pid)
    return b"" if failed else output, code is not None


def search_path(root: Path) -> str:
    """Return the user's PATH without folders inside the project or the working folder, which may be
    another project's, and without relative ones.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    refused = {root} if (here := os.path.realpath(".")) == os.sep else {root, Path(here)}
    return os.pathsep.join(
        place
        for place in folders
        if os.path.isabs(place)
        and not any(Path(os.path.realpath(place)).is_relative_to(folder) for folder in refused)
    )


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    safe_variables = {
        name: value
        for name, value in variables.items()
        if not name.startswith("GIT_") and name not in _DROPPED
    }
    return safe_variables | _ENVIRONMENT
