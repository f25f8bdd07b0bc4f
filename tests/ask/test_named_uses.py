"""Uses of members, and of names that no definition has: by the lines that hold them."""

import asyncio
from dataclasses import replace

import orjson
import pytest

from cortex.ask.reading.read import Read, read
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.ask.structure import graph
from cortex.front.text import render
from ipc.messages import GraphSearch
from tests.ask.used import ask, serve_files, sites

FIELDS = {
    "shop/load.py": (
        "class Load:\n"
        '    """A load that is consumed once."""\n\n'
        "    weight: int = 0\n\n"
        "    def __init__(self):\n        self._consumed = False  # not consumed\n\n"
        "    @property\n    def consumed(self):\n"
        '        """Whether it is consumed."""\n'
        "        return self._consumed\n\n\n"
        "def make(consumed):\n    return Load(weight=2)\n"
    ),
    "shop/run.py": (
        "from shop.load import Load\n\n\n"
        "def run(load, consumed=False):\n"
        "    if load.consumed:  # consumed before\n"
        '        raise ValueError("consumed")\n'
        "    load.weight += 1\n"
        "    weight = 3\n"
        "    return weight\n"
    ),
    "tests/test_load.py": "\n".join(
        ["def test_load(load):", *(f"    assert load.consumed is {n}" for n in range(9))]
    ),
}


@pytest.fixture(scope="module")
def fields(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, FIELDS)


def test_a_property_is_used_where_code_accesses_it(fields):
    (block,) = ask(fields, "Load.consumed")["sites"]
    assert sites(block)[0] == "shop/run.py:5"
    assert [place for place in sites(block) if not place.startswith("tests/")] == ["shop/run.py:5"]
    assert block["total"] == 10
    assert block["files"][-1]["sites"] == [{"line": line} for line in range(2, 11)]


def test_a_field_that_the_graph_lacks_is_that_of_its_type(fields):
    answer = ask(fields, "Load.weight")
    (block,) = answer["sites"]
    assert (sites(block), block["at"]) == (["shop/run.py:7", "shop/load.py:16"], "shop/load.py:4")
    assert answer["suggestion"] == ""


def test_unresolved_places_come_once_and_are_calls_or_values(tmp_path_factory, serve):
    calls = "".join(f"def use{n}(a, b):\n    a.toll(1)\n    b.run(toll=1)\n\n\n" for n in range(3))
    served = serve_files(
        tmp_path_factory,
        serve,
        {
            "shop/toll.py": "def toll(n):\n    return n\n\n\ndef one():\n    return toll(1)\n",
            "shop/other.py": "def toll(n):\n    return -n\n\n\ndef two():\n    return toll(2)\n",
            "shop/use.py": calls,
        },
    )
    first, second = ask(served, "toll")["sites"]
    assert [place["line"] for place in first["unresolved"]["places"]] == [2, 7, 12]
    assert "unresolved" not in second
    assert all("unresolved" not in block for block in ask(served, "toll", offset=1)["sites"])


def test_an_impact_and_uses_at_depth_keep_to_their_budget(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("wide")
    folder = root / "services" / "orders" / "internal_handlers"
    folder.mkdir(parents=True)
    (root / "hub.py").write_text("def hub(item):\n    return item\n")
    for at in range(60):
        functions = "".join(
            f"def handle_an_order_of_kind_{at}_{n}(item):\n    return hub({n})\n\n\n"
            f"def prepare_an_order_of_kind_{at}_{n}(item):\n    return handle_an_order_of_kind_{at}_{n}(item)\n\n\n"
            for n in range(10)
        )
        (folder / f"handlers_of_kind_{at}.py").write_text(f"from hub import hub\n\n\n{functions}")
    context = replace(serve(root).context(), audience="agent")
    answer = orjson.loads(orjson.dumps(asyncio.run(graph(context, GraphSearch("impact", "hub", depth=3)))))
    text = render("cortex_graph", answer)
    assert len(text) / 4 <= 1_500
    assert (answer["total_found"], answer["next_offset"]) == (1_260, len(answer["results"]))
    assert "1260 in " in text
    assert "by steps: 600 at 1, 600 at 2" in text or "by steps: 660 at 1, 600 at 2" in text
    further = GraphSearch("impact", "hub", depth=3, offset=answer["next_offset"])
    pages = orjson.loads(orjson.dumps(asyncio.run(graph(context, further))))
    names = {orjson.dumps(row) for row in (*answer["results"], *pages["results"])}
    assert len(names) == len(answer["results"]) + len(pages["results"])
    used = asyncio.run(uses(context, UsesQuestion("hub", depth=3)))
    assert len(render("cortex_uses", used)) / 4 <= 1_500
    programs = asyncio.run(graph(serve(root).context(), GraphSearch("impact", "hub", depth=3)))
    assert programs["total_returned"] == 100


LINES_CS = {
    "Line.cs": (
        "namespace Shop;\npublic class Line : ISized\n{\n    public string Text { get; set; }\n"
        "    public bool IsBlank => Text.Length == 0;\n    public int Width\n    {\n        get { return Text.Length; }\n    }\n"
        "    int ISized.Size => 1;\n    public int Size { get; private set; } = 4;\n    public event System.Action Changed;\n}\n"
        "public interface ISized { int Size { get; } }\n"
    ),
    "Page.cs": (
        "namespace Shop;\npublic class Page\n{\n    private readonly Line line = new Line();\n"
        '    public bool Empty() { return line.IsBlank && line.Text == ""; }\n'
        "    public int Wide() { line.Changed += null; return line.Width + line.Size; }\n}\n"
    ),
}


@pytest.fixture(scope="module")
def properties(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, LINES_CS)


@pytest.mark.parametrize(
    ("name", "lines", "used"),
    [
        ("IsBlank", (5, 5), ["Page.cs:5"]),
        ("Line.Text", (4, 4), ["Line.cs:5", "Line.cs:8", "Page.cs:5"]),
        ("Width", (6, 9), ["Page.cs:6"]),
        ("Changed", (12, 12), ["Page.cs:6"]),
    ],
)
def test_a_property_is_a_definition_with_uses(properties, name, lines, used):
    (block,) = ask(properties, name)["sites"]
    assert block["at"] == f"Line.cs:{lines[0]}"
    assert sorted(sites(block)) == used
    (code,) = asyncio.run(read(properties.context(), Read((name,))))["code"]
    assert (code["file"], code["start"], code["end"]) == ("Line.cs", *lines)


def test_properties_of_one_name_are_apart(properties):
    assert "Line.cs:14" in [block["at"] for block in ask(properties, "Size")["sites"]]
    answer = asyncio.run(read(properties.context(), Read(("Line.Size",))))
    assert [entry["start"] for entry in answer["code"]] == [10]


def test_routes_of_one_line_are_named_together(tmp_path, serve):
    (tmp_path / "app.py").write_text(
        "from fastapi import APIRouter, FastAPI\n\napp = FastAPI()\nrouter = APIRouter()\n\n\n"
        "@router.api_route('/items', methods=['PUT', 'PATCH'])\ndef change(body):\n    return body\n\n\n"
        "app.include_router(router, prefix='/v1')\n"
    )
    block = ask(serve(tmp_path), "change")["sites"][0]
    names = [site["name"] for file in block["files"] for site in file["sites"]]
    assert names == ["PUT, PATCH /v1/items"]
    assert block["total"] == 1


def test_the_line_that_names_a_definition_below_its_decorator_is_no_other_line(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("decorated")
    (root / "auth.py").write_text(
        "from flask import Blueprint\n\nbp = Blueprint('auth', __name__)\n\n\n"
        "@bp.route('/login')\ndef login():\n    return login.__name__\n"
    )
    answer = asyncio.run(uses(serve(root).context(), UsesQuestion("login")))
    assert sites(orjson.loads(orjson.dumps(answer))["elsewhere"]) == ["auth.py:8"]


SETTINGS = {
    "shop/conf.py": (
        '"""Settings: disk_limit, and more.\n\nThe disk_limit is in bytes.\n"""\n\n\n'
        "def setup(app):\n    app.add_config_value('disk_limit', 10)\n    app.connect('disk-full', warn)\n\n\n"
        "def warn(app):\n    '''Warn at disk_limit.'''\n    app.emit(\n        'disk-full',\n    )\n\n\n"
        "@app.task(name='shop.clean_up')\ndef clean(app):\n    return app.conf.disk_limit\n"
    ),
    "tests/test_conf.py": (
        "DISK_LIMIT = 3\nCLEAN = 'shop.clean_up'\n\n\ndef test_it(app):\n    app.conf.disk_limit = DISK_LIMIT\n"
    ),
    "notes.md": "# Settings\n\n`disk_limit` and `disk-full`, `shop.clean_up`.\n",
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, SETTINGS)


@pytest.mark.parametrize(
    ("symbol", "name", "lines", "texts"),
    [
        ("disk_limit", "disk_limit", ["shop/conf.py:21", "shop/conf.py:8", "tests/test_conf.py:6"], 4),
        ("'disk-full'", "disk-full", ["shop/conf.py:9", "shop/conf.py:15"], 1),
        ("shop.clean_up", "shop.clean_up", ["shop/conf.py:19", "tests/test_conf.py:2"], 1),
        ("conf.disk_limit", "disk_limit", ["shop/conf.py:21", "shop/conf.py:8", "tests/test_conf.py:6"], 4),
    ],
)
def test_a_name_without_a_definition_has_the_lines_with_it_in_strings(settings, symbol, name, lines, texts):
    answer = ask(settings, symbol)
    (block,) = answer["sites"]
    assert (block["of"], sites(block), block["total"]) == (name, lines, len(lines))
    others = answer["elsewhere"]
    assert (others["total"], others["tests"], others["texts"]) == (0, 0, texts)
    assert render("cortex_uses", answer).startswith(f"lines with {name}: {len(lines)}")


def test_a_name_in_another_case_is_named_but_its_uses_are_not_those_of_the_word(settings):
    answer = ask(settings, "disk_limit")
    assert (
        answer["suggestion"]
        == "No definition is named 'disk_limit'; like it: DISK_LIMIT (tests/test_conf.py:1)."
    )
    (block,) = ask(settings, "Disk_Limit")["sites"]
    assert block["at"] == "tests/test_conf.py:1", "no line has this word"


def test_lines_of_a_docstring_of_several_chunks_are_no_code(tmp_path_factory, serve):
    lines = [f"    Line {at} tells how the jobs go on, and which may stop.\n" for at in range(300)]
    code = "    jobs.run(\n        'go',\n    )\n    # let it go\n    return jobs.go\n"
    files = {
        "shop/go.py": "def go():\n    return 1\n",
        "shop/use.py": f'def use(jobs):\n    """Use it.\n\n{"".join(lines)}    """\n{code}',
    }
    others = ask(serve_files(tmp_path_factory, serve, files), "shop/go.py:1")["elsewhere"]
    assert (sites(others), others["texts"]) == (["shop/use.py:306"], 301)


REGISTERED = {
    "shop/panel.py": (
        "COMMANDS = {}\n\n\ndef command(**options):\n    def register(function):\n"
        "        COMMANDS[function.__name__] = function\n        return function\n\n    return register\n"
    ),
    "shop/control.py": (
        "import functools\n\nfrom shop.panel import command\n\n\n"
        "@command(\n    visible=True,\n)\ndef shutdown(state):\n    return state\n\n\n"
        "@functools.lru_cache\ndef size():\n    return 1\n\n\n"
        "@command()\ndef status():\n    shutdown = False\n    return shutdown\n"
    ),
    "shop/pool.py": (
        "def stop(pool, threads):\n    pool.shutdown()\n    threads[0].shutdown(wait=True)\n"
        "    shutdown = threads\n    return run(shutdown=shutdown)\n\n\ndef run(shutdown):\n    pass\n"
    ),
    "shop/ask.py": "def ask(app):\n    app.control.shutdown()\n",
    "shop/steps.py": "class Step:\n    def shutdown(self, wait=False):\n        pass\n",
    "src/app.ts": (
        "@Component({ name: 'app' })\nexport class App {\n  @Input() title = '';\n\n"
        "  @HostListener('click')\n  clicked() {\n    return 1;\n  }\n}\n"
    ),
    "src/Jobs.java": (
        'class Jobs {\n    @Override\n    @Scheduled(cron = "0 0 * * *")\n    public void sweep() {\n    }\n\n'
        '    @Override\n    public String toString() {\n        return "";\n    }\n}\n'
    ),
    "src/Module.kt": (
        'package app\n\n@Module\n@InstallIn(Single::class)\nobject ShopModule {\n    @Suppress("LongMethod")\n'
        "    @Provides\n    @Singleton\n    fun provideShop(clock: Clock): Shop = Shop(clock)\n\n"
        "    @Composable\n    fun Screen() {}\n}\n"
    ),
    "src/Panel.swift": (
        "class Panel {\n  @discardableResult\n  func draw() -> Int { 1 }\n\n  @IBAction func tapped() {}\n}\n"
    ),
}


@pytest.fixture(scope="module")
def registered(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, REGISTERED)


@pytest.mark.parametrize(
    ("symbol", "decorators"),
    [
        ("shop/control.py:6", [("@command(…)", 6)]),
        ("shop/control.py:9", [("@command(…)", 6)]),
        ("size", []),
        ("App", [("@Component(…)", 1)]),
        ("App.clicked", [("@HostListener(…)", 5)]),
        ("Jobs.sweep", [("@Scheduled(…)", 3)]),
        ("Jobs.toString", []),
        ("ShopModule", [("@Module", 3), ("@InstallIn(…)", 4)]),
        ("ShopModule.provideShop", [("@Provides", 7)]),
        ("ShopModule.Screen", []),
        ("Panel.draw", []),
        ("Panel.tapped", [("@IBAction", 5)]),
    ],
)
def test_a_decorator_that_may_register_a_definition_is_named(registered, symbol, decorators):
    answer = ask(registered, symbol)
    (block,) = answer["sites"]
    assert [(row["text"], row["line"]) for row in block.get("decorators", ())] == decorators
    named = [f"{text} (line {line})" for text, line in decorators]
    listed = f"registered or wrapped by {', '.join(named)}," if named else ""
    assert listed in render("cortex_uses", answer)


def test_lines_of_another_receiver_are_no_uses_of_a_function(registered):
    answer = ask(registered, "shop/control.py:6")
    (block,) = answer["sites"]
    assert [(file["file"], file.get("unsure", False)) for file in block["files"]] == [
        ("shop/control.py", False),
        ("shop/ask.py", True),
    ]
    assert {"shop/pool.py:2", "shop/pool.py:3", "shop/pool.py:4"} <= set(sites(answer["elsewhere"]))


#: jobs with the method of one name, and a type that its methods return
JOBS = {
    **{
        f"app/jobs/{name}_job.rb": f"class {name.title()}Job < ApplicationJob\n  def perform(id)\n    id\n  end\nend\n"
        for name in ("send", "load", "move", "drop", "sync", "ping")
    },
    "app/run.rb": "def run(other)\n  SendJob.perform_later(1)\n  other.perform(2)\nend\n",
    "src/lib.rs": "mod disk;\nmod make;\n",
    "src/disk.rs": (
        "pub struct Disk {\n    size: u8,\n}\nimpl Disk {\n    pub fn named(self) -> Disk {\n        self\n    }\n}\n"
    ),
    "src/make.rs": "use crate::disk::Disk;\n\npub fn make() -> u8 {\n    let disk = Disk { size: 1 };\n    disk.size\n}\n",
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, JOBS)


def test_the_methods_of_many_other_jobs_are_counted_and_no_lines_of_one(jobs):
    answer = ask(jobs, "SendJob.perform")
    assert sites(answer["sites"][0])[0] == "app/run.rb:2"
    assert not [place for place in sites(answer["elsewhere"]) if "app/jobs" in place]
    assert answer["elsewhere"]["namesakes"] == 5
    assert "5 other definitions" in render("cortex_uses", answer)


def test_the_own_methods_of_a_type_follow_the_other_uses(jobs):
    assert sites(ask(jobs, "Disk")["sites"][0]) == ["src/make.rs:4", "src/disk.rs:4", "src/disk.rs:5"]
