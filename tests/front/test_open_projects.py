"""One front and several projects: the choice of a call's project, and its name in the answer."""

import asyncio
from types import SimpleNamespace

import pytest

from cortex.ask.multi_project.fan_out import PROJECTS_MAX
from cortex.engines.milvus.place import Milvus
from cortex.front.open_projects import OPEN_MAX, OpenProjects, schema_with_projects
from cortex.front.project_selection import TRIED_MAX, reach_all
from cortex.front.tools import TOOLS
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.folders.projects import clones_base, projects_file
from cortex.system.errors import BadRequest, CortexError, Misconfigured, Unavailable
from tests.ask.fake_workers import make_context
from tests.milvus_lite import in_milvus
from tests.wait_until import until_async


class Counting:
    """A fake Link that records its calls, and blocks them on request."""

    links: list
    #: (project with blocked calls, event that they wait for)
    holds: tuple = ("", None)
    #: the project that is not reachable
    away: str = ""

    def __init__(self, config):
        self.config, self.freshness = config, None
        self.agent, self.opened, self.closed = "", 0, 0
        self.calls = []
        self.links.append(self)

    def open(self):
        self.opened += 1

    def name(self, agent):
        self.agent = agent

    async def close(self):
        self.closed += 1

    async def reach(self, _until):
        if self.config.root.name == self.away:
            raise Unavailable("It is away.")
        return self.config.root.name

    async def call(self, tool, arguments, others=None):
        checked = tool.check(arguments)
        self.calls.append((tool.name, dict(arguments or {})))
        if others is not None:
            members = await others(checked.projects, 10.0)
            return {"members": [(member.name, member.context, str(member.why or "")) for member in members]}
        if self.holds[0] == self.config.root.name:
            await self.holds[1].wait()
        return {"results": [], "root": self.config.root.name}


@pytest.fixture
def front(tmp_path, monkeypatch):
    """A front of the project `home`; its links are in `Counting.links`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Counting, "links", [], raising=False)
    monkeypatch.setattr(Counting, "holds", ("", None))
    (tmp_path / "home").mkdir()
    return OpenProjects(Counting(configuration.load(tmp_path / "home")), make=Counting)


@pytest.fixture
def write(tmp_path):
    def written(*names, more=""):
        for name in names:
            (tmp_path / name).mkdir(exist_ok=True)
        projects_file().parent.mkdir(parents=True, exist_ok=True)
        entries = ", ".join(f"{name}: {tmp_path / name}" for name in names)
        projects_file().write_text(f"projects: {{{entries}}}\n{more}")

    return written


def ask(front, *calls):
    """Return the answers; for a failed call its error."""

    async def run():
        answers = []
        for tool, arguments in calls:
            try:
                answers.append(await front.call(TOOLS[tool], arguments))
            except CortexError as error:
                answers.append(error)
        await front.close()
        return answers

    return asyncio.run(run())


def names(front):
    return asyncio.run(front.names())


def test_with_one_project_nothing_is_added_to_tools_arguments_or_answers(front):
    assert names(front) == ()
    offered = set(schema_with_projects(TOOLS["cortex_exact"], ())["properties"])
    assert offered == set(TOOLS["cortex_exact"].schema["properties"]) - {"projects"}
    assert schema_with_projects(TOOLS["cortex_graph"], ()) is TOOLS["cortex_graph"].schema
    answer, refused = ask(
        front, ("cortex_exact", {"query": "x"}), ("cortex_exact", {"query": "x", "project": "home"})
    )
    assert answer == {"results": [], "root": "home"}
    assert "There is no argument `project`" in str(refused)


def test_a_named_project_gets_the_call_without_the_name_and_the_answer_has_it(front, write):
    write("shop")
    assert names(front) == ("home", "shop")
    default, by_own_name, other = ask(
        front,
        ("cortex_exact", {"query": "x"}),
        ("cortex_exact", {"query": "x", "project": "home"}),
        ("cortex_exact", {"query": "x", "project": "shop"}),
    )
    assert (default["project"], by_own_name["project"], other["project"]) == ("home", "home", "shop")
    assert (default["root"], by_own_name["root"], other["root"]) == ("home", "home", "shop")
    assert [link.calls for link in Counting.links] == [
        [("cortex_exact", {"query": "x"})] * 2,
        [("cortex_exact", {"query": "x"})],
    ]
    assert [link.closed for link in Counting.links] == [1, 1]


def test_the_own_name_is_accepted_before_the_names_are_read(front, write):
    write("shop")
    [answer] = ask(front, ("cortex_exact", {"query": "x", "project": "home"}))
    assert (answer["project"], answer["root"]) == ("home", "home")


def test_a_part_and_the_project_around_it_are_two(tmp_path, monkeypatch, front, write):
    folder = tmp_path / "home" / "api"
    folder.mkdir()
    monkeypatch.setattr(
        "cortex.settings.config.enclosing_project",
        lambda root: (root.parent, "api") if root == folder else (root, ""),
    )
    projects_file().parent.mkdir(parents=True, exist_ok=True)
    projects_file().write_text(f"projects: {{whole: {tmp_path / 'home'}, mine: {folder}}}\n")
    inner = OpenProjects(Counting(configuration.load(folder)), make=Counting)
    assert names(inner) == ("mine", "whole")
    assert names(front) == ("whole", "mine")
    ask(inner, ("cortex_exact", {"query": "x"}), ("cortex_exact", {"query": "x", "project": "whole"}))
    assert [link.config.subfolder for link in Counting.links] == ["", "api", ""]


def test_its_own_project_has_the_name_that_its_user_gave_it(front, write, tmp_path):
    (tmp_path / "shop").mkdir()
    write("shop", more="")
    projects_file().write_text(f"projects: {{mine: {tmp_path / 'home'}, shop: {tmp_path / 'shop'}}}\n")
    assert names(front) == ("mine", "shop")


def test_a_name_that_is_written_down_later_is_found(front, write):
    assert ask(front, ("cortex_exact", {"query": "x"}))[0]["root"] == "home"
    write("shop")
    [answer] = ask(front, ("cortex_exact", {"query": "x", "project": "shop"}))
    assert answer["project"] == "shop"


def test_an_unknown_project_is_one_sentence_with_those_there_are(front, write):
    write("shop")
    refused, wrong = ask(
        front,
        ("cortex_exact", {"query": "x", "project": "/etc"}),
        ("cortex_exact", {"query": "x", "project": ["shop"]}),
    )
    assert isinstance(refused, BadRequest)
    assert str(refused) == "There is no project '/etc'; there are: home, shop."
    assert isinstance(wrong, BadRequest)
    assert len(Counting.links) == 1


def test_an_unreadable_list_is_an_error_for_a_named_project_and_hides_no_tool(front, write):
    write("shop", more="other: 1\n")
    assert names(front) == ()
    [answer, refused] = ask(
        front, ("cortex_exact", {"query": "x"}), ("cortex_exact", {"query": "x", "project": "shop"})
    )
    assert answer["root"] == "home"
    assert isinstance(refused, Misconfigured)


def test_a_project_of_notes_stays_an_argument_of_memory_tools(front, write):
    write("shop")
    asyncio.run(front.names())
    ask(
        front,
        ("cortex_recall", {"query": "x", "project": "shop"}),
        ("cortex_search", {"query": "x", "scope": "memory", "project": "shop"}),
        ("cortex_search", {"query": "x", "scope": "all", "project": "all"}),
        ("cortex_search", {"query": "x", "project": "shop"}),
    )
    assert [[arguments.get("project") for _, arguments in link.calls] for link in Counting.links] == [
        ["shop", "shop", "all"],
        [None],
    ]
    assert schema_with_projects(TOOLS["cortex_recall"], ("home", "shop")) is TOOLS["cortex_recall"].schema


def test_every_tool_of_code_lists_the_projects_and_takes_few_tokens_for_it():
    for tool in TOOLS.values():
        schema = schema_with_projects(tool, ("home", *(f"project-{number}" for number in range(40))))
        if tool.asks({}) != "memory":
            assert "home (default)" in schema["properties"]["project"]["description"]
            assert len(str(schema["properties"]["project"])) < 300
        assert set(schema["properties"]) >= set(tool.schema["properties"])


def test_a_clone_that_was_made_to_be_read_is_not_written_about(front):
    (clones_base() / "git.example" / "ada" / "lib" / ".git").mkdir(parents=True)
    assert names(front) == ("home", "ada/lib")
    read, refused = ask(
        front,
        ("cortex_exact", {"query": "x", "project": "ada/lib"}),
        ("cortex_relate", {"from_id": "1", "to_id": "2", "project": "ada/lib"}),
    )
    assert read["project"] == "ada/lib"
    assert "is read-only" in str(refused)


def test_few_projects_are_held_open_and_none_is_let_go_while_it_is_asked(front, write):
    others = [f"p{number}" for number in range(OPEN_MAX + 2)]
    write(*others)

    async def run():
        Counting.holds = ("p0", asyncio.Event())
        await front.names()
        first = asyncio.create_task(front.call(TOOLS["cortex_exact"], {"query": "x", "project": "p0"}))
        await until_async(lambda: len(Counting.links) >= 2, "the link to the project that is asked")
        front.name("an agent")
        for name in others[1:]:
            await front.call(TOOLS["cortex_exact"], {"query": "x", "project": name})
        closed = [link.closed for link in Counting.links[1:]]
        Counting.holds[1].set()
        answer = await first
        agents = {link.agent for link in Counting.links}
        await front.close()
        return closed, answer, agents

    closed, answer, agents = asyncio.run(run())
    assert closed == [0, 1, 1, 0, 0]
    assert answer["project"] == "p0"
    assert agents == {"an agent"}
    assert all(link.closed == 1 for link in Counting.links)


def test_another_project_has_the_memory_of_this_front(front, write, tmp_path):
    write("shop")
    flags = {"memory": {"data_dir": str(tmp_path / "memory")}}
    home_front = OpenProjects(Counting(configuration.load(tmp_path / "home", flags)), make=Counting)
    ask(home_front, ("cortex_exact", {"query": "x", "project": "shop"}))
    assert Counting.links[-1].config.data.root == tmp_path / "memory"


def test_several_projects_are_reached_by_names_and_globs_in_the_order_of_their_names(front, write):
    write("api-users", "api-orders", "shop")
    answers = ask(
        front,
        *(
            ("cortex_search", {"query": "x", "projects": projects})
            for projects in (["api-*"], ["shop", "home"], ["*"], "api-users,shop", ["shop", "sh*"])
        ),
    )
    assert [[name for name, *_ in answer["members"]] for answer in answers] == [
        ["api-users", "api-orders"],
        ["home", "shop"],
        ["home", "api-users", "api-orders", "shop"],
        ["api-users", "shop"],
        ["shop"],
    ]
    assert answers[0]["members"][0] == ("api-users", "api-users", "")
    assert all(link.opened == link.closed == 1 for link in Counting.links[1:])


def test_an_unreachable_project_has_its_reason_and_the_others_are_reached(front, write, monkeypatch):
    write("shop", "old")
    monkeypatch.setattr(Counting, "away", "old")
    [answer] = ask(front, ("cortex_exact", {"query": "x", "projects": ["*"]}))
    assert answer["members"] == [("home", "home", ""), ("shop", "shop", ""), ("old", None, "It is away.")]


def test_where_one_of_a_milvus_cannot_be_reached_all_are_asked_through_another(tmp_path):
    settings = Milvus(uri=str(tmp_path / "lite.db"))
    selections = {
        name: SimpleNamespace(
            config=Config(root=tmp_path / name, **in_milvus(settings)),
            freshness=None,
            link=object() if name == "c" else None,
        )
        for name in "abcde"
    }
    tried = []

    async def reach(name, reachable):
        tried.append(name)
        if name not in reachable:
            raise Unavailable(f"{name} is gone.")
        return make_context(selections[name].config, None)

    def reached(reachable):
        tried.clear()
        return asyncio.run(reach_all("abcde", selections.__getitem__, lambda name: reach(name, reachable)))

    assert [member.context.config.root.name for member in reached("b")] == list("abcde")
    assert tried == ["c", "a", "b"]
    assert {(member.context, str(member.why)) for member in reached("e")} == {(None, "c is gone.")}
    assert len(tried) == TRIED_MAX


def test_names_that_mean_nothing_or_too_much_are_one_sentence(front, write):
    write("shop", *(f"p{number:02}" for number in range(PROJECTS_MAX)))
    wrong, too_many, both = ask(
        front,
        ("cortex_exact", {"query": "x", "projects": ["shpo"]}),
        ("cortex_exact", {"query": "x", "projects": ["*"]}),
        ("cortex_exact", {"query": "x", "projects": ["shop"], "project": "shop"}),
    )
    assert str(wrong).startswith(
        "There is no project 'shpo' (did you mean 'shop'?); there are: home, shop, p00"
    )
    assert str(too_many) == (
        f"`projects` means {PROJECTS_MAX + 2} projects, and {PROJECTS_MAX} are asked at once; name fewer of them."
    )
    assert str(both) == "Pass `project` for one project or `projects` for several, not both."
    assert all(isinstance(error, BadRequest) for error in (wrong, too_many, both))


def test_all_projects_are_a_persons_own_and_a_clone_is_asked_by_its_name(front, write):
    write("shop")
    (clones_base() / "git.example" / "ada" / "lib" / ".git").mkdir(parents=True)
    all_own, clone = ask(
        front,
        ("cortex_exact", {"query": "x", "projects": ["*"]}),
        ("cortex_exact", {"query": "x", "projects": ["ada/*", "shop"]}),
    )
    assert [name for name, *_ in all_own["members"]] == ["home", "shop"]
    assert [name for name, *_ in clone["members"]] == ["shop", "ada/lib"]


def test_after_a_question_to_many_few_stay_open(front, write):
    write(*(f"p{number}" for number in range(OPEN_MAX + 3)))

    async def run():
        await front.call(TOOLS["cortex_exact"], {"query": "x", "projects": ["p*"]})
        closed = [link.closed for link in Counting.links[1:]]
        await front.close()
        return closed

    assert asyncio.run(run()) == [1, 1, 1, *([0] * OPEN_MAX)]


def test_a_project_that_is_asked_while_another_closes_stays_open(front, write, monkeypatch):
    write(*(f"p{number}" for number in range(OPEN_MAX + 2)))

    async def run():
        closing, going_on = asyncio.Event(), asyncio.Event()

        async def close(link):
            link.closed += 1
            closing.set()
            await going_on.wait()

        monkeypatch.setattr(Counting, "close", close)
        several = asyncio.create_task(front.call(TOOLS["cortex_exact"], {"query": "x", "projects": ["p*"]}))
        await closing.wait()
        Counting.holds = ("p1", asyncio.Event())
        second = asyncio.create_task(front.call(TOOLS["cortex_exact"], {"query": "x", "project": "p1"}))
        await until_async(lambda: front.find("p1").calls == 1, "the call of the second project")
        going_on.set()
        await several
        closed = [link.closed for link in Counting.links[1:3]]
        Counting.holds[1].set()
        await second
        await front.close()
        return closed

    assert asyncio.run(run()) == [1, 0]


def test_a_project_that_was_closed_opens_with_its_present_configuration(front, write, tmp_path):
    others = [f"p{number}" for number in range(OPEN_MAX + 1)]
    write(*others)

    async def run():
        for name in others:
            await front.call(TOOLS["cortex_exact"], {"query": "x", "project": name})
        (tmp_path / "p0" / ".cortex").mkdir()
        (tmp_path / "p0" / ".cortex" / "config.yml").write_text("fusion: {bm25_weight: 0.25}\n")
        await front.call(TOOLS["cortex_exact"], {"query": "x", "project": "p0"})
        await front.close()
        return [link.config for link in Counting.links if link.config.root.name == "p0"]

    before, after = asyncio.run(run())
    assert before.fusion.bm25_weight != after.fusion.bm25_weight == 0.25


def test_where_a_client_may_name_several_projects_three_tools_list_the_argument():
    names = {
        name
        for name, tool in TOOLS.items()
        if "projects" in schema_with_projects(tool, ("a", "b"))["properties"]
    }
    assert names == {"cortex_search", "cortex_exact", "code_context"}
    assert not any("projects" in schema_with_projects(tool, ())["properties"] for tool in TOOLS.values())
