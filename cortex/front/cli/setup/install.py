"""`cortex install` and `uninstall`: Cortex in the settings of the installed agents."""

import contextlib
import difflib
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from cortex.front.agents import plan as planning
from cortex.front.agents import record
from cortex.front.agents.connections import PROGRAM
from cortex.front.agents.table import AGENTS, BY_NAME, Agent, Scope
from cortex.front.cli.rendering import columns
from cortex.front.cli.setup import hooks
from cortex.memory.transcripts import consent
from cortex.settings import config as configuration
from cortex.settings.folders.home import find_root
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured
from cortex.system.terminal import escape_controls, print_text
from cortex.terms.text.suggestions import hint_for

#: the arguments with which an agent starts it
SERVE = ("mcp", "--for", "agent")


def install(options: Namespace) -> int:
    """Show the changes, ask, and write them."""
    if options.list:
        rows = [
            (entry.name, "there" if is_installed(entry) else "", f"{entry.title}, {entry.docs}")
            for entry in AGENTS
        ]
        print("\n".join(columns.table(rows)))
        return EXIT_OK
    if options.user and options.project:
        raise Misconfigured("--user and --project exclude each other; choose one.")
    selected = _select(options.agents, in_project=bool(options.project))
    root = find_root(options.project)[0] if options.project else _current_project()
    if root is None and options.agents and any(agent.placeless for agent, _ in selected):
        root = find_root()[0]  # raises with advice
    if root is None:  # skip agents that need a project
        selected = [(agent, scope) for agent, scope in selected if not agent.placeless]
    if not selected:
        print("No agent was found here; name one (`cortex install --list` shows them).", file=sys.stderr)
        return EXIT_NOTHING
    command = [_program(shared=bool(options.project)), *SERVE]
    hook_entries = hooks.entries(hooks.program_arguments()) if options.memory_hooks else {}
    plan = planning.connect(selected, command, root or Path.cwd(), hook_entries)
    done = _carry_out(plan, options, "connected")
    if not options.only_print:
        _ask_about_past_sessions()
    for agent, _ in selected:
        if agent.note and not options.only_print:
            print(f"{agent.title}: {agent.note}.")
    return done


def _ask_about_past_sessions() -> None:
    """Ask a person at a terminal, once, whether earlier sessions are read; no answer means no."""
    data = configuration.load_data(None)
    if data.settings.sessions != "project" or consent.consent(data.root) or not sys.stdin.isatty():
        return
    wants = hooks.ask_consent("Read earlier sessions of projects that use memory, too?")
    consent.give(data.root, consent.YES if wants else consent.NO)


def uninstall(options: Namespace) -> int:
    """Remove the entries of `install`."""
    if options.user and options.project:
        raise Misconfigured("--user and --project exclude each other; choose one.")
    root = find_root(options.project)[0] if options.project else None

    def is_meant(entry: record.Entry) -> bool:
        if root is not None:
            return not planning.is_of_user(entry) and Path(entry.path).is_relative_to(root)
        return not options.user or planning.is_of_user(entry)

    recorded = {name for entry in record.read() if is_meant(entry) for name in entry.agents}
    names = {_find(name).name for name in options.agents} & recorded if options.agents else recorded
    if not names:
        print("Nothing is installed.")
        return EXIT_OK
    return _carry_out(planning.disconnect(names, is_meant), options, "disconnected")


def _current_project() -> Path | None:
    with contextlib.suppress(Misconfigured):
        return find_root()[0]
    return None


def is_installed(agent: Agent) -> bool:
    """Whether its program is on the PATH or its folder exists."""
    program = agent.name if agent.program is None else agent.program
    if program and shutil.which(program):
        return True
    return any(planning.locate(sign, Path()).is_dir() for sign in agent.signs)


def _select(names: Sequence[str], *, in_project: bool) -> list[tuple[Agent, Scope]]:
    """Return the agents with their scopes. Raises Misconfigured for one that only has the other."""
    agents = [_find(name) for name in names] if names else [agent for agent in AGENTS if is_installed(agent)]
    selected = []
    for agent in agents:
        scope, other = (agent.project, agent.user) if in_project else (agent.user, agent.project)
        if scope is not None:
            selected.append((agent, scope))
        elif names and other is not None:
            where = "for all projects" if in_project else "in a project: add --project"
            raise Misconfigured(f"{agent.title} can only be connected {where}.")
    return selected


def _find(name: str) -> Agent:
    agent = BY_NAME.get(name.lower().replace(" ", "-"))
    if agent is None:
        meant = hint_for(name, BY_NAME)
        raise Misconfigured(f"No agent is called {name!r}{meant}; `cortex install --list` shows them.")
    return agent


def _program(*, shared: bool) -> str:
    """Return the program for agents to start. A shared file names no folder of this machine."""
    on_path = shutil.which(PROGRAM)
    if shared and on_path:
        return PROGRAM
    beside_python = shutil.which(PROGRAM, path=os.path.dirname(sys.executable))
    if on_path and (beside_python is None or os.path.realpath(on_path) == os.path.realpath(beside_python)):
        return on_path
    if beside_python is None:
        raise Misconfigured("The program cortex is not on the PATH; install the package, or add its folder.")
    return beside_python


def _carry_out(plan: planning.Plan, options: Namespace, done: str) -> int:
    for refused in plan.refused:
        print_text(f"cortex: {refused}", file=sys.stderr)
    changes = plan.changes
    for file in changes:
        print(escape_controls(_difference(file)), end="")
    if not changes and plan.refused:
        return EXIT_NOTHING
    if not changes:
        if not options.only_print:  # the record: agents that share a text, pieces that a person removed
            planning.write(plan)
        print("Everything is as it should be.")
        return EXIT_OK
    if options.only_print:
        return EXIT_OK
    if not options.yes and not hooks.ask_consent("Write this?"):
        print("Nothing was written.", file=sys.stderr)
        return EXIT_NOTHING
    try:
        planning.write(plan)
    except OSError as error:
        where = error.filename or "the file"
        raise Misconfigured(f"Cannot write {where}: {error.strerror or error}; make it writable.") from error
    print(f"{len(changes)} {'file' if len(changes) == 1 else 'files'} written, {done}; restart the agent.")
    if plan.unconnected:
        print(f"Not connected: {', '.join(plan.unconnected)}.")
    return EXIT_NOTHING if plan.refused else EXIT_OK


def _difference(file: planning.File) -> str:
    before, after = (file.before or "").splitlines(), (file.after or "").splitlines()
    old = str(file.path) if file.before is not None else os.devnull
    new = str(file.path) if file.after is not None else os.devnull
    return "".join(f"{line}\n" for line in difflib.unified_diff(before, after, old, new, lineterm=""))
