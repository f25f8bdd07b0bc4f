"""Tokens for HTTP: the user's own, named ones with rights and an expiry; counts of wrong ones.

Named tokens are stored as hashes. The user's own is in a file that only the user can read.
"""

import contextlib
import fnmatch
import hashlib
import hmac
import os
import re
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from cortex import __version__
from cortex.settings.folders.home import OLD_TOKEN, TOKEN, user_config
from cortex.settings.folders.identity import birth_of
from cortex.system import files
from cortex.system.errors import BadRequest, Misconfigured, NotFound

Right = Literal["read", "write", "admin"]
#: rights in ascending order; each includes those before it
RIGHTS: tuple[Right, ...] = ("read", "write", "admin")
#: random bytes of a new token
TOKEN_BYTES = 32
#: valid tokens: they must fit into a header, and a short one could be guessed
_TOKEN = re.compile(r"[\x21-\x7e]{16,512}")
#: valid names of named tokens
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: maximum of bytes of the file of named tokens
NAMED_BYTES_MAX = 1 << 20
#: last release, as (major, minor), in which tokens for names open projects: another folder may have
#: the name
NAMES_UNTIL = (0, 1)
#: number of wrong tokens without a pause; each further one doubles the pause, up to the maximum of
#: seconds
WRONG_MAX, PAUSE_MAX_S = 10, 300.0
#: seconds without a wrong token after which the count is reset
FORGET_S = 900.0
#: maximum of addresses with a count; the least recent is dropped first
ADDRESSES_MAX = 1024


class Forbidden(BadRequest):
    """The token does not allow the call."""

    code = "forbidden"


@dataclass(frozen=True, slots=True)
class Bearer:
    """The holder of a token. `projects`: real folders of the projects that it opens, () for all;
    all others are hidden from it. `births`: folder → its moment of birth, as `birth_of` returns it.

    A token of an earlier version has names and globs in place of folders, and no births.
    """

    name: str
    right: Right
    projects: tuple[str, ...] = ()
    births: Mapping[str, str] = field(default_factory=dict, hash=False)

    def has_right(self, right: Right) -> bool:
        return RIGHTS.index(right) <= RIGHTS.index(self.right)

    def may_access(self, project: str, root: Path) -> bool:
        """Whether the token opens the project of this name in the real folder `root`."""
        if not self.projects:
            return True
        if birth := self.births.get(os.fspath(root)):
            return birth == birth_of(root)
        return opens_names() and any(
            project == pattern or fnmatch.fnmatchcase(project, pattern) for pattern in names_of(self)
        )


@dataclass(frozen=True, slots=True)
class NamedToken:
    """One named token; `expires` is seconds since 1970, 0 for never."""

    digest: str
    right: Right = "read"
    expires: float = 0.0
    projects: tuple[str, ...] = ()
    births: Mapping[str, str] = field(default_factory=dict, hash=False)


def names_of(token: Bearer | NamedToken) -> list[str]:
    """Return the names and globs of a token that an earlier version made for names."""
    return [project for project in token.projects if project not in token.births]


def moved_folders(token: Bearer | NamedToken) -> list[str]:
    """Return the folders of a token that are gone, or have another folder in their place."""
    return [folder for folder, birth in token.births.items() if birth != birth_of(Path(folder))]


def opens_names() -> bool:
    """Whether this release still accepts tokens for names."""
    return tuple(map(int, __version__.split(".")[:2])) <= NAMES_UNTIL


class WrongToken(Exception):  # noqa: N818 - errors name the condition
    """An unknown or expired token; the message is one sentence."""


def environment_token() -> str:
    """Return the token in the environment, "" for none. Raises Misconfigured for an invalid one."""
    for variable in (TOKEN, OLD_TOKEN):
        if token := os.environ.get(variable, ""):
            return _check_token(token, variable)
    return ""


def own_token(*, make: bool = False) -> str:
    """Return the user's token, from the environment, else from its file; "" for none.

    `make`: create a missing file. Raises Misconfigured for an invalid token, and for a file that
    others can read.
    """
    if token := environment_token():
        return token
    place = _folder() / "token"
    if make:
        with contextlib.suppress(FileExistsError):
            return _create(place, secrets.token_urlsafe(TOKEN_BYTES))
    try:
        if stat.S_IMODE(os.lstat(place).st_mode) & 0o077:
            raise Misconfigured(f"{place} is open to others; run `chmod 600 {place}`, or remove it.")
        return _check_token(files.read_ours(place, 1024).decode("ascii").strip(), str(place))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{place} cannot be read ({_why(error)}); remove it.") from error


def renew_own() -> str:
    """Replace the user's token and return the new one; the old one becomes invalid. Raises
    Misconfigured, also if the environment has a token, which takes precedence.
    """
    if environment_token():
        variable = next(name for name in (TOKEN, OLD_TOKEN) if os.environ.get(name))
        raise Misconfigured(f"Your token is the one in {variable}; unset that, or change it there.")
    place, token = _folder() / "token", secrets.token_urlsafe(TOKEN_BYTES)
    _write(place, token.encode())
    return token


def add_named(name: str, right: Right, expires: float, roots: Sequence[Path] = ()) -> str:
    """Add or replace a named token and return it; only its hash is stored. `expires`: seconds since
    1970, 0 for never. `roots`: real folders of its projects, none for all; it opens them as long as
    they are these folders. Raises BadRequest for an invalid name, and Misconfigured.
    """
    if not _NAME.fullmatch(name):
        raise BadRequest(f"A token cannot be called {name!r}: letters, digits, dots and dashes, at most 64.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    births = {os.fspath(root): birth_of(root) for root in roots}
    record = NamedToken(digest_of(token), right, expires, tuple(births), births)
    _write_named({**read_named(), name: record})
    return token


def remove_named(name: str) -> None:
    """Remove a named token. Raises NotFound, and Misconfigured."""
    tokens = dict(read_named())
    if tokens.pop(name, None) is None:
        raise NotFound(f"There is no token {name!r}; there are: {', '.join(tokens) or 'none'}.")
    _write_named(tokens)


def read_named() -> Mapping[str, NamedToken]:
    """Return name → token. Raises Misconfigured for an unreadable file."""
    place = _folder() / "tokens.json"
    try:
        return msgspec.json.decode(files.read_ours(place, NAMED_BYTES_MAX), type=dict[str, NamedToken])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise Misconfigured(f"{place} cannot be read ({_why(error)}); repair or remove it.") from error


def digest_of(token: str) -> str:
    """Return the hash of a token, hex. A random token needs no slow hash: it cannot be guessed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


class Tokens:
    """The tokens that a server accepts, its user's and named ones; changed files are read again."""

    def __init__(self, token: str) -> None:
        """`token`: the user's, until its file changes."""
        self._own_digest = digest_of(token)
        self._place = _folder() / "token"
        self._own_stamp = _file_stamp(self._place)
        self._named_tokens: Mapping[str, NamedToken] = {}
        self._named_stamp: tuple[int, int] | None = None

    def bearer(self, token: str) -> Bearer:
        """Return the bearer of a token. Raises WrongToken."""
        return self.holder(digest_of(token))

    def holder(self, hex_digest: str) -> Bearer:
        """Return the bearer of the token with this digest. Raises WrongToken."""
        if not hex_digest:  # equals the digest of a deleted token file
            raise WrongToken("There is no token; `cortex token` prints the right one.")
        wanted = hex_digest.encode()
        return self._find(lambda digest: hmac.compare_digest(wanted, digest.encode()))[0]

    def digest_with(self, mark: str, mark_of: Callable[[str], str]) -> str:
        """Return the token's digest with this mark; `mark_of`: digest → mark. Raises WrongToken."""
        return self._find(lambda digest: hmac.compare_digest(mark, mark_of(digest)))[1]

    def _find(self, matches: Callable[[str], bool]) -> tuple[Bearer, str]:
        """Return bearer and digest that match, all compared in constant time. Raises WrongToken."""
        match: tuple[Bearer, str] | None = None
        ended = ""
        own_digest = self._current_own()
        if matches(own_digest) and own_digest:
            match = Bearer("", "admin"), own_digest
        for name, record in self._current_named().items():
            if not matches(record.digest):
                continue
            if record.expires and record.expires <= time.time():
                ended = name
            else:
                match = Bearer(name, record.right, record.projects, record.births), record.digest
        if match is None:
            why = f"The token {ended!r} has expired" if ended else "The token is wrong"
            raise WrongToken(f"{why}; `cortex token` prints the right one.")
        return match

    def _current_own(self) -> str:
        """Return the digest of the user's token, or ""; the environment wins over the file."""
        stamp = _file_stamp(self._place)
        if stamp != self._own_stamp:
            self._own_digest, self._own_stamp = "", stamp
            with contextlib.suppress(Misconfigured):
                token = own_token()
                self._own_digest = digest_of(token) if token else ""
        return self._own_digest

    def _current_named(self) -> Mapping[str, NamedToken]:
        """Return the named tokens. A changed file is read again; an unreadable one has none."""
        stamp = _file_stamp(_folder() / "tokens.json")
        if stamp != self._named_stamp:
            self._named_tokens, self._named_stamp = {}, stamp
            with contextlib.suppress(Misconfigured):
                self._named_tokens = read_named()
        return self._named_tokens


@dataclass(slots=True)
class _AddressFailures:
    """Wrong tokens from one address: count, time of the last, end of the pause (monotonic)."""

    count: int = 0
    last: float = 0.0
    until: float = 0.0


class Failures:
    """Counts of wrong tokens by address: no client slows another, and a right token never waits."""

    def __init__(self) -> None:
        self._failing: OrderedDict[str, _AddressFailures] = OrderedDict()

    def note(self, address: str, now: float) -> float:
        """Count a wrong token at `now` (monotonic); return the seconds of the pause, 0 for none."""
        failing = self._failing.setdefault(address, _AddressFailures())
        self._failing.move_to_end(address)
        if len(self._failing) > ADDRESSES_MAX:
            self._failing.popitem(last=False)
        if now - failing.last > FORGET_S:
            failing.count = 0
        failing.last = now
        if now < failing.until:
            return failing.until - now
        failing.count += 1
        if failing.count <= WRONG_MAX:
            return 0.0
        pause = min(PAUSE_MAX_S, 2.0 ** (failing.count - WRONG_MAX))
        failing.until = now + pause
        return pause


def _folder() -> Path:
    return user_config().parent


def _file_stamp(place: Path) -> tuple[int, int] | None:
    """Return inode and modification time of a file, None for none."""
    try:
        info = os.lstat(place)
    except OSError:
        return None
    return info.st_ino, info.st_mtime_ns


def _check_token(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise Misconfigured(f"{where} must hold 16 to 512 visible ASCII characters without blanks.")
    return token


def _create(place: Path, token: str) -> str:
    """Create the file of the token; return the token. Raises FileExistsError, Misconfigured."""
    try:
        files.make_folder(place.parent, anywhere=True)
        files.create(place, token.encode())
    except FileExistsError:
        raise
    except OSError as error:
        raise Misconfigured(f"Cannot write {place}: {_why(error)}; make it writable.") from error
    return token


def _write_named(tokens: Mapping[str, NamedToken]) -> None:
    _write(_folder() / "tokens.json", msgspec.json.encode(tokens))


def _write(place: Path, raw: bytes) -> None:
    try:
        files.make_folder(place.parent, anywhere=True)
        files.replace(place, raw)
    except OSError as error:
        raise Misconfigured(f"Cannot write {place}: {_why(error)}; make it writable.") from error


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
