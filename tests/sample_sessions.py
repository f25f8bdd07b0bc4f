"""A project whose sessions with agents are written line by line, with a reader of them."""

import asyncio
import json

from cortex.front.feeds.transcript_reader import Follower
from cortex.memory.library import finish
from cortex.settings.folders.identity import identity_of
from cortex.settings.table import Memory
from ipc.messages import MemoryCall


class SessionProject:
    """A project, the sessions of its agents, and a reader of them."""

    def __init__(self, worker, shop, folder):
        self.worker, self.shop, self.folder = worker, shop, folder
        self.project = identity_of(shop)
        (folder / "-shop").mkdir(parents=True)
        self.spool = shop.with_name("spool")
        self.restart_reader()

    def restart_reader(self, sessions="project"):
        """Make another reader, without state."""
        self.follower = Follower(
            self.call,
            Memory(sessions=sessions),
            {"claude": self.folder},
            self.spool,
            memory_folder=self.worker._data.root,
        )

    async def call(self, operation, arguments, writes, project, number):
        return self.ask(
            operation, writes=writes, project=project, channel="sessions", number=number, **arguments
        )

    def ask(self, operation, *, writes=False, project=None, channel="cli", number="", **arguments):
        plain_arguments = json.loads(json.dumps(arguments))
        whose = self.project if project is None else project
        request = MemoryCall(operation, plain_arguments, writes, number, whose, "", "", channel)
        reply = self.worker.call(request)
        return (finish(reply) if not hasattr(reply, "answer") else reply).answer

    def read(self):
        taken = asyncio.run(self.follower.look())
        self.worker.ready().memory.exchange_index.close()
        return taken

    def write(self, name, *lines, anew=False):
        path = self.folder / "-shop" / f"{name}.jsonl"
        raw = "".join(
            json.dumps(line) + "\n" for line in (make_line(self, name) for make_line in lines)
        ).encode()
        path.write_bytes((b"" if anew or not path.exists() else path.read_bytes()) + raw)
        return path

    def search(self, query, **more):
        return self.ask("search_sessions", query=query, **more)["results"]


def session_line(kind, content, at, **more):
    def line(life, name):
        base = {"type": kind, "sessionId": name, "cwd": str(life.shop), "gitBranch": "main", "timestamp": at}
        return base | {"message": {"role": kind, "content": content}} | more

    return line


def user(content, at="2026-03-01T10:00:00Z", **more):
    return session_line("user", content, at, **more)


def agent(content, at="2026-03-01T10:01:00Z"):
    return session_line("assistant", [{"type": "text", "text": content}], at)
