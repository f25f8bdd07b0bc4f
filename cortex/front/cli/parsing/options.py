"""The options of the commands: one function for each command."""

from cortex.front.cli.parsing import shell_completion
from cortex.front.cli.parsing.parser import DATA_DIR, Parser, absolute, declare_sandbox
from cortex.front.cli.running import sets, subfolders
from cortex.front.cli.setup import hooks, key


def index_options(parser: Parser) -> None:
    parser.add_folder("path", nargs="?", help="folder of the project, or https://… of a repository to fetch")
    parser.add_flag("--dependencies", help="also index the sources of installed packages")
    parser.add_flag("--watch", help="keep running, and index every saved file")
    parser.add_flag("--no-wait", help="write the chunk files, and do not wait until they are served")
    parser.add_flag("--force", help="read and embed every file again")
    parser.add_folder(
        "--chunks-dir",
        metavar="DIR",
        help="write the chunk files to this folder in the project, such as .cortex/chunks; do not wait",
    )
    key.declare_index(parser)
    subfolders.declare(parser)
    parser.add_argument(
        "--to",
        metavar="ENGINE",
        help="publish the index where it is shared: `milvus` is a server (milvus.uri)",
    )
    parser.add_flag("--single-writer", help="with --to: confirm that no other job indexes this project")
    parser.add_flag("-v", "--verbose", help="list the excluded files")


def command_words(parser: Parser) -> None:
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="the command, such as `memory store`")


def data_dir_option(parser: Parser) -> None:
    parser.add_folder("--data-dir", metavar="DIR", type=absolute, help=DATA_DIR)


def follow_options(parser: Parser) -> None:
    data_dir_option(parser)
    parser.add_flag("--stay", help="keep running if nothing may be read")


def mcp_options(parser: Parser) -> None:
    parser.add_argument("--toolsets", help="toolsets, separated by commas (default: server.toolsets)")
    parser.add_argument(
        "--for",
        dest="audience",
        choices=("agent", "program"),
        help="answer in text for an agent or in JSON for a program (default: as the client's name says)",
    )
    data_dir_option(parser)
    subfolders.declare(parser)
    parser.add_argument(
        "--server", metavar="URL", help="ask that `cortex serve`; --project names a project there"
    )
    declare_sandbox(parser)


def json_option(parser: Parser) -> None:
    parser.add_flag("--json", help="print JSON", dest="as_json")


def memory_up_options(parser: Parser) -> None:
    sets.declare_up(parser)
    data_dir_option(parser)


def memory_status_options(parser: Parser) -> None:
    json_option(parser)
    data_dir_option(parser)


def serve_options(parser: Parser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", default=8121, type=int, help="port to listen on (default: 8121)")


def shell_word(parser: Parser) -> None:
    parser.add_argument("shell", choices=shell_completion.SHELLS, help="the shell to print a script for")


def install_options(parser: Parser) -> None:
    agent_options(parser, "agents to connect (default: all on this machine)")
    parser.add_flag("--user", help="connect them for all projects (the default)")
    parser.add_flag("--memory-hooks", help="also record sessions of Claude Code in memory")
    parser.add_flag("--list", help="list all agents, and end")


def uninstall_options(parser: Parser) -> None:
    agent_options(parser, "agents to disconnect (default: all connected ones)")
    parser.add_flag("--user", help="only in the user's files; --project: only in the project's")


def purge_options(parser: Parser) -> None:
    parser.add_flag("--notes", help="remove notes and recorded sessions as well")
    parser.add_flag("-y", "--yes", help="do not ask before removing, for scripts")
    parser.add_flag("--json", help="list them as JSON, and end", dest="as_json")


def agent_options(parser: Parser, agents: str) -> None:
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=agents)
    hooks.declare_uninstall(parser)


def why_options(parser: Parser) -> None:
    described = "a file, the id of a chunk, or a question"
    parser.add_completed("path", "what", metavar="PATH|ID|QUESTION", help=described)
    parser.add_argument("question", nargs="?", default="", help="a question that should find the file")
