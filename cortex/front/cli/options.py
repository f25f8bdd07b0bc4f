"""What options the commands have that people give: one function for each set of them."""

from __future__ import annotations

from cortex.front.cli import key, sets, shell_completion, subfolders
from cortex.front.cli.parser import DATA_DIR, Parser, absolute, declare_sandbox


def index_options(parser: Parser) -> None:
    parser.add_folder(
        "path", nargs="?", help="the project's folder, or https://… of a repository to be fetched and read"
    )
    parser.add_argument(
        "--dependencies", action="store_true", help="also the sources of its installed packages, to be read"
    )
    parser.add_argument("--watch", action="store_true", help="go on, and follow every saved file")
    parser.add_argument(
        "--no-wait", action="store_true", help="write the chunk files only, and wait for nobody to serve them"
    )
    parser.add_argument("--force", action="store_true", help="read and embed every file anew")
    parser.add_folder(
        "--chunks-dir",
        metavar="DIR",
        help="write the chunk files to this folder of the project, as .cortex/chunks, and wait for nobody",
    )
    key.declare_index(parser)
    subfolders.declare(parser)
    parser.add_argument(
        "--to", choices=("milvus",), help="publish the index there (milvus.uri), for all who serve it"
    )
    parser.add_argument(
        "--single-writer",
        action="store_true",
        help="with --to: nobody else indexes this project at the same time, I see to that",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list the files that were left out")


def data_dir_option(parser: Parser) -> None:
    parser.add_folder("--data-dir", metavar="DIR", type=absolute, help=DATA_DIR)


def follow_options(parser: Parser) -> None:
    data_dir_option(parser)
    parser.add_argument("--stay", action="store_true", help="wait for the end where nothing is to be read")


def mcp_options(parser: Parser) -> None:
    parser.add_argument("--toolsets", help="comma-separated; default: server.toolsets")
    data_dir_option(parser)
    subfolders.declare(parser)
    parser.add_argument("--server", metavar="URL", help="ask that `cortex serve`; --project is a name there")
    declare_sandbox(parser)


def json_option(parser: Parser) -> None:
    parser.add_argument("--json", dest="as_json", action="store_true", help="as JSON")


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
    parser.add_argument("shell", choices=shell_completion.SHELLS, help="the shell")


def install_options(parser: Parser) -> None:
    agent_options(parser, "the agents to connect; default: those that are there")
    parser.add_argument("--user", action="store_true", help="for all your projects (the default)")
    parser.add_argument(
        "--memory-hooks", action="store_true", help="also have Claude Code tell what happens in its sessions"
    )
    parser.add_argument("--list", action="store_true", help="list the agents that are known, and end")


def uninstall_options(parser: Parser) -> None:
    agent_options(parser, "the agents to disconnect; default: all that were connected")


def agent_options(parser: Parser, agents: str) -> None:
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=agents)
    parser.add_argument("-y", "--yes", action="store_true", help="write without asking")
    parser.add_argument("--print", dest="only_print", action="store_true", help="show it, and write nothing")


def why_options(parser: Parser) -> None:
    told = "a file, a chunk's id, or a question"
    parser.add_named("path", "what", metavar="PATH|ID|QUESTION", help=told)
    parser.add_argument("question", nargs="?", default="", help="the question that should find the file")
