"""The indexing of code to read: repositories (`cortex index https://…`) and installed packages
(`--dependencies`).
"""

import os
import re
import sys
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

from cortex.front.cli.rendering.activity import slow_notice
from cortex.front.cli.rendering.render import Progress
from cortex.settings import config as configuration
from cortex.settings.folders import dependencies
from cortex.settings.folders.home import is_loopback
from cortex.settings.folders.projects import clones_base
from cortex.system import files, git
from cortex.system.errors import EXIT_NOTHING, EXIT_OK, Misconfigured, Unavailable
from cortex.system.terminal import escape_controls, escape_in_line, print_text

BOUNDS = git.CloneBounds()
#: redirects on one server that are followed, and seconds to ask for one
REDIRECTS_MAX, REDIRECT_S = 3, 10.0
#: what git adds to the address of a repository
_REFS = "/info/refs?service=git-upload-pack"
#: the start of an address, as opposed to a folder: `https://…`, `ssh://…`
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: the short form of an ssh address
_SHORT = re.compile(r"[\w.-]+@[\w.-]+:.+")
#: git's message about an answer with a redirect, which it does not follow
REDIRECTED = re.compile(r"error: 30\d")
#: valid names of folders on the path to a clone
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}")


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a repository, and the folder for its clone."""

    url: str
    protocol: str
    folder: Path


def is_address(address_text: str | None) -> bool:
    """Whether the text is a repository's address, and not a folder."""
    return bool(address_text) and bool(
        _ADDRESS.match(address_text or "") or _SHORT.fullmatch(address_text or "")
    )


def read_address(address_text: str) -> Address:
    """Parse an address. Raises Misconfigured for other protocols, passwords and odd names."""
    try:
        parts = urllib.parse.urlsplit(address_text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Misconfigured(f"{address_text!r} is no address; write it as https://host/owner/name.") from None
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(address_text))
    if not secure:
        raise Misconfigured(
            f"{address_text!r} is not fetched: only https:// is (clone it yourself, and index the folder)."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Misconfigured("The address of a repository may hold no password, query or fragment.")
    host = f"ipv6_{host.replace(':', '-')}" if ":" in host else host
    names = [name for name in parts.path.removesuffix("/").removesuffix(".git").split("/") if name]
    place = f"{host}_{port}" if port else host
    if not names or not all(_NAME.fullmatch(name) for name in (place, *names)):
        raise Misconfigured(f"{address_text!r} is no repository; write it as https://host/owner/name.")
    # A name may hold a plus sign, and no equals sign: a/b is another owner than a+b.
    owner = "+".join(name.replace("+", "=") for name in names[:-1]) or "_"
    return Address(address_text, parts.scheme, clones_base() / place / owner / names[-1])


def fetch(address_text: str) -> Path:
    """Clone the newest commit of a repository in place of an earlier clone, and return the folder.
    No code of the repository runs. Raises Misconfigured, and Unavailable when the fetch fails.
    """
    address = read_address(address_text)
    folder = address.folder
    new = folder.with_name(f".{folder.name}.{os.getpid()}")
    print_text(f"cortex: fetching {escape_in_line(address.url)}", file=sys.stderr)
    try:
        files.make_folder(folder.parent, anywhere=True)
        files.remove_tree(new)
        with slow_notice(f"fetching {escape_in_line(address.url)}"):
            problem = _clone(address, new)
        if problem:
            raise Unavailable(f"{address.url} cannot be fetched: {escape_in_line(problem)}.")
        files.remove_tree(folder)
        files.move(new, folder)
    except OSError as error:
        raise Misconfigured(f"Cannot write {folder}: {error.strerror or error}.") from error
    finally:
        files.remove_tree(new)
    return folder


def _clone(address: Address, folder: Path) -> str:
    """Clone a repository, also where its server has moved it; return the reason of a failure."""
    url = address.url
    for _ in range(REDIRECTS_MAX + 1):
        problem = git.clone(url, folder, address.protocol, BOUNDS)
        target = _redirect_of(url) if problem and REDIRECTED.search(problem) else ""
        if not target:
            return problem
        if urllib.parse.urlsplit(target)[:2] != urllib.parse.urlsplit(url)[:2]:
            return f"its server refers to another one, {target}; fetch that address if you trust it"
        url = target
    return "its server redirects without end"


def _redirect_of(url: str) -> str:
    """Return the address to which the server refers for this repository, "" for none."""
    import http.client
    import urllib.request

    from cortex.embedders.http import NoRedirect

    refs_url = url.removesuffix("/") + _REFS
    try:
        opener = urllib.request.build_opener(NoRedirect)
        with opener.open(refs_url, timeout=REDIRECT_S):
            return ""
    except urllib.error.HTTPError as error:
        with error:
            target = urllib.parse.urljoin(refs_url, error.headers.get("Location", ""))
    except (OSError, http.client.HTTPException, ValueError):
        return ""
    return target.removesuffix(_REFS) if target.endswith(_REFS) and target != refs_url else ""


def index_packages(root: Path) -> int:
    """Index the sources of a project's installed packages, each as its own project; the first
    question starts their workers. Return EXIT_NOTHING where there are none. Raises CortexError.
    """
    from cortex.indexer.run import index

    places = dependencies.installed_packages(root)
    try:
        dependencies.write_note(root, places)
    except OSError as error:
        raise Misconfigured(f"Cannot note the packages of {root}: {error.strerror or error}.") from error
    for name, place in places.items():
        print_text(
            f"cortex: indexing {escape_in_line(f'{root.name}:{name}')}, {escape_in_line(str(place))}",
            file=sys.stderr,
        )
        with Progress() as progress:
            report = index(configuration.load(place), on_progress=progress)
        print_text(f"{escape_in_line(f'{root.name}:{name}')}: {report.files} files, to be asked as a project")
    if not places:
        print(
            f"cortex: there are no installed packages in {escape_controls(str(root))}, or its caches",
            file=sys.stderr,
        )
    return EXIT_OK if places else EXIT_NOTHING
