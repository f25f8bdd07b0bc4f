"""Progress, reports, status and checks for people.

Tool answers are in cortex.front.cli.rendering.answers.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from cortex.front.cli.rendering import columns
from cortex.front.cli.running.sets import say_memory
from cortex.system.terminal import escape_controls, escape_in_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from cortex.ask.freshness import Freshness
    from cortex.front.cli.setup.doctor import Check
    from cortex.indexer.run import Report

#: seconds between two lines of progress without a terminal
LINE_S = 5.0
#: files per second below which a decimal is shown
SLOW_RATE = 10
#: left-out files in a report without --verbose
SKIPPED_NAMED = 3

CONFIG_TEMPLATE = """\
# Cortex, settings of this project. Everything here is a default; docs/CONFIG.md explains each.
# embedding: {provider: static, endpoint: "", model: "", dimensions: 384, model_path: "", device: cpu}
# server:    {chunks_dir: "", auto_index: true, debounce_ms: 500, deadline_s: 10, idle_exit_s: 600, toolsets: [code, memory],
#             answer_tokens: 1500, stats: true, history: true}
# indexing:  {include: [], ignore: [], languages: [], chunk_tokens: 300, respect_gitignore: true, max_file_kb: 1024, debounce_ms: 100}
# fusion:    {bm25_weight: 0.45}
"""


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints foreign text unchanged, never as commands to the terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class Screen(Console):
        def render(self, *arguments: Any) -> Iterator[Segment]:
            for segment in super().render(*arguments):
                text, style, control = segment
                yield segment if control else Segment(escape_controls(text), style)

        def on_broken_pipe(self) -> None:
            """Raise for a reader that has gone: rich would exit with 1, `main` decides the code."""
            raise BrokenPipeError

    return Screen(stderr=stderr, highlight=False, soft_wrap=True)


def agent_snippets(root: Path) -> str:
    """Return the entries that connect the usual agents to the project in `root`."""
    command = Path(sys.argv[0]).resolve() if Path(sys.argv[0]).name == "cortex" else "cortex"
    server = orjson.dumps(
        {"command": str(command), "args": ["mcp", "--for", "agent", "--project", str(root)]}
    ).decode()
    return (
        "\n`cortex install` connects the agents that are there. By hand:"
        f"\nClaude Code:  claude mcp add cortex -- {command} mcp --for agent --project {root}"
        f'\nCursor        (.cursor/mcp.json):  {{"mcpServers": {{"cortex": {server}}}}}'
        f'\nVS Code       (.vscode/mcp.json):  {{"servers": {{"cortex": {server}}}}}'
    )


#: no time left is estimated before this share of the files, or these seconds
ESTIMATED_SHARE, ESTIMATED_S = 0.05, 30.0
#: columns of a bar, and of the note beside it: in a narrow terminal the bar goes first
BAR_MIN, BAR_MAX, NOTE_WIDTH = 5, 40, 68


class Progress:
    """A progress bar on a terminal, else a line now and then; the indexer calls it with (files
    done, files to do, chunks). With `serves` the bar has a second half, which `serve` draws.

    `screen`: draw the bar there, whatever standard error is.
    """

    def __init__(
        self,
        screen: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        serves: bool = False,
    ) -> None:
        self._screen, self._clock = screen, clock
        self._parts = 2 if serves else 1
        self._indexed = ""
        self._bar: Bar | None = None
        self._started = self._printed_at = clock()

    def __enter__(self) -> Self:
        if self._screen is not None or sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar
            from rich.table import Column

            screen = self._screen or console(stderr=True)
            note_column = TextColumn("{task.fields[told]}", table_column=Column(no_wrap=False))
            bar = [BarColumn(min(BAR_MAX, room))] if (room := screen.width - NOTE_WIDTH) >= BAR_MIN else []
            self._bar = Bar(TextColumn("{task.fields[what]}"), *bar, note_column, console=screen)
            self._task = self._bar.add_task("index", total=None, what="indexing", told="")
            self._bar.start()
        return self

    def __call__(self, done: int, total: int, chunks: int) -> None:
        self._indexed = f"{done} of {total} files read"
        now = self._clock()
        note = say_pace(done, total, chunks, now - self._started)
        self._show(now, "indexing", note, (done, self._parts * total))

    def serve(self, done: int, total: int, *, waits: bool = False) -> None:
        """Show how much is served: `done` of all `total` files. `waits`: more is still to come."""
        indexed = f"{self._indexed}, " if self._indexed else ""
        note = f"{indexed}{done} of {total} served"
        if waits and done >= total:
            note += ", taking up the graph"
        self._show(self._clock(), "serving", note, (total + done, 2 * total))

    def follow(self, indexed: int, served: int, total: int) -> None:
        """Show the work of another process: `indexed` and `served` of all `total` files."""
        note = f"{indexed} of {total} files read, {served} served"
        self._show(self._clock(), "waiting for the first index", note, (indexed + served, 2 * total))

    def _show(self, now: float, what: str, note: str, place: tuple[int, int]) -> None:
        if self._bar is not None:
            completed, total = place
            self._bar.update(self._task, completed=completed, total=total, what=what, told=note)
        elif now - self._printed_at >= LINE_S:
            self._printed_at = now
            print(f"{what}: {note}", file=sys.stderr)

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextlib.contextmanager
def show_wait() -> Iterator[Callable[[Freshness], None]]:
    """Show the progress at each call, until the end of the `with`."""
    with Progress() as progress:

        def show(freshness: Freshness) -> None:
            state, share = freshness.progress(), freshness.share(freshness.current())
            if total := max(state.total, share.total):
                progress.follow(state.done if state.indexing else total, share.done, total)

        yield show


def say_pace(done: int, total: int, chunks: int, seconds: float) -> str:
    """Return files, chunks, rate, time left (not at first); when all are read, the next step."""
    counts = f"{done} of {total} files, {chunks} chunks"
    if done >= total:
        return f"{counts}, linking names"
    if done == 0 or seconds <= 0:
        return counts
    rate = done / seconds
    pace = f"{counts}, {rate:.{0 if rate >= SLOW_RATE else 1}f} files/s"
    if done < ESTIMATED_SHARE * total and seconds < ESTIMATED_S:
        return pace
    return f"{pace}, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s" if minutes else f"{remainder} s"


def print_report(report: Report, *, verbose: bool) -> None:
    """Print the numbers of one run of the indexer. They add up; the progress counts only files that
    are read, all except those left out unread.
    """
    parts = [f"{report.files} indexed ({report.indexed} now, {report.unchanged} unchanged)"]
    parts += [f"{report.empty} without text"] * bool(report.empty)
    parts += [f"{len(report.skipped)} left out ({report.unread} of them unread)"] * bool(report.skipped)
    removed = f"{report.removed} removed; " if report.removed else ""
    print(
        f"{report.files + report.empty + len(report.skipped)} files: {', '.join(parts)}; {removed}{report.chunks} chunks, "
        f"in {report.seconds:.1f} s"
    )
    listed = report.skipped if verbose else report.skipped[:SKIPPED_NAMED]
    for skipped in listed:
        print(escape_in_line(f"  left out {skipped.path}: {skipped.reason}"))
    if len(listed) < len(report.skipped):
        print(f"  … and {len(report.skipped) - len(listed)} more; --verbose lists them")
    for remark in report.remarks if verbose else ():
        print(escape_in_line(f"  {remark.path}: {remark.reason}"))
    if report.remarks and not verbose:
        print(f"  {count_by_kind(remark.reason for remark in report.remarks)}; --verbose lists them")


def count_by_kind(reasons: Iterable[str]) -> str:
    """Count as in `3 × syntax errors, 1 × minified`: the kind is the text before a colon."""
    return _format_counts(dict(Counter(reason.partition(":")[0] for reason in reasons).most_common()))


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {kind}" for kind, count in counts.items())


def print_status(status: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    index, members = status["index"], status["set"]
    project = escape(escape_in_line(status["project"]))
    out.print(f"[bold]{project}[/bold]  cortex {status['version']}, configuration {status['config']}")
    if status["part"]:
        out.print(
            f"part     {escape(escape_in_line(status['part']))} is a folder served from the project's index"
        )
    summary = (
        f"generation {index['generation']}, {index['chunks']} chunks ({index['without_vector']} without vector) "
        f"of {index['files']} files in {index['segments']} segments, {index['chunk_files']} chunk files, model {index['model'] or '-'}"
    )
    out.print(f"index    {escape(columns.folded(summary, 9))}")
    if progress := index.get("indexing"):
        out.print(f"indexer  {progress['done']} of {progress['total']} files")
    if index["pending_count"]:
        out.print(f"pending  {index['pending_count']}: {escape(escape_in_line(', '.join(index['pending'])))}")
    if index["left_out"]:
        out.print(
            f"left out {escape(_format_counts(index['left_out']))}; `cortex index --verbose` lists them"
        )
    if index["remarks"]:
        out.print(f"unusual  {escape(_format_counts(index['remarks']))}; `cortex index --verbose` lists them")
    out.print(f"cache    {escape(escape_in_line(status['cache']))}")
    if index["foreign_files"]:
        names = escape(escape_in_line(", ".join(index["foreign_files"])))
        out.print(f"foreign  {names}: served, but not written by Cortex")
    if not members.get("processes"):
        out.print("workers  none are running; the first question starts them")
    for process in members.get("processes", []):
        colour = "green" if process["state"] == "running" else "yellow"
        out.print(
            f"{process['name']:8} [{colour}]{process['state']}[/{colour}]  pid {process['pid']}, up {process['uptime_s']:.0f} s, "
            f"{process['restarts']} restarts  {escape(escape_in_line(process['last_error']))}"
        )
    if status["http"]:
        out.print(f"http     {escape(escape_in_line(status['http']))}; `cortex open` shows the page")
    if refused := members.get("refused_lines"):
        out.print(
            f"refused  {refused} lines of clients that are no message (JSON-RPC, one object on each line)"
        )
    if status["memory"]["set"]["processes"] or status["memory"]["warnings"]:
        out.print(escape(say_memory(status["memory"])))
    for warning in (members["problem"], index.get("message", ""), *status["warnings"]):
        if warning:
            with contextlib.suppress(BrokenPipeError):
                print(escape_in_line(warning), file=sys.stderr)


def print_checks(checks: list[Check]) -> None:
    out = console()
    marks = {"fine": "[green]✓[/green]", "odd": "[yellow]![/yellow]", "wrong": "[red]✗[/red]"}
    from rich.markup import escape

    for check in checks:
        text = columns.folded(escape_in_line(check.text), 17)
        out.print(f"{marks[check.state]} {check.name:14} {escape(text)}")
