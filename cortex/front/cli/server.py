"""`cortex serve`, `cortex token`, `cortex mcp --server`: the HTTP server, its tokens, and a bridge
to it.
"""

from __future__ import annotations

import time
from argparse import Namespace

import orjson

from cortex.front.cli import subfolders
from cortex.front.cli.activity import slow_notice
from cortex.front.cli.parser import Parser, declare_sandbox, seconds_of
from cortex.system.errors import EXIT_OK
from cortex.system.terminal import escape_controls


def declare_serve(parser: Parser) -> None:
    parser.add_folder("also", nargs="*", help="folders of further projects")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port (default: 37777)")
    parser.add_argument("--sse-port", type=int, help="port of the older HTTP+SSE transport (default: 37778)")
    parser.add_argument(
        "--tls-cert", default="", metavar="FILE", help="TLS certificate, for clients on other machines"
    )
    parser.add_argument("--tls-key", default="", metavar="FILE", help="key of the TLS certificate")
    parser.add_argument(
        "--behind-proxy", action="store_true", help="a proxy in front of this server terminates TLS"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="host name that clients use for this server",
    )
    parser.add_argument(
        "--print-entry", action="store_true", help="print the entry for an agent's configuration, and end"
    )
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
    from cortex.front.http.tokens import own_token

    server = {
        "type": "http",
        "url": f"{url}/mcp?for=agent",
        "headers": {"Authorization": f"Bearer {own_token(make=True)}"},
    }
    return orjson.dumps({"mcpServers": {"cortex": server}}, option=orjson.OPT_INDENT_2).decode()


def bridge(options: Namespace) -> int:
    """Run `cortex mcp --server`. Raises Misconfigured."""
    from cortex.front.http.tokens import own_token
    from cortex.front.mcp.bridge import serve as serve_bridge

    return serve_bridge(options.server, own_token(), options.project, options.audience)


def declare_token(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", default="", help="name of a token (default: your own token)")
    parser.add_argument("--new", action="store_true", help="replace the token by a new one")
    parser.add_argument(
        "--right",
        choices=("read", "write", "admin"),
        default="read",
        help="right of a named token (default: read)",
    )
    parser.add_argument("--read-only", action="store_true", help="make a new token that can only read")
    parser.add_argument(
        "--expires", default="", metavar="TIME", help="lifetime of a named token, such as 12h, 30d or 8w"
    )
    parser.add_argument(
        "--for",
        dest="projects",
        action="append",
        default=[],
        metavar="PROJECT",
        help="limit a named token to these projects, such as 'api-*'",
    )
    parser.add_argument("--revoke", action="store_true", help="revoke the named token")
    parser.add_argument("--list", dest="listed", action="store_true", help="list the named tokens")


def token(options: Namespace) -> int:
    from cortex.front.http import tokens

    if options.listed:
        for name, named_token in tokens.read_named().items():
            end = (
                time.strftime("%Y-%m-%d %H:%M", time.localtime(named_token.expires))
                if named_token.expires
                else "never"
            )
            print(
                escape_controls(
                    f"{name}\t{named_token.right}\tends {end}\t{', '.join(named_token.projects) or 'all projects'}"
                )
            )
    elif options.revoke:
        tokens.remove_named(options.name)
        print(escape_controls(f"The token {options.name!r} opens nothing any more."))
    elif options.name or options.read_only:
        name = options.name or "read-only"
        print(tokens.add_named(name, options.right, _end(options.expires), tuple(options.projects)))
    elif options.new:
        print(tokens.renew_own())
    else:
        print(tokens.own_token(make=True))
    return EXIT_OK


def _end(duration: str) -> float:
    """Return the end of a token in seconds since 1970, 0 for never. Raises BadRequest."""
    return time.time() + seconds_of(duration, "--expires") if duration else 0.0
