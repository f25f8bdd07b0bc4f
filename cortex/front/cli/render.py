"""Answers for people: coloured results, progress, status. What programs read is printed by the commands themselves."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from cortex.front.cli.doctor import Check
    from cortex.indexer.run import Report

#: lines of the excerpt below a result
EXCERPT_LINES = 6
#: seconds between two lines of progress where there is no terminal
LINE_S = 5.0
#: files a second below which a decimal is worth showing
SLOW_RATE = 10
#: left-out files that a report names without --verbose
SKIPPED_NAMED = 3

CONFIG_TEMPLATE = """\
# Cortex, settings of this project. Everything here is a default; docs/CONFIG.md explains each.
# embedding: {provider: static, endpoint: "", model: "", dimensions: 384}
# server:    {chunks_dir: .cortex/chunks, auto_index: true, debounce_ms: 500, deadline_s: 10, idle_exit_s: 600, toolsets: [code]}
# indexing:  {include: [], ignore: [], languages: [], chunk_tokens: 300, respect_gitignore: true, max_file_kb: 1024, debounce_ms: 100}
# fusion:    {bm25_weight: 0.45}
"""


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def agent_snippets(root: Path) -> str:
    """How to connect the usual agents to the project in `root`."""
    command = Path(sys.argv[0]).resolve() if Path(sys.argv[0]).name == "cortex" else "cortex"
    server = orjson.dumps({"command": str(command), "args": ["mcp", "--project", str(root)]}).decode()
    return (
        f"\nClaude Code:  claude mcp add cortex -- {command} mcp --project {root}"
        f'\nCursor        (.cursor/mcp.json):  {{"mcpServers": {{"cortex": {server}}}}}'
        f'\nVS Code       (.vscode/mcp.json):  {{"servers": {{"cortex": {server}}}}}'
    )


def place_of(result: dict[str, Any]) -> tuple[str, int, int, float]:
    """(file, first line, last line, score) of a result of either search tool."""
    metadata = result["chunk"].get("metadata") or {}
    score = result.get("combined_score", result.get("score", 0.0))
    return (
        metadata.get("file_path", ""),
        metadata.get("start_line") or 1,
        metadata.get("end_line") or metadata.get("start_line") or 1,
        score,
    )


def print_jsonl(answer: dict[str, Any]) -> None:
    for result in answer["results"]:
        file, start, end, score = place_of(result)
        print(orjson.dumps({"file": file, "start": start, "end": end, "score": score}).decode())


def print_answer(answer: dict[str, Any]) -> None:
    """Results with `path:line` and a short excerpt; what is amiss goes to standard error."""
    from rich.text import Text

    out = console()
    for result in answer["results"]:
        chunk = result["chunk"]
        file, start, _, score = place_of(result)
        line = (chunk.get("metadata") or {}).get("snippet_start_line") or start
        head = Text.assemble((file, "bold cyan"), (f":{line}", "green"), f"  {chunk.get('chunk_type', '')}  ")
        head.append(f"{score:.2f}", "dim")
        if result.get("stale"):
            head.append("  changed since it was indexed", "yellow")
        out.print(head)
        if explanation := result.get("explain"):
            out.print(Text("    " + _explain(explanation), "dim"))
        for text in _excerpt(result):
            out.print(text)
    print_notes(answer)


def print_graph(answer: dict[str, Any]) -> None:
    """Each result with its place, how it was resolved, and the source line."""
    from rich.text import Text

    out = console()
    for result in answer["results"]:
        node = result["node"]
        place = {"file": node.get("file", ""), "line": node.get("start_line", 0)}
        if answer["operation"] != "implementations":
            place = result.get("location", place)
        head = Text.assemble(("  " * (result["depth"] - 1), ""), (str(node["id"]), "bold cyan"))
        head.append(f"  {place['file']}:{place['line']}", "green")
        told = [result.get(name, "") for name in ("edge", "confidence", "impact_type", "severity")]
        head.append("  " + " ".join(filter(None, told)), "dim")
        if candidates := result.get("candidates"):
            head.append(f"  one of {len(candidates)} that it may mean", "yellow")
        out.print(head)
        for line in result.get("context") or ():
            out.print(Text("  " * result["depth"] + "  " + line["text"].strip(), "dim"))
    print_notes(answer, f"{answer['total_returned']} of {answer['total_found']} are shown.")


def _excerpt(result: dict[str, Any]) -> Iterable[Any]:
    from rich.text import Text

    if highlights := result.get("highlights"):
        for marked in highlights:
            text = Text("    ")
            for at, part in enumerate(marked.replace("</em>", "<em>").split("<em>")):
                text.append(part.replace("\n", "\n    "), "bold yellow" if at % 2 else "")
            yield text
        return
    lines = [line for line in str(result["chunk"].get("text") or "").splitlines() if line.strip()]
    for line in lines[:EXCERPT_LINES]:
        yield Text("    " + line)


def _explain(explanation: dict[str, Any]) -> str:
    parts = [
        f"{name} {signal['value']:.2f}×{signal['weight']:g}"
        for name, signal in explanation["signals"].items()
        if signal["product"]
    ]
    return f"{' + '.join(parts)} = {explanation['sum']:.3f}"


def print_notes(answer: dict[str, Any], cut: str = "Some texts were cut.") -> None:
    """What is amiss, to standard error; `cut` is what an answer that was cut says."""
    index = answer["index"]
    notes = [answer.get("suggestion") or "", index.get("message", "")]
    if answer.get("truncated"):
        notes.append(cut)
    if index["pending_count"]:
        notes.append(
            f"{index['pending_count']} saved files are not in the index yet: {', '.join(index['pending'])}"
        )
    if index["degraded"]:
        notes.append(f"Without an answer from: {', '.join(index['degraded'])}.")
    for note in notes:
        if note:
            print(note, file=sys.stderr)


class Progress:
    """Called by the indexer with (files done, files to do, chunks): a bar on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("indexing"), BarColumn(), TextColumn("{task.fields[told]}"))
            self._bar = Bar(*columns, console=console(stderr=True))
            self._task = self._bar.add_task("index", total=None, told="")
            self._bar.start()
        return self

    def __call__(self, done: int, total: int, chunks: int) -> None:
        now = time.monotonic()
        told = say_pace(done, total, chunks, now - self._started)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, told=told)
        elif now - self._said >= LINE_S:
            self._said = now
            print(f"indexing: {told}", file=sys.stderr)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def say_pace(done: int, total: int, chunks: int, seconds: float) -> str:
    """Files, chunks, rate and time left; when all is read, what still has to be done."""
    told = f"{done} of {total} files, {chunks} chunks"
    if done >= total:
        return f"{told}, linking names"
    if done == 0 or seconds <= 0:
        return told
    rate = done / seconds
    return (
        f"{told}, {rate:.{0 if rate >= SLOW_RATE else 1}f} files/s, {_duration((total - done) / rate)} left"
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def print_report(report: Report, *, verbose: bool) -> None:
    """What one run of the indexer did."""
    print(
        f"{report.files} files, {report.chunks} chunks: {report.indexed} indexed, {report.unchanged} unchanged, "
        f"{report.removed} removed, {len(report.skipped)} left out, in {report.seconds:.1f} s"
    )
    named = report.skipped if verbose else report.skipped[:SKIPPED_NAMED]
    for skipped in named:
        print(f"  left out {skipped.path}: {skipped.reason}")
    if len(named) < len(report.skipped):
        print(f"  … and {len(report.skipped) - len(named)} more; --verbose lists them")
    for remark in report.remarks if verbose else ():
        print(f"  {remark.path}: {remark.reason}")
    if report.remarks and not verbose:
        print(f"  {count_by_kind(remark.reason for remark in report.remarks)}; --verbose lists them")


def count_by_kind(reasons: Iterable[str]) -> str:
    """As in `3 × syntax errors, 1 × minified`: what stands before a colon is the kind."""
    return _counted(dict(Counter(reason.partition(":")[0] for reason in reasons).most_common()))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {kind}" for kind, count in counts.items())


def print_status(found: dict[str, Any]) -> None:
    out = console()
    index, members = found["index"], found["set"]
    out.print(f"[bold]{found['project']}[/bold]  cortex {found['version']}, configuration {found['config']}")
    out.print(
        f"index    generation {index['generation']}, {index['chunks']} chunks ({index['without_vector']} without vector) "
        f"in {index['segments']} segments, {index['chunk_files']} chunk files, model {index['model'] or '-'}"
    )
    if progress := index.get("indexing"):
        out.print(f"indexer  {progress['done']} of {progress['total']} files")
    if index["pending_count"]:
        out.print(f"pending  {index['pending_count']}: {', '.join(index['pending'])}")
    if index["left_out"]:
        out.print(f"left out {_counted(index['left_out'])}; `cortex index --verbose` lists them")
    if index["remarks"]:
        out.print(f"unusual  {_counted(index['remarks'])}; `cortex index --verbose` lists them")
    if index["foreign_files"]:
        out.print(
            f"foreign  {', '.join(index['foreign_files'])}: not written by Cortex, so automatic indexing is off"
        )
    if not members["running"]:
        out.print("workers  none are running; the first question starts them")
    for one in members.get("processes", []):
        colour = "green" if one["state"] == "running" else "yellow"
        out.print(
            f"{one['name']:8} [{colour}]{one['state']}[/{colour}]  pid {one['pid']}, up {one['uptime_s']:.0f} s, "
            f"{one['restarts']} restarts  {one['last_error']}"
        )
    for warning in (members["problem"], index.get("message", ""), *found["warnings"]):
        if warning:
            with contextlib.suppress(BrokenPipeError):
                print(warning, file=sys.stderr)


def print_checks(checks: list[Check]) -> None:
    out = console()
    marks = {"fine": "[green]✓[/green]", "odd": "[yellow]![/yellow]", "wrong": "[red]✗[/red]"}
    from rich.markup import escape

    for check in checks:
        out.print(f"{marks[check.state]} {check.name:14} {escape(check.text)}")
