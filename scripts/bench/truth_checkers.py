"""The targets of calls by language servers and jedi. One client serves every server that speaks the
Language Server Protocol; it only asks for definitions.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson
from truth_sites import File, Site, kind_at, read

#: seconds for one file's answers, for a server that reads its project, and of silence after which
#: the server is ready
FILE_S, READY_S, QUIET_S = 120.0, 240.0, 3.0
#: imports and aliases that are followed to a definition
HOPS_MAX = 3

_PEERS = Path(__file__).parent / "peers"
#: no downloads while a reference works
_OFFLINE = {"GOPROXY": "off", "GOFLAGS": "-mod=mod"}
_DEFINITION, _HOVER = "textDocument/definition", "textDocument/hover"

#: (path, line from 1, column in bytes or -1) inside the project; None: outside of it
Target = tuple[str, int, int] | None


@dataclass(frozen=True, slots=True)
class Server:
    """A server: `command` without its folder; `language` as the protocol names it."""

    command: tuple[str, ...]
    languages: dict[str, str]
    options: dict[str, Any]
    #: where the syntax tree has no answer, it returns definitions of the same word
    guesses: bool = False


SERVERS = {
    "pyright": Server(("pyright-langserver", "--stdio"), {"python": "python"}, {}),
    "gopls": Server(("gopls",), {"go": "go"}, {}),
    "clangd": Server(("clangd", "--background-index", "--log=error"), {"c": "c", "cpp": "cpp"}, {}, True),
    "rust-analyzer": Server(("rust-analyzer",), {"rust": "rust"}, {}),
    "intelephense": Server(("intelephense", "--stdio"), {"php": "php"}, {}),
}


class Checker:
    """A running server over one project."""

    def __init__(self, name: str, root: Path) -> None:
        self.server = SERVERS[name]
        self.root = root.resolve()
        self._number = 0
        self._buffer = b""
        self._process = subprocess.Popen(
            self.server.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=os.environ | _OFFLINE,
        )
        self._busy: set[str] = set()
        self._replies: dict[int, Any] = {}
        uri = self.root.as_uri()
        number = self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "project"}],
                "capabilities": {"window": {"workDoneProgress": True}, "workspace": {"configuration": True}},
                "initializationOptions": self.server.options,
            },
        )
        self._wait({number}, READY_S)
        self._send({"method": "initialized", "params": {}})

    def close(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._wait({self._request("shutdown", None)}, 5.0)
            self._send({"method": "exit", "params": None})
            self._process.wait(5)
        self._process.kill()
        self._process.wait()

    def targets(
        self, files: Iterable[tuple[File, Sequence[Site]]], ends: float
    ) -> Iterator[tuple[Site, list[Target]]]:
        """Yield targets file by file, until `ends` on the monotonic clock; unanswered sites are
        left out.
        """
        first = True
        for file, sites in files:
            uri = self._open(file)
            if first:
                self._settle(ends)
                first = False
            site_by_number = {self._request(_DEFINITION, self._at(file, uri, site)): site for site in sites}
            hovers = dict[Site, int]()
            if self.server.guesses:
                hovers = {site: self._request(_HOVER, self._at(file, uri, site)) for site in sites}
            self._wait({*site_by_number, *hovers.values()}, min(FILE_S, ends - time.monotonic()))
            for number, site in site_by_number.items():
                # A word that the syntax tree does not resolve has no description.
                described = self._replies.pop(hovers[site], None) if site in hovers else True
                if number in self._replies:
                    places = self._places(self._replies.pop(number))
                    yield site, places if described else []
            self._close(uri)
            if time.monotonic() > ends:
                return

    def follow_target(self, place: tuple[str, int, int]) -> list[Target]:
        """Return the targets of the name at `place`: an import, an alias, a property of a
        module.
        """
        file = read(self.root, place[0])
        if file is None or file.language not in self.server.languages:
            return []
        uri = self._open(file)
        where = {"line": place[1] - 1, "character": place[2]}
        number = self._request(_DEFINITION, {"textDocument": {"uri": uri}, "position": where})
        self._wait({number}, FILE_S)
        self._close(uri)
        return self._places(self._replies.pop(number, None))

    def _open(self, file: File) -> str:
        uri = (self.root / file.path).as_uri()
        text = file.raw.decode("utf-8", "replace")
        document = {
            "uri": uri,
            "languageId": self.server.languages[file.language],
            "version": 1,
            "text": text,
        }
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return uri

    def _close(self, uri: str) -> None:
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})

    def _at(self, file: File, uri: str, site: Site) -> dict[str, Any]:
        place = {"line": site[1] - 1, "character": _utf16(file, site)}
        return {"textDocument": {"uri": uri}, "position": place}

    def _places(self, result: Any) -> list[Target]:
        targets: list[Target] = []
        for location in result if isinstance(result, list) else [result] if result else []:
            uri = location.get("targetUri") or location["uri"]
            start = (location.get("targetSelectionRange") or location["range"])["start"]
            path = Path(unquote(urlsplit(uri).path))
            if (
                uri.startswith("file:")
                and path.is_relative_to(self.root)
                and "node_modules" not in path.parts
            ):
                targets.append(
                    (path.relative_to(self.root).as_posix(), start["line"] + 1, start["character"])
                )
            else:
                targets.append(None)
        return targets

    def _settle(self, ends: float) -> None:
        """Wait until the server is silent, which means that it has read the project."""
        ends, quiet = min(ends, time.monotonic() + READY_S), time.monotonic() + QUIET_S
        while time.monotonic() < min(ends, quiet) or (self._busy and time.monotonic() < ends):
            if self._read(0.2):
                quiet = time.monotonic() + QUIET_S

    def _request(self, method: str, params: Any) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def _send(self, message: dict[str, Any]) -> None:
        body = orjson.dumps({"jsonrpc": "2.0"} | message)
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _wait(self, numbers: set[int], bound_s: float) -> None:
        ends = time.monotonic() + bound_s
        while not numbers <= self._replies.keys() and time.monotonic() < ends:
            self._read(1.0)

    def _read(self, seconds: float) -> bool:
        """Read the server's next messages; return False if none arrives in time."""
        assert self._process.stdout is not None
        while True:
            head, mark, payload = self._buffer.partition(b"\r\n\r\n")
            if mark:
                length = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                if len(payload) >= length:
                    self._buffer = payload[length:]
                    self._take(orjson.loads(payload[:length]))
                    return True
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                return False
            more = os.read(self._process.stdout.fileno(), 1 << 20)
            if not more:
                raise ChildProcessError(f"{self.server.command[0]} ended")
            self._buffer += more

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self._replies[message["id"]] = message.get("result")
        elif "id" in message:
            items = (message.get("params") or {}).get("items", ())
            result = [None] * len(items) if method == "workspace/configuration" else None
            self._send({"id": message["id"], "result": result})
        elif method == "$/progress":
            token, kind = str(message["params"]["token"]), message["params"]["value"].get("kind")
            (self._busy.add if kind == "begin" else self._busy.discard if kind == "end" else str)(token)


def ask_server(
    name: str, root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the answers within `seconds`.

    A quarter of the time is reserved for targets that are no definitions: each is followed until it
    leads to a definition or no further.
    """
    with without_requirements(root) if name == "gopls" else contextlib.nullcontext(root) as folder:
        yield from _ask_server(name, folder, files, seconds)


@contextlib.contextmanager
def without_requirements(root: Path) -> Iterator[Path]:
    """Yield a copy of a Go project that requires no other module.

    If a required module is missing and cannot be fetched, Go loads no package at all.
    """
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary).resolve() / root.name
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        for place in copy.rglob("go.mod"):
            place.write_text(requiring_nothing(place.read_text("utf-8")), "utf-8")
        yield copy


def requiring_nothing(text: str) -> str:
    """Return a go.mod without its requirements, replacements and exclusions."""
    return re.sub(r"(?ms)^(?:require|replace|exclude|tool)\s*(?:\(.*?^\)|[^\n(]*$)\n?", "", text)


def _ask_server(
    name: str, root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    ends = time.monotonic() + seconds
    checker = Checker(name, root)
    resolved: dict[tuple[str, int, int], list[Target]] = {}
    try:
        answers = list(checker.targets(files, ends - seconds / 4))
        for _ in range(HOPS_MAX):
            pending = {
                target for _, targets in answers for target in targets if target and target not in resolved
            }
            for target in sorted(pending):
                if time.monotonic() > ends:
                    break
                file = read(root, target[0])
                further = (
                    []
                    if file is None or kind_at(file, *target[1:]) != "value"
                    else checker.follow_target(target)
                )
                resolved[target] = [
                    destination for destination in further if destination and destination != target
                ] or [target]
            answers = [
                (site, [e for t in ts for e in (resolved.get(t, [t]) if t else [t])]) for site, ts in answers
            ]
    finally:
        checker.close()
    for site, targets in answers:
        yield site, list(dict.fromkeys(targets))


def ask_jedi(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    import jedi  # type: ignore[import-not-found]

    # Not the packages installed here: one may be the measured package itself under its own name.
    standard = [path for path in sys.path if path and "site-packages" not in path]
    roots = [str(root), *(str(root / name) for name in ("src",) if (root / name).is_dir())]
    jedi_project = jedi.Project(root, sys_path=[*roots, *standard], smart_sys_path=False)
    ends = time.monotonic() + seconds
    for file, sites in files:
        if time.monotonic() > ends:
            return
        script = jedi.Script(path=root / file.path, project=jedi_project)
        for site in sites:
            column = len(file.lines[site[1] - 1][: site[2]].decode("utf-8", "replace"))
            try:
                names = script.goto(site[1], column, follow_imports=True)
            except Exception as error:  # jedi's own faults give no target
                print(f"jedi: {site}: {error}", file=sys.stderr)
                continue
            yield site, [_place(root, name) for name in names]


def _place(root: Path, name: Any) -> Target:
    module = Path(name.module_path) if name.module_path else None
    if module is None or not module.is_relative_to(root) or name.line is None:
        return None
    return module.relative_to(root).as_posix(), name.line, name.column


def ask_typescript(
    root: Path, files: Iterable[tuple[File, Sequence[Site]]], seconds: float
) -> Iterator[tuple[Site, list[Target]]]:
    """Yield the answers of TypeScript's language service, from one process, until `seconds` are
    over.
    """
    site_by_fields = {
        (file.path, str(site[1]), str(_utf16(file, site))): site for file, sites in files for site in sites
    }
    command = ["node", "--max-old-space-size=6000", str(_PEERS / "typescript.cjs"), str(root)]
    with tempfile.TemporaryFile("w+") as output:
        with contextlib.suppress(subprocess.TimeoutExpired):
            lines = "\n".join("\t".join(fields) for fields in site_by_fields)
            subprocess.run(command, input=lines, stdout=output, text=True, check=True, timeout=seconds)
        output.seek(0)
        targets_by_site: dict[Site, list[Target]] = {}
        for line in output:
            if not line.endswith("\n"):
                break  # cut off
            path, row, column, *target = line.rstrip("\n").split("\t")
            targets = targets_by_site.setdefault(site_by_fields[path, row, column], [])
            if target[0] != "?":
                place = (target[0], int(target[1]), int(target[2])) if target[0] != "-" else None
                targets.append(place)
    yield from targets_by_site.items()


def _utf16(file: File, site: Site) -> int:
    """Return a site's column in UTF-16 units."""
    return len(file.lines[site[1] - 1][: site[2]].decode("utf-8", "replace").encode("utf-16-le")) // 2
