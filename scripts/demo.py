"""The program behind scripts/demo, run once everything is installed: index, search over MCP, change
a file and find the change, store notes, end every process, recall the notes, clean up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import orjson
import psutil
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.system.errors import CortexError

CORTEX = str(Path(sys.executable).parent / "cortex")
#: questions that fit any code base
QUESTIONS = (
    "where is the configuration loaded and checked",
    "how are errors reported to the caller",
    "what happens when a process stops",
)
#: notes to store: kind, title, body
NOTES = (
    (
        "decision",
        "Retries use exponential back-off with jitter",
        "Fixed delays made all clients return at once.",
    ),
    ("fact", "The payment provider allows twenty calls a second", "It answers 429 to those above."),
    ("preference", "Tests are named as sentences about behaviour", "A failing one then says what broke."),
)
REMEMBERED = "why do our retries back off?"
#: bounds of the scratch copy: enough for a real index, little enough to copy at once
SCRATCH_FILES_MAX, SCRATCH_BYTES_MAX = 200, 200_000
#: seconds within which a change must reach an answer
BOUND_S = 60.0

console = Console(highlight=False)


def heading(text: str) -> None:
    console.print(f"\n[bold cyan]{text}[/]")


def index(project: Path) -> None:
    """Run `cortex index`, which draws its own progress bar."""
    result = subprocess.run(
        [CORTEX, "index", "--project", str(project)], stdin=subprocess.DEVNULL, check=False
    )
    if result.returncode:
        sys.exit(result.returncode)


@contextlib.asynccontextmanager
async def connected(project: Path, log):
    """Open an MCP session of the official client with `cortex mcp` over standard input and
    output.
    """
    parameters = StdioServerParameters(
        command=CORTEX, args=["mcp", "--project", str(project)], env=dict(os.environ)
    )
    async with stdio_client(parameters, errlog=log) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def ask(session: ClientSession, tool: str, query: str, limit: int = 3) -> dict:
    result = await session.call_tool(tool, {"query": query, "limit": limit, "detail": "full"})
    return orjson.loads(result.content[0].text)


async def show(session: ClientSession, tool: str, query: str) -> list[dict]:
    """Search, print the answer for a person, and return the hits."""
    console.print(f"\n[bold]{tool}[/]  {escape(query)}")
    started = time.perf_counter()
    try:
        answer = await ask(session, tool, query)
    except MCPError as error:
        console.print(f"  [red]{escape(str(error))}[/]")
        return []
    took_ms = (time.perf_counter() - started) * 1000
    for hit in answer["results"]:
        chunk, score = hit["chunk"], hit.get("combined_score", hit.get("score", 0.0))
        metadata = chunk.get("metadata", {})
        where = f"{metadata.get('file_path', chunk['id'])}:{metadata.get('start_line', 1)}"
        console.print(f"  [green]{escape(where)}[/]  [dim]{chunk['chunk_type']}, {score:.2f}[/]")
        for line in excerpt(hit):
            console.print(f"    [dim]│[/] {line}", no_wrap=True, overflow="ellipsis")
    if not answer["results"]:
        console.print(f"  nothing found. {escape(answer.get('suggestion') or '')}")
    console.print(f"  [dim]{took_ms:.1f} ms, generation {answer['index']['generation']}[/]")
    return answer["results"]


def excerpt(hit: dict) -> list[str]:
    """Return at most three lines of a hit, as markup: the matching lines, or the chunk's first
    lines.
    """
    marked = [line for text in hit.get("highlights", ()) for line in text.splitlines() if "<em>" in line]
    if marked:
        return [escape(line).replace("<em>", "[bold]").replace("</em>", "[/]") for line in marked[:3]]
    return [escape(line) for line in hit["chunk"].get("text", "").splitlines() if line.strip()][:3]


def first_symbol(results: list[dict]) -> str:
    """Return the name of a symbol in the results, for an exact search."""
    for hit in results:
        for name in hit["chunk"].get("metadata", {}).get("symbols") or []:
            if name.isidentifier() and len(name) > 4 and not name.startswith("_"):
                return name
    return "config"


async def questions(project: Path, log) -> None:
    async with connected(project, log) as session:
        table = Table("tool", "purpose", box=None, header_style="bold")
        for tool in (await session.list_tools()).tools:
            table.add_row(
                tool.name,
                escape(
                    textwrap.shorten((tool.description or "").partition("\n\n")[0], 150, placeholder=" …")
                ),
            )
        console.print(table)
        hits = []
        for question in QUESTIONS:
            hits += await show(session, "cortex_search", question)
        name = first_symbol(hits)
        await show(session, "cortex_exact", name)
        await show(session, "cortex_exact", f"{name[: max(4, len(name) // 2)]}* AND NOT tags:test")


def scratch_copy(project: Path, target: Path) -> Path:
    """Copy some text files of `project`; return a copied file that may be changed."""
    copied = []
    for folder, folders, names in os.walk(project):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            source = Path(folder) / name
            if len(copied) >= SCRATCH_FILES_MAX:
                break
            if source.suffix not in (".py", ".go", ".ts", ".js", ".rs", ".java", ".c", ".cpp", ".md"):
                continue
            if source.is_symlink() or source.stat().st_size > SCRATCH_BYTES_MAX:
                continue
            path = target / source.relative_to(project)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)
            copied.append(path)
    if not copied:
        copied.append(target / "notes.md")
        copied[0].write_text("# Notes\n")
    return copied[0]


async def change(scratch: Path, path: Path, log) -> None:
    word = f"quokka{os.getpid()}"
    async with connected(scratch, log) as session:
        deadline = time.monotonic() + BOUND_S
        while True:  # repeat until the copy is served
            answer = await ask(session, "cortex_exact", word)
            if answer["index"]["generation"] and not answer["index"].get("indexing"):
                break
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        console.print(f"  {word}: {len(answer['results'])} results before the change")
        comment = "#" if path.suffix in (".py", ".md") else "//"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{comment} the {word} was here\n")
        saved = time.perf_counter()
        while not (answer := await ask(session, "cortex_exact", word))["results"]:
            if time.monotonic() > deadline:
                sys.exit(f"The change was not found within {BOUND_S:g} s.")
            await asyncio.sleep(0.02)
        metadata = answer["results"][0]["chunk"]["metadata"]
        console.print(
            f"  {word}: found in [green]{escape(metadata['file_path'])}[/]"
            f" {(time.perf_counter() - saved) * 1000:.0f} ms after the file was saved"
        )


async def call(session: ClientSession, tool: str, **arguments) -> dict:
    """Call a memory tool; the first call starts the workers of memory."""
    deadline = time.monotonic() + BOUND_S
    while True:
        try:
            result = await session.call_tool(tool, arguments)
            return orjson.loads(result.content[0].text)
        except MCPError as error:
            if time.monotonic() > deadline:
                sys.exit(str(error))
            await asyncio.sleep(0.2)


async def remember(scratch: Path, log) -> None:
    async with connected(scratch, log) as session:
        ids = []
        for kind, title, body in NOTES:
            number = f"demo-{len(ids)}"
            answer = await call(
                session, "cortex_store", kind=kind, title=title, body=body, operation_id=number
            )
            ids.append(answer["id"])
            console.print(f"  stored   [green]{answer['number']}[/] {escape(title)}  [dim]{kind}[/]")
        answer = await call(session, "cortex_relate", from_id=ids[1], to_id=ids[0], relation="causes")
        print_plain(f"  related  {answer['message'].removeprefix('Related: ')}")


async def recall(scratch: Path, log) -> bool:
    """Recall the stored notes; return whether they were found."""
    async with connected(scratch, log) as session:
        await call(session, "cortex_briefing")
        started = time.perf_counter()
        answer = await call(session, "cortex_recall", query=REMEMBERED)
        took_ms = (time.perf_counter() - started) * 1000
        console.print(f"\n[bold]cortex_recall[/]  {escape(REMEMBERED)}")
        for row in answer["results"]:
            console.print(
                f"  [green]{row['number']}[/] {escape(row['title'])}  [dim]{row['kind']}, {row['score']:.2f}[/]"
            )
        console.print(f"  [dim]{took_ms:.1f} ms[/]")
        return bool(answer["results"])


def snippets(project: Path) -> None:
    server = {"command": CORTEX, "args": ["mcp", "--for", "agent", "--project", str(project)]}
    console.print("[bold]The agents that are there[/], each change shown before it is written")
    print_plain(shlex.join([CORTEX, "install"]))
    console.print("By hand: [bold]Claude Code[/]")
    print_plain(
        shlex.join(
            [
                "claude",
                "mcp",
                "add",
                "cortex",
                "--",
                CORTEX,
                "mcp",
                "--for",
                "agent",
                "--project",
                str(project),
            ]
        )
    )
    console.print("[bold]Cursor[/], .cursor/mcp.json")
    print_plain(json.dumps({"mcpServers": {"cortex": server}}, indent=2))
    console.print("[bold]VS Code[/], .vscode/mcp.json")
    print_plain(json.dumps({"servers": {"cortex": {"type": "stdio"} | server}}, indent=2))


def print_plain(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)


def set_processes(project: Path) -> list[psutil.Process]:
    """Return the running set of `project`: the supervisor and its processes."""
    status = attach.set_status(configuration.load(project))
    processes = []
    for pid in (status.get("pid", 0), *(member["pid"] for member in status["processes"])):
        if pid:
            with contextlib.suppress(psutil.NoSuchProcess):
                processes.append(psutil.Process(pid))
    return processes


def stop(project: Path) -> int:
    """Stop the set of `project`; return how many of its processes are left."""
    processes = set_processes(project)
    attach.stop(configuration.load(project))
    _, left = psutil.wait_procs(processes, timeout=10)
    return len(left)


def stop_memory() -> int:
    """Stop the processes of the demo's memory; return how many are left."""
    data = configuration.load_data()
    status = attach.set_status(data)
    pids = [status.get("pid", 0), *(member["pid"] for member in status["processes"])]
    processes = []
    for pid in filter(None, pids):
        with contextlib.suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(pid))
    attach.stop(data)
    _, left = psutil.wait_procs(processes, timeout=10)
    return len(left)


def main(argument: str) -> int:
    project = Path(argument).expanduser().resolve()
    if not project.is_dir():
        print(f"{project} is not a folder; name the folder of a project.", file=sys.stderr)
        return 2
    ours = not attach.set_status(configuration.load(project))["running"]
    with tempfile.TemporaryDirectory(prefix="cortex-demo-") as folder:
        scratch = Path(folder).resolve() / "copy"
        scratch.mkdir()
        os.environ["CORTEX_MEMORY_DATA_DIR"] = str(
            Path(folder).resolve() / "memory"
        )  # keeps the demo out of the user's own memory
        left, lost = 0, False
        try:
            with (Path(folder) / "front.log").open("w") as log:
                heading(f"1. Index {project}")
                index(project)
                heading("2. Ask, as an agent does")
                asyncio.run(questions(project, log))
                heading("3. Change a file in a scratch copy")
                path = scratch_copy(project, scratch)
                asyncio.run(change(scratch, path, log))
                heading("4. Remember, end everything, start again, recall")
                asyncio.run(remember(scratch, log))
                left = stop(scratch) + stop_memory()
                console.print("  every process has ended" if not left else f"  {left} processes are left")
                lost = not asyncio.run(recall(scratch, log))
                heading("5. Connect your agent")
                snippets(project)
        finally:
            left += stop(scratch) + stop_memory()
            shutil.rmtree(configuration.load(scratch).home, ignore_errors=True)
            if ours:
                left += stop(project)
    heading("6. Clean up")
    running_note = "" if ours else " The workers that were running before go on."
    console.print(f"  {left or 'No'} process{'es are' if left > 1 else ' is'} left.{running_note}")
    if lost:
        console.print("  [red]The stored notes were not found again.[/]")
    return 1 if left or lost else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except CortexError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
