"""Services that containers pass to fields and parameters, and functions that FastAPI calls."""

from __future__ import annotations

import orjson
import pytest

from cortex.graph.frameworks import services
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_bodies import Bodies, Tools
from tests.engines.small_graph import ask
from tests.graph.small_graphs import facts_in
from tests.graph.test_route_questions import serve
from tests.graph.test_routes import GOLDEN, nodes_and_edges

APPLICATIONS = sorted(path.parent.name for path in GOLDEN.glob("*/CALLS"))


def texts_of(name):
    folder = GOLDEN / name
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def calls_of_handlers(edges):
    """A line for each use of a function in a handler: its targets, or candidates."""
    handlers = {edge["to"] for edge in edges if edge["type"] == "routes_to"} | {"Program"}
    handlers |= {edge["from"] for edge in edges if ":<" in edge["from"]}
    return sorted(
        {
            f"{edge['from']} {edge['to'] or ' | '.join(edge['candidates'])}"
            for edge in edges
            if edge["type"] in ("calls", "references") and edge["from"] in handlers
        }
    )


@pytest.mark.parametrize("name", APPLICATIONS)
def test_handlers_lead_to_the_services_that_a_container_passes(name):
    _, edges = nodes_and_edges(texts_of(name), GOLDEN / name)
    assert calls_of_handlers(edges) == (GOLDEN / name / "CALLS").read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "path", "old", "new"),
    [
        ("aspnet_services", "Services/Services.cs", "AddTransient<IStock, Shelf>", "AddTransient<IX, Shelf>"),
        ("aspnet_services", "Program.cs", '"slow"', '"other"'),
        ("spring_services", "src/shop/Services.java", "@Primary\n", ""),
        ("spring_services", "src/shop/Services.java", 'Component("fast")', "Component"),
        ("spring_services", "src/shop/Services.java", "return new NightRates();", "return new DayRates();"),
        ("spring_services", "src/shop/Services.java", "  MemoryStore store()", "  Object store()"),
        ("spring_services", "src/shop/Services.java", "class SystemClock", "class WallClock"),
        ("nest_services", "src/providers.ts", "useClass: StoredOrders", "useClass: Other"),
        ("nest_services", "src/services.ts", "return new SystemClock()", "return new DayRates()"),
        ("nest_services", "src/services.ts", "class SmtpMail", "class PostMail"),
        ("fastapi_depends", "app/main.py", ", dependencies=[Depends(auth)])", ")"),
        ("fastapi_depends", "app/orders.py", "@inner.get", "@router.get('/x')\ndef x(): ...\n\n\n@inner.get"),
        ("fastapi_depends", "app/shared.py", "return Store()", "return Paging()"),
    ],
)
def test_an_edit_of_a_binding_renews_the_calls_of_other_files(name, path, old, new):
    texts = texts_of(name)
    edited = {path: texts[path].replace(old, new)}
    assert edited[path] != texts[path]
    project = Project(LANGUAGES)
    project.update({file: facts_in(file, text) for file, text in texts.items()})
    before = {file: Bodies(Tools(project), None, {})._resolve(file) for file in texts}
    affected = project.update({file: facts_in(file, text) for file, text in edited.items()})
    tools = Tools(project)
    after = before | {file: Bodies(tools, None, {})._resolve(file) for file in sorted(affected)}
    fresh = Project(LANGUAGES)
    fresh.update({file: facts_in(file, text) for file, text in (texts | edited).items()})
    fresh_bodies = {file: Bodies(Tools(fresh), None, {})._resolve(file) for file in texts}
    assert {file: orjson.loads(after[file]) for file in texts} == {
        file: orjson.loads(fresh_bodies[file]) for file in texts
    }
    assert after != before


def test_tests_bind_no_services_of_the_application():
    texts = texts_of("spring_services")
    fake = "package shop;\nimport org.springframework.stereotype.*;\n@Component\nclass Fake extends Orders {\n  public Object list(int n) { return n; }\n}\n"
    _, edges = nodes_and_edges(texts | {"src/test/java/shop/Fake.java": fake})
    assert calls_of_handlers(edges) == (GOLDEN / "spring_services" / "CALLS").read_text().splitlines()


def test_a_story_of_a_page_binds_no_services():
    bound = "export default { providers: [{ provide: LogoService, useClass: LogoMock }] };\n"
    texts = {
        "logo.service.ts": "export abstract class LogoService {\n  abstract url(): string;\n}\n",
        "logo.mock.ts": (
            "import { LogoService } from './logo.service';\nexport class LogoMock extends LogoService {\n  url() { return ''; }\n}\n"
        ),
        "logo.component.ts": (
            "import { LogoService } from './logo.service';\nexport class Logo {\n  constructor(private logos: LogoService) {}\n"
            "  show() { return this.logos.url(); }\n}\n"
        ),
    }
    imports = "import { LogoService } from './logo.service';\nimport { LogoMock } from './logo.mock';\n"
    for file, target in (
        ("logo.stories.ts", "logo.service:LogoService.url"),
        ("logo.module.ts", "logo.mock:LogoMock.url"),
    ):
        _, edges = nodes_and_edges(texts | {file: imports + bound})
        targets = {edge["to"] for edge in edges if edge["from"] == "logo.component:Logo.show"}
        assert target in targets, file
        assert len(targets) == 1 + (file == "logo.module.ts")


def test_many_services_of_one_type_are_bounded(monkeypatch):
    monkeypatch.setattr(services, "_SERVICES_MAX", 50)
    classes = "".join(
        f"@Component class S{n} implements Sender {{ public void send() {{}} }}\n" for n in range(200)
    )
    text = (
        f"package shop;\nimport org.springframework.stereotype.*;\ninterface Sender {{ void send(); }}\n{classes}"
        "@Component class User { private Sender sender; void go() { sender.send(); } }\n"
    )
    _, edges = nodes_and_edges({"A.java": text})
    assert [edge["to"] for edge in edges if edge["type"] == "calls"] == ["A:Sender.send"]


def test_callees_of_a_route_reach_the_body_behind_an_interface(tmp_path):
    texts = {path.rpartition("/")[2]: text for path, text in texts_of("spring_services").items()}
    _, rows = ask(serve(tmp_path, texts), "callees", "GET /orders", depth=2)
    assert {row["node"]["id"] for row in rows} >= {"Contracts:OrderService.list", "Services:BaseOrders.list"}


def test_a_handler_without_a_name_has_its_uses_from_its_route():
    texts = {
        "app.js": (
            "const app = require('express')();\nconst { find, save, wrap } = require('./store');\n"
            "app.get('/x', (req, res) => { res.json(find()); });\n"
            "app.post('/y', wrap(async (req, res) => {\n  await save();\n  function inner() {\n    find();\n  }\n}));\n"
            "app.get('/z', wrap(find));\nfind();\n"
        ),
        "store.js": "exports.find = function () {};\nexports.save = function () {};\nexports.wrap = function (f) {};\n",
    }
    _, edges = nodes_and_edges(texts)
    lines = {f"{edge['from']} {edge['to']}" for edge in edges if edge["type"] in ("calls", "routes_to")}
    assert lines == {
        "app store:find",
        "app store:wrap",
        "app:<GET /x> store:find",
        "app:<POST /y> store:save",
        "app:<POST /y> store:wrap",
        "app:<GET /z> store:find",
        "app:inner store:find",
    }


def test_a_closure_in_a_file_of_drawn_routes_has_its_uses_from_its_route():
    php = (
        "<?php\nRoute::get('/a', function () {\n    return save();\n});\nRoute::match(['put'], '/b', fn () => save());\n"
        "Route::get('/c', [Orders::class, 'show']);\nsave();\nfunction save() {}\n"
    )
    ruby = (
        "def save\nend\n\nRails.application.routes.draw do\n  get '/a', to: ->(env) { save }\n  get '/b' => proc { save }\n"
        "  get '/c', to: 'orders#show'\n  save\nend\n"
    )
    for path, text, expected in (
        ("routes/web.php", php, ["<GET /a>", "<PUT /b>", ""]),
        ("config/routes.rb", ruby, ["<GET /a>", "<GET /b>", ""]),
    ):
        edges = nodes_and_edges({path: text})[1]
        sources = [edge["from"].partition(":")[2] for edge in edges if edge["to"].endswith(":save")]
        assert sources == expected, path


def test_a_mock_in_a_test_is_no_service_and_a_field_that_asks_by_name_is_one():
    texts = {
        "src/main/java/shop/Stock.java": (
            "package shop;\nimport org.springframework.stereotype.*;\ninterface Stock { int count(); }\n"
            '@Component("shelf") class Shelf implements Stock { public int count() { return 1; } }\n'
        ),
        "src/test/java/shop/StockTest.java": (
            "package shop;\nimport org.springframework.beans.factory.annotation.Autowired;\nclass StockTest {\n"
            '  private Stock mocked = mock(Stock.class);\n  @Autowired @Qualifier("shelf") private Stock real;\n'
            "  void first() { mocked.count(); }\n  void second() { real.count(); }\n}\n"
        ),
    }
    _, edges = nodes_and_edges(texts)
    reached = {edge["from"].rpartition(".")[2] for edge in edges if edge["to"].endswith(":Shelf.count")}
    assert reached == {"second"}


def test_one_of_several_classes_is_no_exact_target():
    text = (
        "package shop;\nimport org.springframework.stereotype.*;\ninterface Stock { default int count() { return 0; } }\n"
        "@Component class Shelf implements Stock { public int count() { return 1; } }\n@Component class Plain implements Stock { }\n"
        "@Component class User { private Stock stock; int go() { return stock.count(); } }\n"
    )
    _, edges = nodes_and_edges({"A.java": text})
    passed = [edge for edge in edges if "A:Shelf.count" in (edge["to"], *edge.get("candidates", ()))]
    assert passed
    assert all(edge["confidence"] != "exact" for edge in passed)


def test_types_of_parameters_are_compared_without_their_qualifiers():
    text = (
        "namespace Shop;\ninterface IRepo { void Save(Item item); void Save(int id); }\n"
        "class Repo : IRepo { public void Save(Shop.Item item) { } public void Save(int id) { } }\nclass Item { }\n"
        "class Setup { void Add(IServiceCollection services) { services.AddScoped<IRepo, Repo>(); } }\n"
        "class User { private readonly IRepo _repo; public User(IRepo repo) { _repo = repo; }\n"
        "  void Go() { _repo.Save(new Item()); } }\n"
    )
    _, edges = nodes_and_edges({"A.cs": text})
    assert "A:Repo.Save" in {edge["to"] for edge in edges if edge["from"] == "A:User.Go"}
