"""The commands of `cortex` that are not tools: options in, one call, one rendering out.

Slow imports are inside the commands.
"""

import contextlib
import importlib
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import orjson

from cortex.front.cli import stats as figures
from cortex.front.cli.parsing import options as options_of
from cortex.front.cli.parsing import shell_completion
from cortex.front.cli.parsing.command_groups import GROUPS, headings_of
from cortex.front.cli.parsing.parser import Command, make_tree
from cortex.front.cli.rendering import render
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.running import indexing, open_page, server, sets, subfolders
from cortex.front.cli.setup import hooks, key, memory_model, projects, sealed_memory
from cortex.front.cli.setup import trust as trusting
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.consent import trust
from cortex.settings.folders.home import open_project_folder
from cortex.settings.layers import read_project
from cortex.system import files, hosts
from cortex.system.errors import EXIT_OK, EXIT_UNAVAILABLE, EXIT_USAGE, CortexError
from cortex.system.loaded_code import full_version
from cortex.system.terminal import escape_controls, print_text
from cortex.terms.text.suggestions import nearest

#: other names of commands
ALIASES = {"stdio": "mcp", "--version": "version", "-v": "version", "-V": "version"}
#: commands that print nothing until their end and may be slow: a notice then says that they run
SILENT = frozenset(
    (
        *("down", "status", "doctor", "why", "projects", "stats"),
        *("memory down", "memory status", "key show-location", "key rotate"),
    )
)
#: options that every command takes → their number of arguments
EVERYWHERE = {"--project": 2, "--yes-really": 1, "--no-pager": 1}


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code. Raises CortexError, SystemExit for wrong usage."""
    before, words = _before_command(arguments)
    count = next((n for n in (3, 2) if " ".join(words[: n - 1]) in GROUPS), 1)
    if command := find(" ".join(words[:count])):
        options = command.parser().read([*before, *words[count:]])
        with slow_notice(f"`cortex {command.name}`") if command.name in SILENT else contextlib.nullcontext():
            return command.run(options)
    depth = count - 1  # words that are a group
    if words[depth:count] == ["help"]:  # `cortex memory help`, as `cortex help memory`
        return run([*before, *words[:depth], *words[count:], "--help"])
    if words[depth:count] and not words[depth].startswith("-"):
        return _refuse_command(" ".join(words[:depth]), words[depth])
    everything, _ = make_tree(all_commands(), GROUPS, headings_of)
    parsed = everything.parse_args(words)  # ends here for help and for an unknown command
    parsed.shown.print_help(sys.stderr)
    return EXIT_USAGE


def _refuse_command(group: str, word: str) -> int:
    """Print the commands that a wrong word may mean, of all groups; return EXIT_USAGE."""
    names = {*(command.name for command in all_commands()), *GROUPS}
    start = f"{group} ".lstrip()
    here = {name.removeprefix(start): name for name in sorted(names) if name.startswith(start)}
    here = {last: name for last, name in here.items() if " " not in last}
    everywhere: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (name.count(" "), name)):
        everywhere.setdefault(name.rpartition(" ")[2], []).append(name)
    meant = everywhere.get(word, [])
    if not meant and (near := nearest(word, here)):
        meant = [here[near]]
    if not meant and (near := nearest(word, everywhere)):
        meant = everywhere[near]
    meant = [name for name in meant if name.count(" ") == meant[0].count(" ")]
    listed = " or ".join(f"`cortex {name}`" for name in meant)
    hint = f": did you mean {listed}?" if meant else "."
    typed, shown = f"cortex {start}{word}", f"cortex help {group}".rstrip()
    print_text(f"cortex: there is no command `{typed}`{hint}", file=sys.stderr)
    print(f"`{shown}` lists the commands.", file=sys.stderr)
    return EXIT_USAGE


def _before_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return (options before the command, the other words): `cortex --project DIR search …`."""
    at, before = 0, []
    while at < len(arguments) and arguments[at].partition("=")[0] in EVERYWHERE:
        count = EVERYWHERE.get(arguments[at], 1)
        before.append("=".join(arguments[at : at + count]))
        at += count
    return before, arguments[at:]


def find(name: str) -> Command | None:
    """Return the command of this name. Tools come last: most other commands need none."""
    name = ALIASES.get(name, name)
    if plain_command := next((command for command in COMMANDS if command.name == name), None):
        return plain_command
    from cortex.front.cli.parsing import generated

    return generated.find(name)


def all_commands() -> tuple[Command, ...]:
    """Return every command except hidden aliases."""
    from cortex.front.cli.parsing import command_names, generated

    return (*COMMANDS, *filter(None, map(generated.find, command_names.NAMES)))


def late(function: str) -> Callable[[Namespace], int]:
    """Return the command that runs the function "module:name", which is imported then."""
    module, _, name = function.partition(":")

    def run_function(options: Namespace) -> int:
        exit_code: int = getattr(importlib.import_module(module), name)(options)
        return exit_code

    return run_function


def init(options: Namespace) -> int:
    folder = configuration.load(options.project or str(Path.cwd())).folder
    path = open_project_folder(folder) / "config.yml"
    try:
        files.create(path, render.CONFIG_TEMPLATE.encode())
        trust.give_consent(read_project(folder))
        print(f"{escape_controls(str(path))} is written; every setting in it is a default.")
    except FileExistsError:
        print(f"{escape_controls(str(path))} exists and stays as it is.")
    config = configuration.load(folder)
    print(f"The index of the project goes to {escape_controls(str(config.home))}.")
    print_text(render.agent_snippets(config.root))
    return EXIT_OK


def mcp(options: Namespace) -> int:
    if options.server:
        return server.bridge(options)
    subfolders.apply_own_index(options, options.project)
    # Importing the client takes as long as starting the workers. `serve` reports errors.
    with contextlib.suppress(CortexError):
        attach.begin(configuration.load(options.project))
    from cortex.front.mcp.stdio import serve

    try:
        return serve(options.project, options.toolsets, options.data_dir, options.audience)
    except CortexError:
        attach.end_begun()
        raise


def status(options: Namespace) -> int:
    from cortex.front.cli.status import collect

    state = hosts.run(collect(configuration.load(options.project)))
    if options.as_json:
        print(orjson.dumps(state, option=orjson.OPT_INDENT_2).decode())
    else:
        render.print_status(state)
    return EXIT_OK if state["set"]["processes"] and not state["set"]["problem"] else EXIT_UNAVAILABLE


def doctor(options: Namespace) -> int:
    from cortex.front.cli.setup.doctor import examine

    checks = examine(options.project)
    if options.as_json:
        print(orjson.dumps(checks, option=orjson.OPT_INDENT_2).decode())
    else:
        render.print_checks(checks)
    return EXIT_UNAVAILABLE if any(check.state == "wrong" for check in checks) else EXIT_OK


def embed_serve(options: Namespace) -> int:
    from cortex.front.http.embedding import serve_embedder

    return serve_embedder(configuration.load(options.project), options.host, options.port)


def upgrade(_options: Namespace) -> int:
    """Print the upgrade command for this kind of installation; change nothing."""
    from cortex.system.installation import how_to_upgrade

    print(f"cortex {full_version()}, in {escape_controls(sys.prefix)}.")
    print(f"To upgrade: {escape_controls(how_to_upgrade())}")
    print("Running fronts go on with what they have; restart your agents.")
    return EXIT_OK


def show_help(options: Namespace) -> int:
    """Run the command with --help, which ends the process."""
    return run([*options.words, "--help"])


def version(_options: Namespace) -> int:
    print(f"cortex {full_version()}")
    return EXIT_OK


def completion(options: Namespace) -> int:
    """Print a script with all commands and options; `cortex complete` adds paths and symbols."""
    print(shell_completion.script(*make_tree(all_commands(), GROUPS, headings_of), options.shell))
    return EXIT_OK


def why(options: Namespace) -> int:
    from cortex.front.cli.why import say_why

    return say_why(options.project, options.what, options.question)


COMMANDS = (
    Command("init", "Write .cortex/config.yml with the defaults.", init),
    Command(
        "index",
        "Index the project, and wait until the index is served.",
        indexing.index,
        options_of.index_options,
    ),
    Command(
        "install",
        "Connect coding agents; shows each change, and asks.",
        late("cortex.front.cli.setup.install:install"),
        options_of.install_options,
        bare_project=True,
    ),
    Command(
        "uninstall",
        "Remove the entries of `cortex install` from agents' files.",
        late("cortex.front.cli.setup.install:uninstall"),
        options_of.uninstall_options,
        bare_project=True,
    ),
    Command("mcp", "Serve MCP on standard input and output (alias: stdio).", mcp, options_of.mcp_options),
    Command(
        "up", "Start the project's workers: until Ctrl-C, or detached.", sets.up, sets.declare_project_up
    ),
    Command("down", "Stop the project's workers; the memory worker goes on.", sets.down),
    Command("status", "Show processes, state of the index and problems.", status, options_of.json_option),
    Command(
        "doctor", "Check the installation and project; suggests repairs.", doctor, options_of.json_option
    ),
    Command("why", "Explain why a file is indexed or not, or its rank.", why, options_of.why_options),
    Command(
        "trust",
        "Show project settings that need your consent, and ask for it.",
        trusting.trust,
        trusting.declare,
    ),
    Command(
        "projects", "List projects with size, last use and state.", projects.list_all, options_of.json_option
    ),
    Command(
        "clean", "Remove indexes of deleted or unused projects; asks.", projects.clean, projects.declare_clean
    ),
    Command(
        "purge",
        "Remove all that Cortex wrote on this machine, notes only by --notes; asks.",
        late("cortex.front.cli.setup.purge:purge"),
        options_of.purge_options,
    ),
    Command(
        "stats", "Show calls, latency and tokens saved in the last 30 days.", figures.stats, figures.declare
    ),
    Command(
        "help",
        "Show the help of a command (also --help).",
        show_help,
        options_of.command_words,
        usage="[COMMAND]",
    ),
    Command("version", "Print the version (also -v, --version).", version),
    Command("upgrade", "Show the command that upgrades this installation.", upgrade),
    Command("completion", "Print the completion script of a shell.", completion, options_of.shell_word),
    Command(
        "complete",
        "Complete a path or symbol (needs running workers).",
        shell_completion.complete,
        shell_completion.declare,
    ),
    Command(
        "memory up",
        "Start the memory worker: until Ctrl-C, or detached.",
        sets.memory_up,
        options_of.memory_up_options,
    ),
    Command(
        "memory down",
        "Stop the memory worker; the next call starts it.",
        sets.memory_down,
        options_of.data_dir_option,
    ),
    Command(
        "memory status",
        "Show the folder, the processes and the problems of memory.",
        sets.memory_status,
        options_of.memory_status_options,
    ),
    Command(
        "memory encrypt",
        "Encrypt memory on disk, and show a recovery key.",
        sealed_memory.encrypt,
        sealed_memory.declare,
    ),
    Command("memory decrypt", "Decrypt memory.", sealed_memory.decrypt, sealed_memory.declare),
    Command(
        "memory model install",
        "Embed notes by an ONNX model, from folders or wheels.",
        memory_model.install,
        memory_model.declare_install,
    ),
    Command(
        "memory model remove",
        "Remove the model; the built-in one embeds notes.",
        memory_model.remove,
        memory_model.declare,
    ),
    Command(
        "memory follow",
        "Read agents' sessions as they grow; runs with the worker.",
        late("cortex.front.cli.running.follow:run"),
        options_of.follow_options,
    ),
    Command(
        "hook install",
        "Install hooks: record sessions of Claude Code, and brief each one.",
        hooks.install,
        hooks.declare_install,
    ),
    Command(
        "hook uninstall",
        "Remove the hooks of `cortex hook install`.",
        hooks.uninstall,
        hooks.declare_uninstall,
    ),
    Command("serve", "Serve HTTP: /v1 for programs, MCP for agents.", server.serve, server.declare_serve),
    Command("open", "Open the page of `cortex serve` in a browser.", open_page.run, open_page.declare),
    Command(
        "token",
        "Print the token of `cortex serve`, or manage named tokens.",
        server.token,
        server.declare_token,
    ),
    Command("key show-location", "Show the place of the master key, and its keys.", key.show_location),
    Command(
        "key rotate", "Replace the master key, and wrap all keys with it.", key.rotate, key.declare_rotate
    ),
    Command(
        "key forget",
        "Delete the master key; encrypted indexes are built again.",
        key.forget,
        key.declare_forget,
    ),
    Command(
        "key recovery",
        "Make a new recovery key for memory; the old one ends.",
        sealed_memory.show_recovery,
        sealed_memory.declare,
    ),
    Command(
        "key recover",
        "Open memory with its recovery key.",
        sealed_memory.recover_memory,
        sealed_memory.declare_recover,
    ),
    Command(
        "embed serve",
        "Serve the embedding model over HTTP (POST /embed).",
        embed_serve,
        options_of.serve_options,
    ),
)
