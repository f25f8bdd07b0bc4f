"""Exchanges of a session, put together from the lines of its file: a person's prompt, and
everything that the agent wrote and did until the next one. Pure; each format has a module that
reads its lines.
"""

from collections import Counter
from dataclasses import dataclass, field

from cortex.memory.transcripts.formats.plans import joined
from cortex.memory.transcripts.formats.tags import plain

#: characters of an exchange's text kept from one reading; more is cut, and counted
TEXT_CHARS_MAX = 1_000_000
#: files and kinds of tools of one part of an exchange
FILES_MAX, TOOLS_MAX = 256, 64
#: characters of a path; of a branch and of a tool's name
PATH_CHARS_MAX, NAME_CHARS_MAX = 1_024, 128


@dataclass(frozen=True, slots=True)
class ExchangePart:
    """An exchange, or (`begins` is false) an addition to one that began in an earlier part: its
    time in UTC milliseconds, the texts, {tool: number of calls}, the files, the hashes of commits,
    and the changes of the agent's plan (`plans`).
    """

    begins: bool
    at: int = 0
    user: str = ""
    assistant: str = ""
    tools: dict[str, int] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    branch: str = ""
    commits: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()


class Gathering:
    """Collects exchanges from line after line. `counts`: lines by how they were understood."""

    def __init__(self, *, sidechain: bool = False, committing: set[str] | None = None) -> None:
        #: whether all prompts in the file are an agent's
        self.sidechain = sidechain
        self.session = self.cwd = self.branch = ""
        self.first_at = self.last_at = 0
        self.counts: Counter[str] = Counter()
        #: calls of git that may commit, without a result so far
        self.committing: set[str] = set() if committing is None else committing
        self._parts: list[ExchangePart] = []
        self._begins = False
        self._at = 0
        self._user = ""
        self._clear()

    def _clear(self) -> None:
        self._replies: list[str] = []
        self._chars = 0
        self._tools: Counter[str] = Counter()
        self._files: dict[str, dict[str, None]] = {"read": {}, "modified": {}}
        self._commits: dict[str, None] = {}
        self._plan: list[str] = []

    def note(self, *, session: str = "", cwd: str = "", branch: str = "", at: int = 0) -> None:
        """Take the context fields of a line."""
        self.session = self.session or session[:NAME_CHARS_MAX]
        self.cwd = self.cwd or cwd[:PATH_CHARS_MAX]
        self.branch = branch[:NAME_CHARS_MAX] or self.branch
        if at:
            self.first_at = self.first_at or at
            self.last_at = max(self.last_at, at)
            self._at = self._at or at

    def begin(self, text: str, at: int) -> bool:
        """Start an exchange with a prompt. Return False if nothing is left of its text."""
        cleaned = plain(text)
        if not cleaned or (cleaned == self._user and not self._replies and not self._tools):
            return bool(cleaned)  # some formats repeat it
        self._end()
        self._begins, self._at, self._user = True, at, cleaned[:TEXT_CHARS_MAX]
        return True

    def say(self, text: str, *, twice: bool = False) -> None:
        """Add a text of the agent; `twice`: the format may repeat it."""
        cleaned = plain(text)
        if not cleaned or (twice and cleaned in self._replies[-2:]):
            return
        if self._chars + len(cleaned) > TEXT_CHARS_MAX:
            self.counts["cut"] += 1
            return
        self._replies.append(cleaned)
        self._chars += len(cleaned)

    def use(self, tool: str) -> None:
        if len(self._tools) < TOOLS_MAX or tool in self._tools:
            self._tools[tool[:NAME_CHARS_MAX]] += 1

    def handle(self, path: str, *, modified: bool) -> None:
        """Add a file that the agent read or changed."""
        paths = self._files["modified" if modified else "read"]
        if path and len(path) <= PATH_CHARS_MAX and len(paths) < FILES_MAX:
            paths[path] = None

    def commit(self, name: str) -> None:
        """Add the hash of a commit that git reports."""
        self._commits[name] = None

    def plan(self, changes: list[str]) -> None:
        """Add changes of the agent's plan (`plans`)."""
        self._plan = joined(self._plan, changes)

    def finish(self) -> list[ExchangePart]:
        """The collected parts; later lines may continue the last one."""
        self._end()
        return self._parts

    def _end(self) -> None:
        if self._begins or self._replies or self._tools or self._commits or self._plan:
            self._parts.append(
                ExchangePart(
                    self._begins,
                    self._at,
                    self._user,
                    "\n\n".join(self._replies),
                    dict(self._tools),
                    tuple(self._files["read"]),
                    tuple(self._files["modified"]),
                    self.branch,
                    tuple(self._commits),
                    tuple(self._plan),
                )
            )
        self._begins, self._at, self._user = False, 0, ""
        self._clear()
