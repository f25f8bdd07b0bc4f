"""`cortex serve`, `cortex token`, `cortex mcp --server`: the HTTP server, its tokens, and a bridge
to it.
"""

from __future__ import annotations

import fnmatch
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from cortex.front.cli.parsing.parser import Parser, declare_sandbox, seconds_of
from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.running import subfolders
from cortex.system.errors import EXIT_OK, NotFound
from cortex.system.terminal import print_text

if TYPE_CHECKING:
    from cortex.front.http.access.tokens import NamedToken


def declare_serve(parser: Parser) -> None:
    parser.add_folder("also", nargs="*", help="folders of further projects")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port (default: 37777)")
    parser.add_argument("--sse-port", type=int, help="port of the older HTTP+SSE transport (default: 37778)")
    parser.add_argument(
        "--tls-cert", default="", metavar="FILE", help="TLS certificate, for clients on other machines"
    )
    parser.add_argument("--tls-key", default="", metavar="FILE", help="key of the TLS certificate")
    parser.add_flag("--behind-proxy", help="a proxy in front of this server terminates TLS")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="host name that clients use for this server",
    )
    parser.add_flag("--print-entry", help="print the entry for an agent's configuration, and end")
    declare_sandbox(parser)


def serve(options: Namespace) -> int:
    with slow_notice("starting `cortex serve`"):  # its imports take a while on a busy machine
        from cortex.front.http.serving import ServerAddress
        from cortex.front.http.serving import serve as serve_http

    place = ServerAddress(
        options.host,
        options.port,
        options.sse_port,
        options.tls_cert,
        options.tls_key,
        options.behind_proxy,
        tuple(options.name),
    )
    if options.print_entry:
        print(entry(place.address))
        return EXIT_OK
    first, *others = map(subfolders.load_whole_project, (options.project, *options.also))
    return serve_http([first, *(other for other in others if other.root != first.root)], place)


def entry(url: str) -> str:
    """Return an agent's configuration entry for the server at `url`, with the user's token."""
    from cortex.front.http.access.tokens import own_token

    server = {
        "type": "http",
        "url": f"{url}/mcp?for=agent",
        "headers": {"Authorization": f"Bearer {own_token(make=True)}"},
    }
    return orjson.dumps({"mcpServers": {"cortex": server}}, option=orjson.OPT_INDENT_2).decode()


def bridge(options: Namespace) -> int:
    """Run `cortex mcp --server`. Raises Misconfigured."""
    from cortex.front.http.access.tokens import own_token
    from cortex.front.mcp.transport.bridge import serve as serve_bridge

    return serve_bridge(options.server, own_token(), options.project, options.audience)


def declare_token(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", default="", help="name of a token (default: your own token)")
    parser.add_flag("--new", help="replace the token by a new one")
    parser.add_argument(
        "--right",
        choices=("read", "write", "admin"),
        default="read",
        help="right of a named token (default: read)",
    )
    parser.add_flag("--read-only", help="make a new token that can only read")
    parser.add_argument(
        "--expires", default="", metavar="TIME", help="lifetime of a named token, such as 12h, 30d or 8w"
    )
    parser.add_argument(
        "--for",
        dest="projects",
        action="append",
        default=[],
        metavar="PROJECT",
        help="limit a named token to this project: its folder, its name, or a glob over known names",
    )
    parser.add_flag("--revoke", help="revoke the named token")
    parser.add_flag("--list", help="list the named tokens", dest="listed")


def token(options: Namespace) -> int:
    from cortex.front.http.access import tokens

    if options.listed:
        for name, named_token in tokens.read_named().items():
            end = (
                time.strftime("%Y-%m-%d %H:%M", time.localtime(named_token.expires))
                if named_token.expires
                else "never"
            )
            print_text(f"{name}\t{named_token.right}\tends {end}\t{_say_projects(named_token)}")
    elif options.revoke:
        tokens.remove_named(options.name)
        print_text(f"The token {options.name!r} opens nothing any more.")
    elif options.name or options.read_only:
        name = options.name or "read-only"
        expires = time.time() + seconds_of(options.expires, "--expires") if options.expires else 0.0
        print(tokens.add_named(name, options.right, expires, _read_roots(options.projects)))
    elif options.new:
        print(tokens.renew_own())
    else:
        print(tokens.own_token(make=True))
    return EXIT_OK


def _read_roots(projects: Sequence[str]) -> list[Path]:
    """Return the real folders of projects that are given by folder, name, or glob over the names of
    `cortex projects`. Raises NotFound, and Misconfigured as `configuration.load` does.
    """
    from cortex.settings import config as configuration
    from cortex.settings.folders.projects import known_projects

    roots: list[Path] = []
    for project in projects:
        is_glob = any(mark in project for mark in "*?[")
        projects_by_name = known_projects() if is_glob else {}
        matching = [
            entry.root for name, entry in projects_by_name.items() if fnmatch.fnmatchcase(name, project)
        ]
        if is_glob and not matching and not Path(project).expanduser().is_dir():
            raise NotFound(f"No known project is called {project!r}; `cortex projects` lists them.")
        targets: Sequence[Path | str] = matching or [project]
        roots += [configuration.load(target).root for target in targets]
    return list(dict.fromkeys(roots))


def _say_projects(token: NamedToken) -> str:
    """Return the projects of a token, its folders that were moved, and the end of its names."""
    from cortex.front.http.access.tokens import NAMES_UNTIL, moved_folders, names_of, opens_names

    if not token.projects:
        return "all projects"
    moved = moved_folders(token)
    folders = [
        f"{folder} (moved or replaced: opens nothing)" if folder in moved else folder
        for folder in token.births
    ]
    end = f"opens nothing after {'.'.join(map(str, NAMES_UNTIL))}.x" if opens_names() else "opens nothing"
    names = [f"{name} (a name: {end}; make it again by --for FOLDER)" for name in names_of(token)]
    return ", ".join((*folders, *names))
