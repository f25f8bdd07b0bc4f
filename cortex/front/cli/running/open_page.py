"""`cortex open`: the page of `cortex serve` in the browser, by a link that works once."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from cortex.front.cli.parsing.parser import Parser
from cortex.processes.names import HTTP
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, Unavailable
from cortex.system.terminal import print_text

if TYPE_CHECKING:
    import httpx2

#: seconds that a server has to answer
ANSWER_S = 5.0
#: seconds that a starting server has; between two checks
START_S, LOOK_S = 20.0, 0.1


def declare(parser: Parser) -> None:
    parser.add_argument(
        "--server", metavar="URL", default="", help="URL of the server (default: this project's)"
    )
    parser.add_flag("--print", help="print the link, and open nothing", dest="only_print")


def run(options: Namespace) -> int:
    """Print the link and open it. Raises Unavailable where no server answers, and Misconfigured."""
    from cortex.front.http.access.tokens import own_token
    from cortex.front.http.server_records import served_at

    url = options.server.rstrip("/")
    if not url:
        config = configuration.load(options.project)
        url = served_at(config) or _wait_started(config)
        if not url:
            from cortex.front.http.tcp_port import PORT, say_holder

            holder = say_holder(PORT)
            taken = f" Port {PORT} is taken{holder}: `cortex serve --port` takes another." if holder else ""
            raise Unavailable(
                f"No server shows {config.root}; start one: `cortex serve`, or `cortex up --detach --http`.{taken}"
            )
    link = invite(url, own_token())
    print_text(link)
    if not options.only_print and _has_a_screen():
        import webbrowser

        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(link)
    return EXIT_OK


def _wait_started(config: Config) -> str:
    """Wait for the server that the running workers are starting; return its URL, or "" for none.

    Raises Unavailable with the last error of a server that ended.
    """
    from cortex.front.http.server_records import served_at
    from cortex.processes import attach

    until = time.monotonic() + START_S
    while server := next((it for it in attach.set_status(config)["processes"] if it["name"] == HTTP), None):
        if (url := served_at(config)) or time.monotonic() >= until:
            return url
        if server["state"] == "failed":
            why = server["last_error"].removeprefix("cortex: ")
            raise Unavailable(f"The server of {config.root} has ended: {why}")
        time.sleep(LOOK_S)  # the server writes its URL to a file and notifies nobody
    return ""


def invite(url: str, token: str) -> str:
    """Return a link into the server at `url`. Raises Unavailable, Misconfigured for a bad URL."""
    import httpx2

    from cortex.front.http.access.server_proof import NoProof, NotProven
    from cortex.front.mcp.transport.remote_server import check_url

    url = check_url(url).removesuffix("/mcp")
    if not token:
        raise Unavailable("There is no token yet: `cortex serve` makes it; start it first.")
    try:
        reply, answer = hosts.run(_post(url, token))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, NoProof) as error:
        raise Unavailable(f"{url} does not answer ({error or type(error).__name__}).") from error
    except NotProven as error:
        raise Unavailable(str(error)) from error
    if reply.status_code != 200:
        why = answer.get("error", {}).get("message", "") if isinstance(answer, dict) else ""
        raise Unavailable(f"{url} refuses to open: {why or f'it answered {reply.status_code}'}.")
    return f"{url}{answer['path']}"


async def _post(url: str, token: str) -> tuple[httpx2.Response, Any]:
    """Request a link; return the reply and its JSON. Raises HTTPError, ValueError, NotProven."""
    from cortex.front.http.access.server_proof import ServerCheck
    from cortex.front.mcp.transport.remote_server import make_client

    checked = ServerCheck(f"{url}/mcp", token, lambda _version: None)
    headers = {"Authorization": f"Bearer {token}"}
    async with make_client(url, timeout=ANSWER_S) as client:
        reply = await client.post(
            f"{url}/enter", json={}, headers=headers, extensions={"trace": checked.on_connection}
        )
        return reply, reply.json()


def _has_a_screen() -> bool:
    """Whether a browser would open in its own window, and not in this terminal."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
