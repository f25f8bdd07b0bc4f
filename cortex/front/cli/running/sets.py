"""`cortex up` and `cortex down`, for project and memory: starting and stopping workers by hand."""

import asyncio
import sys
from argparse import Namespace
from typing import Any

import orjson

from cortex.front.cli.parsing.parser import Parser, declare_sandbox
from cortex.front.cli.rendering.activity import slow_notice
from cortex.processes import attach
from cortex.processes.names import HTTP
from cortex.processes.starting import Owner, kind_of
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, EXIT_UNAVAILABLE
from cortex.system.terminal import escape_controls, escape_in_line, print_text

#: memory.sessions → its description
SESSIONS = {
    "project": "with agents are read for projects that use memory (memory.sessions: project)",
    "all": "with agents are read for all projects (memory.sessions: all)",
    "off": "with agents are not read (memory.sessions: off)",
}


def declare_up(parser: Parser) -> None:
    parser.add_flag("-d", "--detach", help="return, and leave the workers running")
    declare_sandbox(parser)


def declare_project_up(parser: Parser) -> None:
    declare_up(parser)
    parser.add_flag("--http", help="also start the HTTP server (`cortex serve`)")


def up(options: Namespace) -> int:
    return _up(configuration.load(options.project), detach=options.detach, http=options.http)


def down(options: Namespace) -> int:
    return _down(configuration.load(options.project))


def memory_up(options: Namespace) -> int:
    return _up(load_memory_data(options), detach=options.detach)


def memory_down(options: Namespace) -> int:
    data = load_memory_data(options)
    stopped = stop(data)
    where = escape_controls(str(data.root))
    print("The memory worker is stopped." if stopped else f"No memory worker is running for {where}.")
    return EXIT_OK


def memory_status(options: Namespace) -> int:
    from cortex.front.cli.status import memory_state

    state = hosts.run(memory_state(load_memory_data(options)))
    if options.as_json:
        print(orjson.dumps(state, option=orjson.OPT_INDENT_2).decode())
    else:
        print(say_memory(state))
    return EXIT_OK if state["set"]["processes"] and not state["warnings"] else EXIT_UNAVAILABLE


def load_memory_data(options: Namespace) -> DataFolder:
    return configuration.load_data({"memory": {"data_dir": options.data_dir}} if options.data_dir else None)


def say_memory(state: dict[str, Any]) -> str:
    """Return lines for people: folder, worker, database, sessions, and each warning."""
    members = state["set"].get("processes", [])
    served = [
        f"{process['state']}, pid {process['pid']}, {process['restarts']} restarts" for process in members
    ]
    descriptions = served or ["not running; the first call of memory starts it"]
    lines = [f"memory   {escape_in_line(state['folder'])}  {descriptions[0]}"]
    if remark := state.get("remark"):
        lines.append(f"         {remark}")
    if server := state.get("database"):
        lines.append(f"kept in  {escape_in_line(server)}")
    if mode := state.get("sessions"):
        lines.append(f"sessions {SESSIONS[mode]}")
    if embedder := state.get("embedder"):
        lines.append(f"model    {_say_embedder(embedder)}")
    return escape_controls("\n".join([*lines, *map(escape_in_line, state["warnings"])]))


def _say_embedder(state: dict[str, Any]) -> str:
    name = escape_in_line(state["model"]) or "not open"
    if state["answers"]:
        return f"{name}, answers questions"
    embedded, missing = state.get("embedded", 0), state.get("missing", 0)
    return f"{name}, {embedded} of {embedded + missing} notes embedded; the model for code answers until then"


def _up(owner: Owner, *, detach: bool, http: bool = False) -> int:
    if http and owner.sandbox:
        from cortex.processes import sandbox

        sandbox.check(owner, http=True)
    if http:
        _check_port(owner)
    if not detach:
        return attach.run_supervisor(owner, http=http)

    async def start() -> str:
        attachment = await attach.attach(owner)
        try:
            await attachment.keep()
            if http and not attachment.problem:
                await asyncio.to_thread(attach.add_process, owner, HTTP)
            return attachment.problem
        finally:
            await attachment.close()

    with slow_notice(f"`{kind_of(owner).command} up`"):
        problem = hosts.run(start())
    ended = f"`{kind_of(owner).command} down`"
    opens = " `cortex open` shows the page." if http else ""
    workers = (
        f"The workers of {owner.root} run" if http or isinstance(owner, Config) else "The memory worker runs"
    )
    print_text(problem or f"{workers} until {ended}.{opens}")
    return EXIT_UNAVAILABLE if problem else EXIT_OK


def _check_port(owner: Owner) -> None:
    """Raise Misconfigured if the port of the HTTP server is taken, unless by the owner's set."""
    from cortex.front.http.tcp_port import HOST, listen

    members = attach.set_status(owner)["processes"]
    if not any(member["name"] == HTTP and member["state"] == "running" for member in members):
        listen(HOST, None).close()


def stop(owner: Owner) -> bool:
    """Stop the workers of a project or of memory, whoever started them; return whether any were
    running. Processes that are left are named on standard error.
    """
    # first those without a supervisor: an HTTP server would start a stopped set again
    ended, sentences = attach.stop_alone(owner)
    stopped = attach.stop(owner)
    attach.clear(owner)
    for sentence in sentences:
        print_text(f"cortex: {sentence}", file=sys.stderr)
    return ended or stopped


def _down(owner: Owner) -> int:
    stopped = stop(owner)
    where = escape_controls(str(owner.root))
    print(f"The workers of {where} are stopped." if stopped else f"No workers are running for {where}.")
    return EXIT_OK
