"""Joint turns: projects in one store, asked through the workers of one of them. Their current
generations are read first, then each lane is asked once for all.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from cortex.ask.freshness import PENDING_NAMED, Freshness
from cortex.ask.query_context import Asker, M, Member, QueryContext, Turn, check_reply
from cortex.generation.current import Generation, SegmentRef
from cortex.system.errors import CortexError, Unavailable
from ipc.codec import decode, encode
from ipc.messages import Among, Answers, Apart, Bring, Brought, Hit, Message, Several
from ipc.messages.signals import OF, path_of

#: share of a call's remaining time for downloading the projects' small files: a project that is
#: late is named, and is ready for a later question
BRING_SHARE = 0.25
#: largest share where other projects are asked too: a worker that hangs must not use up their time
JOIN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Group:
    """Projects of a joint turn: their names here and in the store, and their generations, in one
    order; `title` names the store.
    """

    title: str
    names: tuple[str, ...]
    projects: tuple[str, ...]
    generations: tuple[int, ...]
    fresh: tuple[Freshness, ...]

    @property
    def label(self) -> str:
        """The name of the group in an answer that cannot name each project."""
        return f"{len(self.names)} projects in {self.title}" if len(self.names) > 1 else self.names[0]


@dataclass(frozen=True, slots=True)
class _Asker:
    """A client that addresses each message to all projects of the group."""

    client: Asker
    group: Group

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message:
        return await self.client.ask(worker, self._among(worker, message), deadline_s)

    def _among(self, worker: str, message: Message) -> Message:
        if worker == "embed":
            return message
        projects, generations = self.group.projects, self.group.generations
        if isinstance(message, Several):
            frames = (encode(Among(projects, generations, (request,))) for request in message.requests)
            return Several(tuple(frames))
        return Among(projects, generations, (encode(message),))


@dataclass(frozen=True, slots=True)
class JointTurn(Turn):
    """One try at an answer of a group; paths begin with the number of their project in it."""

    takes_counts: ClassVar[bool] = False

    group: Group = field(kw_only=True)
    #: the plain client of the group's first project
    alone: Asker = field(kw_only=True)

    def stale(self, paths: Iterable[str]) -> frozenset[str]:
        of: dict[int, list[str]] = {}
        for path in paths:
            number, is_joint, plain = path.partition(OF)
            if is_joint:
                of.setdefault(int(number), []).append(plain)
        stale_paths = frozenset(
            path_of(number, path)
            for number, some in of.items()
            for path in self.group.fresh[number].stale(some, Generation(self.group.generations[number]))
        )
        self.changed.update(stale_paths)
        return stale_paths

    def index(self, notes: Iterable[str] = ()) -> dict[str, Any]:
        """Return the `index` block; only changed files of the answer count as pending."""
        pending = sorted(self._plain(path) for path in self.changed)
        sentences = [*map(str, self.silent.values()), *notes]
        block: dict[str, Any] = {
            "generation": self.generation.number,
            "pending": pending[:PENDING_NAMED],
            "pending_count": len(pending),
            "degraded": sorted(self.silent),
        }
        return block | ({"message": " ".join(sentences)} if sentences else {})

    async def ask_apart(
        self, workers: Sequence[str], requests: Mapping[str, Message], kind: type[M]
    ) -> dict[str, M]:
        if not requests:
            return {}
        group = self.group
        places = [group.names.index(name) for name in requests]
        message = Apart(
            tuple(group.projects[at] for at in places),
            tuple(group.generations[at] for at in places),
            tuple(map(encode, requests.values())),
        )
        plain = replace(self, context=replace(self.context, client=self.alone))
        answer = await plain.first_of(workers, message, Answers, {})
        return {
            name: check_reply(decode(frame), kind, "text")
            for name, frame in zip(requests, answer.replies, strict=True)
        }

    def generations(self, name: str) -> dict[str, int]:  # noqa: ARG002
        return dict(zip(self.group.names, self.group.generations, strict=True))

    def label(self, name: str) -> str:  # noqa: ARG002
        return self.group.label

    def qualify(self, name: str, path: str) -> str:  # noqa: ARG002
        return path  # `index` names the projects

    def own_hit(self, number: int, hit: Hit) -> Hit:
        from cortex.ranking.multi_project import join_hit  # with numpy, which a front loads late

        return join_hit(number, hit)

    def _plain(self, path: str) -> str:
        number, _, plain = path.partition(OF)
        return f"{self.group.names[int(number)]}:{plain}"


async def open_joint_turn(
    members: Sequence[Member], *, final: bool, alone: bool
) -> tuple[JointTurn | None, dict[str, CortexError]]:
    """Return (a joint turn of the members, all of one place, or None where none can be asked;
    member → the error that keeps it out). `alone`: no other projects are asked.
    """
    reachable = [member for member in members if member.context is not None and member.far is not None]
    away = {member.name: member.why for member in members if member.why is not None}
    if not reachable or reachable[0].context is None:
        return None, away
    leader = reachable[0].context
    stored = [member.far for member in reachable if member.far is not None]
    projects = tuple(project.project for project in stored)
    left_s = leader.left_s()
    until = leader.until if alone else time.monotonic() + JOIN_SHARE * left_s
    request = Bring(projects, BRING_SHARE * left_s)
    try:
        brought = await replace(leader, until=until).ask("text", request, Brought, until)
    except CortexError as error:
        return None, away | {member.name: error for member in reachable}
    ready = [at for at, number in enumerate(brought.generations) if number]
    away |= {
        reachable[at].name: Unavailable(why)
        for at, why in enumerate(brought.why)
        if not brought.generations[at]
    }
    if not ready:
        return None, away
    group = Group(
        title=stored[0].title,
        names=tuple(reachable[at].name for at in ready),
        projects=tuple(projects[at] for at in ready),
        generations=tuple(brought.generations[at] for at in ready),
        fresh=tuple(_freshness(reachable[at]) for at in ready),
    )
    every = SegmentRef("", sum(brought.rows), 0)
    newest = Generation(max(group.generations), segments=(every,))
    return _make_turn(leader, group, newest, final=final), away


def _freshness(member: Member) -> Freshness:
    assert member.context is not None
    return member.context.freshness


def _make_turn(leader: QueryContext, group: Group, generation: Generation, *, final: bool) -> JointTurn:
    context = replace(leader, client=_Asker(leader.client, group))
    turn = context.turn(generation, final=final)
    return JointTurn(context, generation, turn.until, final, group=group, alone=leader.client)


def group_by_place(members: Sequence[Member]) -> Mapping[str, list[Member]]:
    """Return the members in stores by their place."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        if member.far is not None:
            groups.setdefault(member.far.place, []).append(member)
    return groups
