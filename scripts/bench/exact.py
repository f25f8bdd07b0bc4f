"""Measures keyword search: whole path through the MCP client, lexical indexing, and ripgrep beside both.

    scripts/bench/exact.py --sources DIR [--repositories DIR ...] [--json]

Three parts, each of which `--only` runs alone:

* speed: a tree of --files files is put together from the folders in --sources and indexed by the product. Then queries of
  each kind, drawn from its text, through the official MCP client; expressions also by ripgrep over the same files.
* indexing: the chunks of that tree are written as text index, trigrams and words again, in process: MB/s and size.
* equality: each of --repositories is indexed by the product, and generated substrings and expressions are asked of it and
  of ripgrep: the sets of matching lines must be equal in every indexed file. Time per query of both, warm; cold is the first
  query after the page cache was emptied of sources and index (for the product: with its processes started anew).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import orjson
import re2

sys.path.insert(0, str(Path(__file__).parent))
from latency import Front, connect, describe_machine, summarise
from queries import draw, expression, piece

from cortex.ask.freshness import Freshness
from cortex.engines.text.snapshot import TextWriter
from cortex.generation import trigrams, words
from cortex.generation.read import Rows, open_rows
from cortex.processes import attach
from cortex.query.parse import literal
from cortex.settings import config as configuration
from cortex.terms.records import COVERING_TYPES

ROOT = Path(__file__).resolve().parents[2]
#: files that a tree is made of: source and documents
SUFFIXES = frozenset(
    ".py .go .rs .java .ts .tsx .js .c .h .cc .cpp .hpp .cs .rb .php .swift .kt .scala .hs .lua .ex .zig .sh .md .rst".split()
)
FILE_BYTES_MAX = 1_000_000
#: calls of each kind before anything counts
WARM_UP = 10
#: hits of one page, and pages after which a query is left out of the comparison
PAGE, PAGES_MAX = 100, 30
#: seconds without any change after which an index counts as complete
QUIET_S = 5.0
#: seconds until an index must be complete
INDEX_S = 400.0
#: queries for which the page cache is emptied
COLD = 5

# --- what is searched ---


def compose(sources: Path, target: Path, count: int) -> int:
    """Copy `count` files from the folders in `sources`, in turn from each, so that all have a share."""
    listed = [sorted(_files_of(folder)) for folder in sorted(sources.iterdir()) if folder.is_dir()]
    chosen = itertools.islice(
        (path for paths in itertools.zip_longest(*listed) for path in paths if path is not None), count
    )
    made = 0
    for path in chosen:
        copy = target / path.relative_to(sources)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        made += 1
    return made


def _files_of(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix not in SUFFIXES or path.is_symlink() or ".cortex" in path.parts:
            continue
        if path.is_file() and 0 < path.stat().st_size <= FILE_BYTES_MAX:
            yield path


class Project:
    """One project as the product indexes it; its processes end with the context."""

    def __init__(self, root: Path, runtime: str) -> None:
        self.environment = {"XDG_RUNTIME_DIR": runtime, "PATH": os.environ["PATH"]}
        (root / ".git").mkdir(exist_ok=True)
        self.config = configuration.load(str(root))
        self.root = self.config.root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        attach.stop(self.config)

    @contextlib.asynccontextmanager
    async def front(self) -> Any:
        async with connect(self.root, self.environment) as front:
            yield front

    async def index(self) -> None:
        """Return once everything is indexed and served: nothing is under way, and nothing changes for QUIET_S."""
        deadline, since, before = time.monotonic() + INDEX_S, time.monotonic(), None
        async with self.front() as front:
            while time.monotonic() - since < QUIET_S:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{self.root} was not indexed in {INDEX_S:.0f} s")
                answer = await front.call("cortex_exact", query="e*", limit=1)
                index = answer["index"]
                busy = any(index.get(key) for key in ("indexing", "publishing", "pending_count", "degraded"))
                now = (index["generation"], answer["total_found"])
                if busy or now != before or not answer["total_found"]:
                    since, before = time.monotonic(), now
                await asyncio.sleep(0.2)

    def rows(self) -> Rows:
        return open_rows(Freshness(self.config).current(), self.config.index_dir)


def covering(rows: Rows) -> list[int]:
    kinds = [at for at, name in enumerate(rows.names["type"]) if name in COVERING_TYPES]
    return np.flatnonzero(rows.live & np.isin(rows.columns["type"], kinds)).tolist()


# --- ripgrep ---


def ripgrep(arguments: dict[str, Any]) -> list[str]:
    """The command line of ripgrep for arguments of cortex_exact."""
    flags = ["-F"] if arguments.get("match_type") == "substring" else []
    # The product reads CRLF as LF.
    return ["rg", "-n", "-i", "--crlf", "--no-messages", "--no-heading", "--color=never", *flags]


def ascii_classes(pattern: str) -> str:
    """`pattern` for ripgrep with the meaning that it has in RE2."""
    return re.sub(
        r"\\\\|\\[wdsbWDSB]", lambda match: match[0] if match[0] == "\\\\" else _ascii(match[0]), pattern
    )


def _ascii(name: str) -> str:
    classes = {"w": "0-9A-Za-z_", "d": "0-9", "s": r"\t\n\f\r "}
    if name[1] in "bB":
        return f"(?-u:{name})"
    inside = classes[name[1].lower()]
    return f"[{inside}]" if name[1].islower() else f"[^{inside}]"


# --- speed ---


async def measure_speed(project: Project, queries: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    table = []
    async with project.front() as front:
        for kind, requests in queries.items():
            for arguments in requests[:WARM_UP]:
                await front.call("cortex_exact", **arguments)
            seconds, found, truncated = [], [], 0
            for arguments in requests:
                started = time.perf_counter()
                answer = await front.call("cortex_exact", **arguments)
                seconds.append(time.perf_counter() - started)
                found.append(answer["total_found"])
                truncated += answer["metadata"].get("truncated", False)
            row = asdict(summarise(kind, seconds)) | {
                "found_median": statistics.median(found),
                "found_max": max(found),
            }
            del row["cpu_ms"]
            slowest = sorted(zip(seconds, requests, strict=True), key=lambda pair: -pair[0])[:3]
            row["slowest"] = [f"{arguments['query']}  {1000 * time_:.1f} ms" for time_, arguments in slowest]
            table.append(row)
    for kind in ("substring", "regex", "regex, any chunk"):
        row = next(row for row in table if row["case"] == kind)
        peer = [time_ripgrep(project.root, arguments) for arguments in queries[kind][:40]]
        row["ripgrep"] = {
            key: value for key, value in asdict(summarise(kind, peer)).items() if key.startswith("p")
        }
    return table


def time_ripgrep(root: Path, arguments: dict[str, Any]) -> float:
    """Seconds of one ripgrep over the tree, its start included, as an agent runs it."""
    pattern = arguments["query"]
    started = time.perf_counter()
    subprocess.run(
        [*ripgrep(arguments), "-e", pattern, "."], cwd=root, stdout=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - started


# --- indexing ---


def measure_indexing(rows: Rows) -> dict[str, Any]:
    """The text index and the tables of trigrams and words of all chunks of `rows`, made again side by side as by the builder."""
    chunks = [(int(rows.keys[at]), orjson.loads(rows.chunk(at))) for at in np.flatnonzero(rows.live).tolist()]
    cover = {int(rows.keys[at]) for at in covering(rows)}
    megabytes = sum(len(chunk["text"].encode()) for _, chunk in chunks) / 1e6
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:  # merges may still write
        writer = TextWriter(Path(name) / "text", "")
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(
                lambda: (
                    trigrams.make_sections(
                        [chunk["text"].encode() if key in cover else None for key, chunk in chunks]
                    )
                    | words.make_sections(chunk["text"] for _, chunk in chunks)
                )
            )
            writer.build(1, iter(chunks), [])
            text_s = time.perf_counter() - started
            sections = made.result()
        seconds = time.perf_counter() - started
        size = sum(file.stat().st_size for file in (Path(name) / "text" / "1").iterdir()) / 1e6
        commits = []
        chance = random.Random(1)
        for number in range(2, 12):
            at = chance.randrange(max(1, len(chunks) - 100))
            some = chunks[at : at + 100]
            started = time.perf_counter()
            writer.build(
                number, [((number << 32) + key, chunk) for key, chunk in some], [key for key, _ in some]
            )
            commits.append(time.perf_counter() - started)
        writer.close()
    tables = {
        prefix: sum(section.nbytes for name, section in sections.items() if name.startswith(prefix)) / 1e6
        for prefix in ("gram", "word")
    }
    return {
        "chunks": len(chunks),
        "text_mb": round(megabytes, 1),
        "text_index_s": round(text_s, 2),
        "all_s": round(seconds, 2),
        "mb_per_s": round(megabytes / seconds, 1),
        "text_index_mb": round(size, 1),
        "trigrams_mb": round(tables["gram"], 1),
        "words_mb": round(tables["word"], 1),
        "index_to_text": round((size + sum(tables.values())) / megabytes, 2),
        "commit_of_100_chunks": asdict(summarise("commit", commits)),
    }


# --- equality ---


class Comparison:
    """What the product and ripgrep answer for one repository."""

    def __init__(self, project: Project) -> None:
        self.project = project
        rows = project.rows()
        here = covering(rows)
        self.files = sorted({rows.path_names[at] for at in rows.columns["path"][here].tolist()})
        self.texts = [rows.text(at) for at in here]
        self._lines: dict[str, list[str]] = {}

    async def ours(
        self, front: Front, arguments: dict[str, Any]
    ) -> tuple[set[tuple[str, int]] | None, float]:
        """(the matching lines in the chunks of the answer, seconds of the first page); None with too many pages."""
        pattern = arguments["query"]
        source = literal(pattern) if arguments["match_type"] == "substring" else pattern
        options = re2.Options()
        options.case_sensitive = False
        options.never_nl = True
        compiled = re2.compile(source, options)
        found: set[tuple[str, int]] = set()
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
                found |= self._lines_of(hit, compiled)
            offset += answer["total_returned"]
            if not answer["total_returned"] and total:
                raise SystemExit(f"{arguments}: page at {offset} of {total} is empty")
        return found, seconds

    def _lines_of(self, hit: dict[str, Any], compiled: Any) -> set[tuple[str, int]]:
        metadata = hit["chunk"]["metadata"]
        path, start, end = metadata["file_path"], metadata["start_line"], metadata["end_line"]
        matching = {
            at for at, line in enumerate(self.lines(path)[start - 1 : end], start) if compiled.search(line)
        }
        shown = set(hit["highlight_lines"])
        if not shown or not shown <= matching or len(shown) != min(3, len(matching)):
            print(
                f"  {path}:{start}-{end}: highlights {sorted(shown)} of {sorted(matching)[:6]}",
                file=sys.stderr,
            )
            matching |= {-1}
        return {(path, line) for line in matching}

    def lines(self, path: str) -> list[str]:
        """The lines of a file on the disk, decoded as the product says that it does."""
        if path not in self._lines:
            raw = (self.project.root / path).read_bytes().removeprefix(b"\xef\xbb\xbf")
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            self._lines[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines[path]

    def theirs(self, arguments: dict[str, Any]) -> set[tuple[str, int]]:
        pattern = arguments["query"]
        pattern = pattern if arguments["match_type"] == "substring" else ascii_classes(pattern)
        command = [*ripgrep(arguments), "--null", "--with-filename", "--hidden", "--no-ignore", "-e", pattern]
        command.remove("--no-messages")
        run = subprocess.run(
            [*command, "--", *self.files], cwd=self.project.root, capture_output=True, check=False
        )
        if run.returncode not in (0, 1) or run.stderr:
            raise SystemExit(f"ripgrep ended with {run.returncode}: {run.stderr[:500].decode()}")
        out = set()
        for line in run.stdout.split(b"\n"):
            path, _, rest = line.partition(b"\0")
            if rest:
                out.add((path.decode().removeprefix("./"), int(rest.split(b":", 1)[0])))
        return out


async def compare(project: Project, count: int) -> dict[str, Any]:
    comparison = Comparison(project)
    chance = random.Random(11)
    requests = [
        {"query": piece(comparison.texts, chance), "match_type": "substring"} for _ in range(count // 2)
    ]
    requests += [
        {"query": expression(comparison.texts, chance), "match_type": "regex"}
        for _ in range(count - count // 2)
    ]
    equal, skipped, differing = 0, 0, []
    ours_s, theirs_s, lines = [], [], 0
    async with project.front() as front:
        for arguments in requests[:WARM_UP]:
            await front.call("cortex_exact", **arguments)
        for arguments in requests:
            ours, seconds = await comparison.ours(front, arguments)
            if ours is None:
                skipped += 1
                continue
            ours_s.append(seconds)
            theirs_s.append(time_ripgrep(project.root, arguments))
            theirs = comparison.theirs(arguments)
            lines += len(theirs)
            if ours == theirs:
                equal += 1
            else:
                differing.append({
                    **arguments,
                    "only_cortex": [f"{path}:{line}" for path, line in sorted(ours - theirs)[:3]],
                    "only_ripgrep": [f"{path}:{line}" for path, line in sorted(theirs - ours)[:3]],
                })  # fmt: skip
    searched = list_files(project.root)
    return {
        "repository": project.root.name,
        "files_indexed": len(comparison.files),
        "files_only_ripgrep": sorted(set(searched) - set(comparison.files))[:5],
        "files_only_ripgrep_count": len(set(searched) - set(comparison.files)),
        "queries": len(requests) - skipped,
        "left_out_too_many": skipped,
        "matching_lines": lines,
        "equal": equal,
        "differing": differing,
        "cortex_warm": asdict(summarise("cortex", ours_s)),
        "ripgrep_warm": asdict(summarise("ripgrep", theirs_s)),
        **await measure_cold(project, requests[-COLD:]),
    }


def list_files(root: Path) -> list[str]:
    """What ripgrep would search."""
    run = subprocess.run(["rg", "--files"], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.splitlines()


async def measure_cold(project: Project, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds of the first query with an empty page cache; the product starts anew and reads its whole index."""
    theirs, ours = [], []
    for arguments in requests:
        forget(project.root)
        theirs.append(time_ripgrep(project.root, arguments))
    for arguments in requests[:3]:
        attach.stop(project.config)
        forget(project.root)
        started = time.perf_counter()
        async with project.front() as front:
            while "took_ms" not in (await front.call("cortex_exact", **arguments)).get("metadata", {}):
                pass
            ours.append(time.perf_counter() - started)
    return {
        "ripgrep_cold_ms": round(1000 * statistics.median(theirs), 1),
        "cortex_cold_start_ms": round(1000 * statistics.median(ours), 1),
    }


def forget(root: Path) -> None:
    """Drop the files below `root` from the page cache."""
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# --- the program ---


def run(options: argparse.Namespace) -> dict[str, Any]:
    parts = options.only.split(",") if options.only else ["speed", "indexing", "equality"]
    result: dict[str, Any] = {
        "benchmark": "exact",
        "machine": describe_machine(),
        "ripgrep": _output("rg", "--version").splitlines()[0],
    }
    with contextlib.ExitStack() as stack:
        runtime = tempfile.mkdtemp(prefix="cx", dir="/tmp")
        stack.callback(shutil.rmtree, runtime, ignore_errors=True)
        os.environ["XDG_RUNTIME_DIR"] = runtime
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="exact-"))).resolve()
        if "speed" in parts or "indexing" in parts:
            tree = options.tree.resolve() if options.tree else home / "tree"
            files = 0 if options.tree else compose(options.sources.resolve(), tree, options.files)
            with Project(tree, runtime) as project:
                started = time.perf_counter()
                asyncio.run(project.index())
                rows = project.rows()
                result["tree"] = {
                    "files": files or len(rows.path_names),
                    "chunks": rows.live_count,
                    "indexed_in_s": round(time.perf_counter() - started - QUIET_S, 1),
                }
                if "speed" in parts:
                    texts = [rows.text(at) for at in covering(rows)]
                    result["speed"] = asyncio.run(measure_speed(project, draw(texts, options.queries)))
            if "indexing" in parts:
                result["indexing"] = measure_indexing(rows)
            del rows
        if "equality" in parts:
            result["equality"] = []
            for repository in options.repositories:
                copy = home / repository.name
                shutil.copytree(
                    repository, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cortex")
                )
                with Project(copy, runtime) as project:
                    asyncio.run(project.index())
                    result["equality"].append(asyncio.run(compare(project, options.compared)))
                    show_equality(result["equality"][-1])
                shutil.rmtree(copy)
    return result


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT).stdout.strip()


def show(result: dict[str, Any]) -> None:
    for name in ("machine", "ripgrep", "tree"):
        if name in result:
            print(f"{name:10} {result[name]}")
    if "speed" in result:
        print(
            f"\n{'through the MCP client':24} {'p50':>8} {'p95':>8} {'p99':>8} ms {'found':>8}   ripgrep p50, p95"
        )
    for row in result.get("speed", ()):
        peer = row.get("ripgrep")
        beside = f"{peer['p50_ms']:>12.1f} {peer['p95_ms']:>8.1f}" if peer else ""
        print(
            f"{row['case']:24} {row['p50_ms']:>8.2f} {row['p95_ms']:>8.2f} {row['p99_ms']:>8.2f}    {row['found_median']:>8.0f} {beside}"
        )
    for name, value in result.get("indexing", {}).items():
        print(f"{name:24} {value}")


def show_equality(one: dict[str, Any]) -> None:
    print(
        f"{one['repository']:20} equal {one['equal']}/{one['queries']} ({one['left_out_too_many']} left out), {one['matching_lines']} lines; "
        f"p50/p95 ms: cortex {one['cortex_warm']['p50_ms']}/{one['cortex_warm']['p95_ms']}, "
        f"ripgrep {one['ripgrep_warm']['p50_ms']}/{one['ripgrep_warm']['p95_ms']}; "
        f"cold ms: cortex with start {one['cortex_cold_start_ms']}, ripgrep {one['ripgrep_cold_ms']}"
    )
    for difference in one["differing"][:5]:
        print(f"    {difference}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sources", type=Path, help="folder of repositories that the tree is made of")
    parser.add_argument("--tree", type=Path, help="measure this tree instead of one made of --sources")
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--repositories", type=Path, nargs="*", default=[], help="compared with ripgrep")
    parser.add_argument("--queries", type=int, default=200, help="queries of each kind")
    parser.add_argument("--compared", type=int, default=60, help="queries compared in each repository")
    parser.add_argument("--only", help="speed, indexing, equality; or some, divided by commas")
    parser.add_argument(
        "--json", action="store_true", help="write scripts/bench/results/<date>-<commit>-exact.json"
    )
    options = parser.parse_args()
    if not shutil.which("rg"):
        parser.error("ripgrep (rg) is not installed; Debian and Homebrew call it ripgrep")
    if not (options.sources or options.tree) and (options.only or "speed") != "equality":
        parser.error("--sources or --tree is needed to measure speed and indexing")
    result = run(options)
    show(result)
    if options.json:
        name = f"{time.strftime('%Y-%m-%d')}-{_output('git', 'rev-parse', '--short', 'HEAD')}-exact.json"
        path = ROOT / "scripts" / "bench" / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        print(f"\n{path}")


if __name__ == "__main__":
    main()
