"""Measures the text engine in process: indexing, commits, index size, and keyword queries of each kind.

Sources are cut into windows of 40 lines (what the indexer's chunks measure on average), each file also gets an
overview and a definitions chunk. Terms are drawn from the text, so that frequent and rare ones both occur.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from cortex.engines.text_tantivy import TextSnapshot, TextWriter, open_text
from cortex.rows import Row, Rows, assemble, write_rows
from ipc.messages import ExactSearch, Filters, TextSignals
from ipc.segment import open_segment

WINDOW_LINES = 40
SUFFIXES = {".py", ".go", ".rs", ".java", ".ts", ".js", ".c", ".h", ".cpp", ".md"}


def read_sources(folders: list[Path], chunks_max: int) -> Iterator[dict[str, Any]]:
    made = 0
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > 1_000_000:
                continue
            text = path.read_text(encoding="utf-8", errors="replace").replace("\0", "")
            for chunk in cut_file(str(path.relative_to(folder)), text):
                yield chunk
                made += 1
                if made >= chunks_max:
                    return


def cut_file(path: str, text: str) -> Iterator[dict[str, Any]]:
    lines = text.split("\n")
    language = {".py": "python", ".md": "markdown"}.get(Path(path).suffix, Path(path).suffix[1:])
    kind = "documentation" if path.endswith(".md") else "code"

    def make(id_: str, kind: str, body: str, first: int, last: int) -> dict[str, Any]:
        metadata = {"file_path": path, "language": language, "start_line": first, "end_line": last}
        tags = ["code", language, kind, path.split("/", maxsplit=1)[0]]
        return {
            "id": id_,
            "chunk_type": kind,
            "title": f"{path} {kind}",
            "text": body,
            "tags": tags,
            "metadata": metadata,
        }

    for start in range(0, len(lines), WINDOW_LINES):
        body = "\n".join(lines[start : start + WINDOW_LINES])
        last = min(start + WINDOW_LINES, len(lines))
        chunk = make(f"{kind}-{path}#{start}", kind, body, start + 1, last)
        names = re.findall(r"^\s*(?:def|class|func|fn|type|struct|interface)\s+(\w+)", body, re.MULTILINE)
        chunk["metadata"]["definitions"] = [{"name": name, "kind": "function"} for name in names]
        chunk["metadata"]["comment_text"] = "\n".join(re.findall(r"(?:#|//)(.*)", body))
        yield chunk
    if kind == "code":
        signatures = [
            f"# Lines {at}-{at}\n{line.strip()}"
            for at, line in enumerate(lines, 1)
            if re.match(r"\s*(def|class|func|fn|type|struct|interface)\s", line)
        ]
        for part in range(0, len(signatures), WINDOW_LINES):
            body = "\n".join(signatures[part : part + WINDOW_LINES])
            yield make(f"code-definitions-{path}-p{part}", "definitions", body, 1, len(lines))


def build(home: Path, chunks: list[dict[str, Any]]) -> tuple[Rows, TextWriter, float]:
    rows = [Row(at + 1, chunk, "bench.json", b"\0" * 16, None, "none") for at, chunk in enumerate(chunks)]
    write_rows(home / "1.seg", rows, 1)
    opened = assemble(1, "none", 1, (open_segment(home / "1.seg"),), np.zeros(0, "<u8"))
    writer = TextWriter(home / "text", "")
    start = time.perf_counter()
    writer.build(1, ((row.key, row.chunk) for row in rows), [])
    return opened, writer, time.perf_counter() - start


def draw_queries(chunks: list[dict[str, Any]], count: int) -> dict[str, list[ExactSearch]]:
    random.seed(7)
    covering = [chunk["text"] for chunk in chunks if chunk["chunk_type"] in ("code", "documentation")]

    def words() -> list[str]:
        found: list[str] = []
        while len(found) < 4:
            found = [w for w in re.findall(r"\w+", random.choice(covering)) if len(w) > 3 and not w.isdigit()]
        return found

    def typo(word: str) -> str:
        at = random.randrange(1, len(word) - 1)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    def pair() -> tuple[str, str]:
        found = words()
        at = random.randrange(len(found) - 1)
        return found[at], found[at + 1]

    def line() -> str:
        while True:
            text = random.choice(random.choice(covering).split("\n")).strip()
            if len(text) > 12:
                start = random.randrange(len(text) - 8)
                return text[start : start + random.randrange(5, 25)].strip() or text

    def one() -> str:
        return random.choice(words())

    makers: dict[str, Callable[[], ExactSearch]] = {
        "term": lambda: ExactSearch(one()),
        "and": lambda: ExactSearch(" ".join(pair())),
        "boolean": lambda: ExactSearch(f"({one()} OR {one()}) AND NOT {one()}"),
        "phrase": lambda: ExactSearch('"{} {}"'.format(*pair())),
        "filtered": lambda: ExactSearch(one(), filters=Filters(exclude_paths=("test*/", "*_test.py"))),
        "prefix": lambda: ExactSearch(one()[:4] + "*"),
        "wildcard": lambda: ExactSearch("{0[0]}{0[1]}*{0[2]}".format((w := one())[:2] + w[-1:])),
        "fuzzy": lambda: ExactSearch(typo(one()) + "~1"),
        "fuzzy2": lambda: ExactSearch(typo(one()) + "~2"),
        "substring": lambda: ExactSearch(line(), "substring"),
        "regex": lambda: ExactSearch(r"{}\w*\(.*{}".format(*(w[:5] for w in pair())), "regex"),
    }
    return {name: [make() for _ in range(count)] for name, make in makers.items()}


def measure(snapshot: TextSnapshot, queries: dict[str, list[ExactSearch]]) -> list[dict[str, Any]]:
    table = []
    for name, requests in queries.items():
        for request in requests[:5]:
            snapshot.search(request)
        times, found = [], []
        for request in requests:
            start = time.perf_counter()
            answer = snapshot.search(request)
            times.append((time.perf_counter() - start) * 1e3)
            found.append(answer.total_found)
        table.append({"kind": name, **percentiles(times), "found_median": statistics.median(found)})
    questions = [
        f"how to {q.query} the {r.query}" for q, r in zip(queries["term"], queries["and"], strict=True)
    ]
    times = []
    for question in questions:
        start = time.perf_counter()
        snapshot.signals(TextSignals(question, 400))
        times.append((time.perf_counter() - start) * 1e3)
    table.append({"kind": "signals", **percentiles(times), "found_median": 0})
    return table


def percentiles(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        f"p{p}_ms": round(ordered[min(len(ordered) * p // 100, len(ordered) - 1)], 2) for p in (50, 95, 99)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=60_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chunks = list(read_sources(options.sources, options.chunks))
    megabytes = sum(len(chunk["text"].encode()) for chunk in chunks) / 1e6
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        rows, writer, seconds = build(home, chunks)
        size = sum(file.stat().st_size for file in (home / "text" / "1").iterdir()) / 1e6
        commits = []
        for number in range(2, 22):
            at = random.randrange(len(chunks) - 100)
            changed = [((number << 32) + i, chunk) for i, chunk in enumerate(chunks[at : at + 100])]
            start = time.perf_counter()
            writer.build(number, changed, range(at + 1, at + 101))
            commits.append((time.perf_counter() - start) * 1e3)
        snapshot = open_text(home / "text" / "1", rows)
        table = measure(snapshot, draw_queries(chunks, options.queries))
        writer.close()
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip(),
        "chunks": len(chunks), "text_mb": round(megabytes, 1), "index_mb": round(size, 1),
        "indexing_mb_per_s": round(megabytes / seconds, 1), "commit_100_chunks": percentiles(commits), "queries": table,
    }  # fmt: skip
    if options.json:
        path = Path("scripts/bench/results") / f"{time.strftime('%Y-%m-%d')}-{result['commit']}-exact.json"
        path.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2))
        print(path, file=sys.stderr)
    for key, value in result.items():
        if key != "queries":
            print(f"{key:20} {value}")
    for row in table:
        print("  ".join(f"{key} {value!s:>8}" for key, value in row.items()))


if __name__ == "__main__":
    main()
