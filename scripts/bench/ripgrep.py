"""Keyword search beside ripgrep: the same lines in the same files, and the times of both."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import re2
from product import Front, connect, covering_rows, rows_of
from queries import expression, piece
from report import summarise

from cortex.query.leaf import literal
from cortex.settings.config import Config

#: calls before measuring
WARM_UP = 10
#: hits of a page, and pages after which a query is left out of the comparison
PAGE, PAGES_MAX = 100, 30

Request = dict[str, Any]
Lines = set[tuple[str, int]]


def command(arguments: Request) -> list[str]:
    """Return the command line of ripgrep for arguments of cortex_exact."""
    flags = ["-F"] if arguments.get("match_type") == "substring" else []
    # The product reads CRLF as LF.
    return ["rg", "-n", "-i", "--crlf", "--no-messages", "--no-heading", "--color=never", *flags]


def ascii_classes(pattern: str) -> str:
    """Return `pattern` for ripgrep with its meaning in RE2."""
    return re.sub(
        r"\\\\|\\[wdsbWDSB]", lambda match: match[0] if match[0] == "\\\\" else _ascii(match[0]), pattern
    )


def _ascii(name: str) -> str:
    classes = {"w": "0-9A-Za-z_", "d": "0-9", "s": r"\t\n\f\r "}
    if name[1] in "bB":
        return f"(?-u:{name})"
    inside = classes[name[1].lower()]
    return f"[{inside}]" if name[1].islower() else f"[^{inside}]"


def time_ripgrep(root: Path, arguments: Request) -> float:
    """Return the seconds of a ripgrep over the tree, with its start, as an agent runs it."""
    command_line = [*command(arguments), "-e", arguments["query"], "."]
    started = time.perf_counter()
    subprocess.run(command_line, cwd=root, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


class Comparison:
    """The answers of the product and of ripgrep for one repository."""

    def __init__(self, config: Config) -> None:
        self.root = config.root
        rows = rows_of(config)
        live_rows = covering_rows(rows)
        self.files = sorted({rows.path_names[at] for at in rows.columns["path"][live_rows].tolist()})
        self.texts = [rows.text(at) for at in live_rows]
        self._lines: dict[str, list[str]] = {}

    async def ours(self, front: Front, arguments: Request) -> tuple[Lines | None, float]:
        """Return (the matching lines in the chunks of the answer, seconds of the first page).

        The lines are None if there are too many pages.
        """
        compiled = _compile(arguments)
        matching_lines: Lines = set()
        seconds, total, offset = 0.0, 1, 0
        while offset < total:
            started = time.perf_counter()
            answer = await front.call(
                "cortex_exact", **arguments, limit=PAGE if offset else 15, offset=offset, detail="location"
            )
            seconds = seconds or time.perf_counter() - started
            total = answer["total_found"]
            if total > PAGE * PAGES_MAX:
                return None, seconds
            for hit in answer["results"]:
                matching_lines |= self._lines_of(hit, compiled)
            offset += answer["total_returned"]
            if not answer["total_returned"] and total:
                raise SystemExit(f"{arguments}: page at {offset} of {total} is empty")
        return matching_lines, seconds

    def _lines_of(self, hit: dict[str, Any], compiled: Any) -> Lines:
        metadata = hit["chunk"]["metadata"]
        path, start, end = metadata["file_path"], metadata["start_line"], metadata["end_line"]
        matching = {
            at for at, line in enumerate(self.lines(path)[start - 1 : end], start) if compiled.search(line)
        }
        highlighted = set(hit["highlight_lines"])
        if not highlighted or not highlighted <= matching or len(highlighted) != min(3, len(matching)):
            complaint = f"  {path}:{start}-{end}: highlights {sorted(highlighted)} of {sorted(matching)[:6]}"
            print(complaint, file=sys.stderr)
            matching |= {-1}
        return {(path, line) for line in matching}

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file on the disk, decoded as the product reports."""
        if path not in self._lines:
            raw = (self.root / path).read_bytes().removeprefix(b"\xef\xbb\xbf")
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            self._lines[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines[path]

    def theirs(self, arguments: Request) -> Lines:
        pattern = arguments["query"]
        pattern = pattern if arguments["match_type"] == "substring" else ascii_classes(pattern)
        flags = "--null --with-filename --hidden --no-ignore -e".split()
        command_line = [*command(arguments), *flags, pattern]
        command_line.remove("--no-messages")
        run = subprocess.run(
            [*command_line, "--", *self.files], cwd=self.root, capture_output=True, check=False
        )
        if run.returncode not in (0, 1) or run.stderr:
            raise SystemExit(f"ripgrep ended with {run.returncode}: {run.stderr[:500].decode()}")
        out = set()
        for line in run.stdout.split(b"\n"):
            path, _, remainder = line.partition(b"\0")
            if remainder:
                out.add((path.decode().removeprefix("./"), int(remainder.split(b":", 1)[0])))
        return out


def _compile(arguments: Request) -> Any:
    """Return the expression for checking the product's answers line by line."""
    pattern = arguments["query"]
    options = re2.Options()
    options.case_sensitive = False
    options.never_nl = True
    return re2.compile(literal(pattern) if arguments["match_type"] == "substring" else pattern, options)


async def compare(config: Config, count: int) -> dict[str, Any]:
    """Run `count` generated queries in both. The lines must be equal in every indexed file."""
    comparison = Comparison(config)
    requests = make_requests(comparison.texts, count)
    equal, skipped, lines = 0, 0, 0
    differing: list[Request] = []
    ours_s, theirs_s = [], []
    async with connect(config.root) as front:
        for arguments in requests[:WARM_UP]:
            await front.call("cortex_exact", **arguments)
        for arguments in requests:
            ours, seconds = await comparison.ours(front, arguments)
            if ours is None:
                skipped += 1
                continue
            ours_s.append(seconds)
            theirs_s.append(time_ripgrep(config.root, arguments))
            theirs = comparison.theirs(arguments)
            lines += len(theirs)
            equal += ours == theirs
            if ours != theirs:
                differing.append(arguments | _difference(ours, theirs))
    missing = sorted(set(list_files(config.root)) - set(comparison.files))
    return {
        "repository": config.root.name,
        "files_indexed": len(comparison.files),
        "files_only_ripgrep": missing[:5],
        "files_only_ripgrep_count": len(missing),
        "queries": len(requests) - skipped,
        "left_out_too_many": skipped,
        "matching_lines": lines,
        "equal": equal,
        "differing": differing,
        "cortex_warm": summarise("cortex", ours_s),
        "ripgrep_warm": summarise("ripgrep", theirs_s),
    }


def make_requests(texts: list[str], count: int) -> list[Request]:
    """Return generated queries: half substrings, half expressions, of the searched texts."""
    chance = random.Random(11)
    half = count // 2
    plain = [{"query": piece(texts, chance), "match_type": "substring"} for _ in range(half)]
    return plain + [{"query": expression(texts, chance), "match_type": "regex"} for _ in range(count - half)]


def _difference(ours: Lines, theirs: Lines) -> dict[str, list[str]]:
    return {
        name: [f"{path}:{line}" for path, line in sorted(only)[:3]]
        for name, only in (("only_cortex", ours - theirs), ("only_ripgrep", theirs - ours))
    }


def list_files(root: Path) -> list[str]:
    """Return the files that ripgrep would search."""
    run = subprocess.run(["rg", "--files"], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.splitlines()


def show(comparison: dict[str, Any]) -> None:
    ours, theirs = comparison["cortex_warm"], comparison["ripgrep_warm"]
    print(
        f"{comparison['repository']:20} equal {comparison['equal']}/{comparison['queries']} "
        f"({comparison['left_out_too_many']} left out), {comparison['matching_lines']} lines; "
        f"p50/p95 ms: cortex {ours['p50_ms']}/{ours['p95_ms']}, "
        f"ripgrep {theirs['p50_ms']}/{theirs['p95_ms']}"
    )
    for difference in comparison["differing"][:5]:
        print(f"    {difference}")
