"""The commands of `cortex`, thin: options in, one call, one rendering out. Slow imports are inside the commands."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from cortex import __version__
from cortex.front.cli import render, render_related
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.home import open_home

EXIT_FOUND, EXIT_NOTHING, EXIT_UNAVAILABLE = 0, 1, 3

app = typer.Typer(
    name="cortex",
    help="A local context engine for coding agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
embed_app = typer.Typer(help="The embedding model as a service.", no_args_is_help=True)
app.add_typer(embed_app, name="embed")

Project = Annotated[
    str | None,
    typer.Option("--project", help="The project's folder; default: found from the working folder."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Exactly the tool's answer.")]
AsJsonl = Annotated[bool, typer.Option("--jsonl", help='One {"file", "start", "end", "score"} a line.')]
Count = Annotated[int, typer.Option("-k", "--limit", help="How many results, 1 to 100.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Kind of chunk; may be repeated.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="All of these tags; may be repeated.")]
Paths = Annotated[list[str] | None, typer.Option("--path", help="Any of these globs; may be repeated.")]
ExcludePaths = Annotated[list[str] | None, typer.Option("--exclude-path", help="None of these globs.")]
Question = Annotated[str | None, typer.Argument(help="The question.")]
QuestionOption = Annotated[str | None, typer.Option("-q", "--query", help="The question, as an option.")]


def run(arguments: list[str]) -> int:
    """Run one command; the exit code. Raises CortexError."""
    try:
        app(arguments, prog_name="cortex")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_FOUND
    return EXIT_FOUND


@app.command()
def init(project: Project = None) -> None:
    """Make .cortex/config.yml with the defaults, and show how to connect an agent."""
    config = configuration.load(project or str(Path.cwd()))
    path = open_home(config) / "config.yml"
    if path.exists():
        print(f"{path} exists and stays as it is.")
    else:
        path.write_text(render.CONFIG_TEMPLATE, encoding="utf-8")
        print(f"{path} is written; every setting in it is a default.")
    print(render.agent_snippets(config.root))


@app.command()
def index(
    path: Annotated[Path | None, typer.Argument(help="The project's folder.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, and follow every saved file.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Read and embed every file anew.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the files that were left out.")
    ] = False,
    project: Project = None,
) -> None:
    """Write the chunk files of the project."""
    config = configuration.load(project or path)
    if watch:
        raise typer.Exit(_watch(config))
    from cortex.indexer.run import index as run_index

    with render.Progress() as progress:
        report = run_index(config, force=force, on_progress=progress)
    render.print_report(report, verbose=verbose)


def _watch(config: Config) -> int:
    import logging
    import signal

    from cortex.indexer.watch import watch
    from ipc.lifeline import watch_life_line

    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s indexer %(levelname)s %(message)s"
    )
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    watch_life_line(stop.set)
    return watch(config, stop)


@app.command()
def mcp(
    toolsets: Annotated[str | None, typer.Option(help="Comma-separated; default: server.toolsets.")] = None,
    project: Project = None,
) -> None:
    """Serve MCP over standard input and output (alias: stdio)."""
    raise AssertionError(f"cortex.front.cli.main runs this command itself: {toolsets} {project}")


@app.command()
def search(
    *,
    question: Question = None,
    query: QuestionOption = None,
    limit: Count = 15,
    mode: Annotated[str, typer.Option(help="hybrid or semantic.")] = "hybrid",
    types: Types = None,
    tags: Tags = None,
    paths: Paths = None,
    exclude_paths: ExcludePaths = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each signal's value and weight.")] = False,
    as_json: AsJson = False,
    as_jsonl: AsJsonl = False,
    project: Project = None,
) -> None:
    """Find code and documents by meaning."""
    arguments = {
        "query": _question(question, query),
        "limit": limit,
        "mode": mode,
        "explain": explain,
        **_filters(types, tags, paths, exclude_paths),
    }
    raise typer.Exit(_ask("cortex_search", arguments, project, as_json=as_json, as_jsonl=as_jsonl))


@app.command()
def exact(
    *,
    question: Question = None,
    query: QuestionOption = None,
    limit: Count = 15,
    offset: Annotated[int, typer.Option(help="Results to skip.")] = 0,
    match_type: Annotated[
        str | None, typer.Option("--match", help="exact, phrase, prefix, fuzzy, regex or substring.")
    ] = None,
    types: Types = None,
    tags: Tags = None,
    paths: Paths = None,
    exclude_paths: ExcludePaths = None,
    as_json: AsJson = False,
    as_jsonl: AsJsonl = False,
    project: Project = None,
) -> None:
    """Find code and documents by keywords."""
    arguments = {
        "query": _question(question, query),
        "limit": limit,
        "offset": offset,
        "match_type": match_type,
        **_filters(types, tags, paths, exclude_paths),
    }
    raise typer.Exit(_ask("cortex_exact", arguments, project, as_json=as_json, as_jsonl=as_jsonl))


@app.command()
def graph(
    *,
    operation: Annotated[
        str,
        typer.Argument(
            help="implementations, callers, callees, dependencies, dependents, type_usages, path or impact."
        ),
    ],
    target: Annotated[str, typer.Argument(help="A name, an id or a file's path.")],
    to: Annotated[str, typer.Option(help="Where a path ends.")] = "",
    depth: Annotated[int, typer.Option(help="Levels to follow, 1 to 10.")] = 1,
    scope: Annotated[str, typer.Option(help="Only results in files that match this glob.")] = "",
    exclude: Annotated[list[str] | None, typer.Option(help="None of these globs; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many results, 1 to 500.")] = 100,
    per_level: Annotated[int, typer.Option(help="How many results of one level, 1 to 100.")] = 50,
    as_json: AsJson = False,
    project: Project = None,
) -> None:
    """Ask about structure: who calls, implements and depends on what."""
    arguments = {
        "operation": operation,
        "target": target,
        "to": to,
        "depth": depth,
        "scope": scope,
        "exclude_patterns": exclude or [],
        "max_results": limit,
        "max_per_level": per_level,
    }
    if not as_json:
        arguments["context_lines"] = 0
    answer, raw = _call("cortex_graph", arguments, project)
    print(raw.decode()) if as_json else render.print_graph(answer)
    raise typer.Exit(EXIT_FOUND if answer["results"] else EXIT_NOTHING)


@app.command()
def related(
    *,
    place: Annotated[str, typer.Argument(help="A file, a file and line (src/a.py:42), or a chunk's id.")],
    limit: Annotated[int, typer.Option("-k", "--limit", help="How many of each kind, 1 to 100.")] = 10,
    as_json: AsJson = False,
    project: Project = None,
) -> None:
    """Find what belongs to a piece of code: similar code, callers, tests, documents."""
    arguments: dict[str, Any] = {"limit": limit}
    # Ids begin with the kind of what they are of; a file of such a name is there to be seen.
    is_id = place.startswith(("code-", "doc-")) and not Path(place.partition(":")[0]).exists()
    arguments["chunk_id" if is_id else "file"] = place
    answer, raw = _call("find_related", arguments, project)
    print(raw.decode()) if as_json else render_related.print_related(answer)
    found = any(answer[kind] for kind in ("similar", "callers", "tests", "documents"))
    raise typer.Exit(EXIT_FOUND if found else EXIT_NOTHING)


def _question(argument: str | None, option: str | None) -> str:
    if (argument is None) == (option is None):
        raise typer.BadParameter("pass one question, as an argument or with -q")
    return argument if argument is not None else option or ""


def _filters(
    types: list[str] | None, tags: list[str] | None, paths: list[str] | None, exclude_paths: list[str] | None
) -> dict[str, Any]:
    given = {"chunk_types": types, "tags": tags, "paths": paths, "exclude_paths": exclude_paths}
    return {name: values for name, values in given.items() if values}


def _ask(name: str, arguments: dict[str, Any], project: str | None, *, as_json: bool, as_jsonl: bool) -> int:
    """Call a tool and print its answer; 0 when something was found, 1 when not."""
    if not (as_json or as_jsonl):
        arguments["detail"] = "snippet"
    answer, raw = _call(name, arguments, project)
    if as_json:
        print(raw.decode())
    elif as_jsonl:
        render.print_jsonl(answer)
    else:
        render.print_answer(answer)
    return EXIT_FOUND if answer["results"] else EXIT_NOTHING


def _call(name: str, arguments: dict[str, Any], project: str | None) -> tuple[dict[str, Any], bytes]:
    """The answer of a tool, and its JSON."""
    from cortex.front.tools import TOOLS

    config = configuration.load(project)
    TOOLS[name].check(arguments)  # before a set is started for it

    async def ask() -> bytes:
        from cortex.front.link import Link

        link = Link(config)
        link.open()
        try:
            return orjson.dumps(await link.call(TOOLS[name], arguments))
        finally:
            await link.close()

    raw = asyncio.run(ask())
    return orjson.loads(raw), raw


@app.command()
def up(
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Leave the workers running and return.")
    ] = False,
    project: Project = None,
) -> None:
    """Start the project's workers, in the foreground until Ctrl-C, or with --detach until `cortex down`."""
    config = configuration.load(project)
    if not detach:
        raise typer.Exit(attach.run_supervisor(config, idle_exit=False))

    async def start() -> str:
        attachment = await attach.attach(config)
        try:
            await attachment.keep()
            return attachment.problem
        finally:
            await attachment.close()

    problem = asyncio.run(start())
    print(problem or f"The workers of {config.root} run until `cortex down`.")
    raise typer.Exit(EXIT_UNAVAILABLE if problem else EXIT_FOUND)


@app.command()
def down(project: Project = None) -> None:
    """Stop the project's workers."""
    config = configuration.load(project)
    stopped = attach.stop(config)
    print(
        f"The workers of {config.root} are stopped."
        if stopped
        else f"No workers are running for {config.root}."
    )


@app.command()
def status(as_json: AsJson = False, project: Project = None) -> None:
    """What runs, what is indexed, and what is amiss."""
    from cortex.front.cli.status import collect

    found = asyncio.run(collect(configuration.load(project)))
    if as_json:
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        render.print_status(found)
    raise typer.Exit(
        EXIT_FOUND if found["set"]["running"] and not found["set"]["problem"] else EXIT_UNAVAILABLE
    )


@embed_app.command("serve")
def embed_serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8121,
    project: Project = None,
) -> None:
    """Offer the embedding model over HTTP (POST /embed)."""
    from cortex.front.http.embedding import serve_embedder

    print(f"cortex: embedding on http://{host}:{port}/embed", file=sys.stderr)
    raise typer.Exit(serve_embedder(configuration.load(project), host, port))


@app.command()
def doctor(as_json: AsJson = False, project: Project = None) -> None:
    """Check everything that Cortex needs, and say what to do about what is missing."""
    from cortex.front.cli.doctor import examine

    checks = examine(project)
    if as_json:
        print(orjson.dumps(checks, option=orjson.OPT_INDENT_2).decode())
    else:
        render.print_checks(checks)
    raise typer.Exit(EXIT_UNAVAILABLE if any(check.state == "wrong" for check in checks) else EXIT_FOUND)


@app.command()
def version() -> None:
    """The version."""
    print(f"cortex {__version__}")
