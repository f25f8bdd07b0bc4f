"""Routes of frameworks: fragments of files, their full paths, and questions about them.

The applications of tests/golden/routes were started once, as far as the frameworks run in Python:
their own lists of routes are the expected ones (without HEAD, OPTIONS and the framework's pages).
"""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest

from cortex.graph.frameworks import match
from cortex.graph.frameworks.join import find_routes, join_routes
from cortex.graph.frameworks.reading.declarations import PATHS_MAX
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.changes import Change
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_bodies import Bodies, Tools
from cortex.indexer.store.graph_roots import read_roots
from tests.graph.small_graphs import facts_in, project_of

GOLDEN = Path(__file__).parents[1] / "golden" / "routes"
APPLICATIONS = sorted(path.name for path in GOLDEN.iterdir())
FLASK = {
    "app.py": "from flask import Flask\nfrom orders import bp\napp = Flask(__name__)\napp.register_blueprint(bp, url_prefix='/api')\n",
    "orders.py": (
        "from flask import Blueprint\nbp = Blueprint('orders', __name__)\n\n\n@bp.post('/orders')\n"
        "def create():\n    return store()\n\n\n@bp.get('/orders/<int:number>')\ndef show(number):\n    return ''\n\n\n"
        "def store():\n    return ''\n"
    ),
}


def nodes_and_edges(texts, root="."):
    facts = {path: packed for path, text in texts.items() if (packed := facts_in(path, text)) is not None}
    project = Project(LANGUAGES, read_roots(str(root), set(facts)))
    project.update(facts)
    bodies = Bodies(Tools(project), None, {})
    parts = [orjson.loads(bodies._resolve(path)) for path in facts]
    return [node for part in parts for node in part[0]], [edge for part in parts for edge in part[1]]


def routes_in(texts, root="."):
    """A line for each route: method, path, handlers, and what is unknown about it."""
    nodes, edges = nodes_and_edges(texts, root)
    handlers, ids = {}, {node["id"] for node in nodes}
    for edge in edges:
        if edge["type"] == "routes_to":
            handlers.setdefault(edge["from"], []).append(edge["to"])
    return [
        " ".join(
            filter(
                None,
                (
                    route.method,
                    route.path,
                    ",".join(
                        override if (override := route.override_of(handler)) in ids else handler
                        for handler in handlers.get(route.id, ["-"])
                    ),
                    "" if route.served else "UNSERVED",
                    route.computed,
                ),
            )
        )
        for route in join_routes(nodes)
    ]


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_has_the_routes_that_it_lists_itself(name):
    folder = GOLDEN / name
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "ROUTES"]
    texts = {path.relative_to(folder).as_posix(): path.read_text() for path in files}
    expected = [" ".join(line.split()) for line in (folder / "ROUTES").read_text().splitlines()]
    assert routes_in(texts, folder) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            {
                "a.py": "from fastapi import FastAPI\nimport conf\napp = FastAPI()\n@app.get(conf.PATH)\ndef f(): ...\n"
            },
            ["GET ? a:f a.py:4"],
            id="a computed path",
        ),
        pytest.param(
            {
                "a.py": "from fastapi import APIRouter, FastAPI\nimport conf\napp = FastAPI()\nr = APIRouter()\n"
                "@r.get('/x')\ndef f(): ...\napp.include_router(r, prefix=conf.PREFIX)\n"
            },
            ["GET /x a:f a.py:7"],
            id="a computed prefix",
        ),
        pytest.param(
            {
                "a.py": "from flask import Flask\n\ndef test(client):\n    client.get('/x', headers)\n    client.post('/y', f)\n"
            },
            [],
            id="calls of a test client",
        ),
        pytest.param(
            {"a.js": "const axios = require('axios');\naxios.get('/x', f);\nfunction f() {}\n"},
            [],
            id="a file without a framework",
        ),
        pytest.param(
            {
                "config/routes.rb": 'Rails.application.routes.draw do\n  scope PREFIX do\n    get "/x", to: "a#b"\n'
                '  end\n  get Paths.y, to: "a#b"\nend\n'
            },
            ["GET /x - config/routes.rb:3", "GET ? - config/routes.rb:5"],
            id="Rails: computed paths",
        ),
        pytest.param(
            {
                "routes/web.php": "<?php\nRoute::prefix(config('x'))->group(function () {\n    Route::get('/x', fn () => 1);\n});\n"
            },
            ["GET ? - routes/web.php:3"],
            id="Laravel: a computed prefix",
        ),
        pytest.param(
            {
                "A.java": "import org.springframework.web.bind.annotation.*;\n@RestController\n@RequestMapping(Paths.A)\n"
                'class A {\n  @GetMapping("/x")\n  void x() {}\n}\n'
            },
            ["GET /x A:A.x A.java:2"],
            id="Spring: a computed prefix",
        ),
        pytest.param(
            {"pages/a.tsx": "export default function A() { return null }\n"},
            [],
            id="pages outside of an application",
        ),
        pytest.param(
            {
                "a.py": "from flask import Blueprint\na = Blueprint('a', 'a')\na.register_blueprint(a)\n@a.get('/x')\ndef f(): ...\n"
            },
            ["GET /x a:f UNSERVED"],
            id="a router that mounts itself",
        ),
        pytest.param(
            {
                "a.py": "from flask import Blueprint\na = Blueprint('a', 'a')\nb = Blueprint('b', 'b')\n"
                "a.register_blueprint(b)\nb.register_blueprint(a)\n@a.get('/x')\ndef f(): ...\n"
            },
            [],
            id="a circle of mounts",
        ),
    ],
)
def test_a_path_is_never_guessed(texts, expected):
    assert routes_in(texts) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            {
                "util.py": "def urls_of(model):\n    return [path(c['path'], c['view']) for c in registry[model]]\n",
                "proj/urls.py": "from django.urls import include, path\nfrom util import urls_of\n"
                "urlpatterns = [\n    path('sites/', include(urls_of('site'))),\n    path('x/', include(MODULES[0])),\n"
                "    path('auth/', include('django.contrib.auth.urls')),\n    path('api/', include(('api.urls', 'api'))),\n]\n",
                "api/urls.py": "from django.urls import path\nurlpatterns = [path('a', f)]\n",
            },
            ["ANY /api/a -", "ANY /sites/… - proj/urls.py:4", "ANY /x/… - proj/urls.py:5"],
            id="Django",
        ),
        pytest.param(
            {
                "main.py": "from fastapi import APIRouter, FastAPI\nfrom lib import users\napp = FastAPI()\n"
                "for r in ROUTERS:\n    app.include_router(r, prefix='/r')\napp.include_router(users.make(), prefix='/u')\n"
                "app.include_router(APIRouter(), prefix='/empty')\n"
            },
            ["ANY /r/… - main.py:5", "ANY /u/… - main.py:6"],
            id="FastAPI",
        ),
        pytest.param(
            {
                "main.py": "from flask import Flask\napp = Flask('a')\napp.register_blueprint(plugins[0], url_prefix='/b')\n"
            },
            ["ANY /b/… - main.py:3"],
            id="Flask",
        ),
        pytest.param(
            {
                "app.js": "const app = require('express')();\napp.use('/x', require(name));\napp.use('/l', limiter);\n"
                "files.forEach((f) => app.use('/z', require(`./r/${f}`)));\n"
                "for (const r of entries) { app.use(r.path, r.route); }\n"
            },
            ["ANY /x/… - app.js:2", "ANY /z/… - app.js:4", "ANY /… - app.js:5"],
            id="Express",
        ),
        pytest.param(
            {
                "main.go": 'package main\n\nimport "github.com/go-chi/chi"\n\nfunc main() {\n\tr := chi.NewRouter()\n'
                '\tr.Mount("/p", plugins["a"])\n}\n'
            },
            ["ANY /p/… - main.go:7"],
            id="chi",
        ),
        pytest.param(
            {
                "config/routes.rb": "Rails.application.routes.draw do\n  mount Jobs::Web => '/jobs'\n  namespace :admin do\n"
                "    mount Mail::Engine, at: 'mail'\n  end\n  mount Blog::Engine, at: Blog.path\nend\n"
            },
            [
                "ANY /admin/mail/… - config/routes.rb:4",
                "ANY /jobs/… - config/routes.rb:2",
                "ANY /… - config/routes.rb:6",
            ],
            id="Rails",
        ),
    ],
)
def test_a_mount_whose_routes_are_unknown_is_announced(texts, expected):
    assert routes_in(texts) == expected
    routes = join_routes(nodes_and_edges(texts)[0])
    assert not find_routes([route for route in routes if route.is_open], "GET", "/x")


def test_a_file_with_a_cast_to_const_has_facts():
    assert facts_in("a.ts", "export const a = <const>['x'];\n") is not None


def test_deep_nesting_and_many_routes_are_bounded():
    deep = "from flask import Flask\napp = Flask('a')\nx = " + "f(" * 400 + ")" * 400 + "\n"
    assert routes_in({"a.py": deep}) == []
    many = "from flask import Flask\napp = Flask('a')\n" + "".join(
        f"app.add_url_rule('/{n}', view_func=f)\n" for n in range(3_000)
    )
    assert len(routes_in({"a.py": many})) == 3_000


def test_blocks_and_lists_that_repeat_one_another_are_bounded():
    twice = "concern :a do\n" + "  concerns :a\n" * 8 + "  get :x, to: 'a#b'\nend\nconcerns :a\n"
    routes = routes_in({"config/routes.rb": f"Rails.application.routes.draw do\n{twice}end\n"})
    assert 0 < len(routes) <= 20_000
    lists = "".join(f"const a{n} = [...a{n + 1}, ...a{n + 1}];\n" for n in range(40))
    text = f"import {{ Module }} from '@nestjs/common';\n{lists}@Module({{ imports: a0 }})\nexport class A {{}}\n"
    assert routes_in({"a.ts": text}) == []


def test_a_new_prefix_changes_the_nodes_of_one_file():
    before, _ = nodes_and_edges(FLASK)
    after, _ = nodes_and_edges(FLASK | {"app.py": FLASK["app.py"].replace("/api", "/v2")})
    changed = {old["file"] for old, new in zip(before, after, strict=True) if old != new}
    assert changed == {"app.py"}
    assert {route.name for route in join_routes(after)} == {"POST /v2/orders", "GET /v2/orders/<int:number>"}


@pytest.mark.parametrize("seed", range(6))
def test_an_edit_of_any_prefix_changes_the_nodes_of_its_file_alone(seed):
    """Routers in files that include one another at random, up to the root."""
    draw = random.Random(seed)
    texts = {}
    for number in range(8):
        included = [other for other in range(number + 1, 8) if draw.random() < 0.4]
        head = "from fastapi import APIRouter, FastAPI\n" + "".join(
            f"import r{other}\n" for other in included
        )
        texts[f"r{number}.py"] = (
            f"{head}router = {'APIRouter' if number else 'FastAPI'}()\n"
            + "".join(f"router.include_router(r{other}.router, prefix='/p{other}')\n" for other in included)
            + f"@router.get('/{number}')\ndef show(): ...\n"
        )
    before, _ = nodes_and_edges(texts)
    for path, text in texts.items():
        if "prefix=" in text:
            after, _ = nodes_and_edges(texts | {path: text.replace("prefix='/p", "prefix='/q")})
            changed = {old["file"] for old, new in zip(before, after, strict=True) if old != new}
            assert changed == {path}


def test_many_routes_and_requests_of_one_text_are_bounded(monkeypatch):
    monkeypatch.setattr(match, "_STEPS_MAX", 50_000)
    routes = [
        {
            "id": f"r{n}",
            "kind": "route",
            "file": "a.py",
            "start_line": n,
            "router": "app",
            "method": "GET",
            "path": f"/{{p{n}}}/(a+)+/list",
        }
        for n in range(20_000)
    ]
    app = {"id": "app", "kind": "router", "file": "a.py", "start_line": 1, "router": "app", "app": True}
    requests = [
        {
            "id": f"q{n}",
            "kind": "request",
            "file": "b.ts",
            "start_line": n,
            "method": "GET",
            "path": f"/{n}/{'a' * 40}/list",
        }
        for n in range(300)
    ]
    assert len(join_routes([app, *routes])) == 20_000
    assert match.match_requests([app, *routes, *requests]) == {}


def test_routers_in_an_exported_object_have_the_paths_of_their_mounts():
    """`module.exports = { api: router }`, also of another module's router and exported again."""
    nodes, _ = nodes_and_edges(
        {
            "app.js": "const app = require('express')();\nconst routes = require('./routes');\napp.use('/api', routes.api);\n"
            "app.use('/', routes.pages);\napp.use('/u', routes.users);\n",
            "routes/index.js": "module.exports = require('./routes');\n",
            "routes/routes.js": "const { Router } = require('express');\nconst user = require('./user');\n"
            "const apiRouter = Router();\napiRouter.get('/health', check);\nconst pageRouter = Router();\n"
            "pageRouter.get('/home', home);\n"
            "module.exports = { api: apiRouter, 'pages': pageRouter, users: user, limit: 3, f() {}, ...rest };\n",
            "routes/user.js": "const router = require('express').Router();\nrouter.get('/me', me);\nmodule.exports = router;\n",
        }
    )
    assert sorted(route.name for route in join_routes(nodes)) == ["GET /api/health", "GET /home", "GET /u/me"]


def test_a_router_module_moves_the_routes_of_its_modules():
    texts = {
        "src/main.ts": (
            "import { NestFactory } from '@nestjs/core';\nimport { AppModule } from './app.module';\n"
            "async function main() {\n  const app = await NestFactory.create(AppModule);\n  await app.listen(1);\n}\n"
        ),
        "src/app.module.ts": (
            "import { Controller, Get, Module } from '@nestjs/common';\nimport { RouterModule } from '@nestjs/core';\n"
            "import { UsersModule } from './users.module';\n@Controller('deep')\nclass Deep {\n  @Get() list() {}\n}\n"
            "@Module({ controllers: [Deep] })\nexport class DeepModule {}\n"
            "@Module({ imports: [UsersModule, DeepModule, RouterModule.register([\n"
            "  { path: 'admin', module: UsersModule, children: [{ path: 'in', module: DeepModule }] }])] })\nexport class AppModule {}\n"
        ),
        "src/users.module.ts": (
            "import { Controller, Get, Module } from '@nestjs/common';\n@Controller('users')\nclass Users {\n  @Get(':id') show() {}\n}\n"
            "@Module({ controllers: [Users] })\nexport class UsersModule {}\n"
        ),
    }
    assert routes_in(texts) == [
        "GET /admin/in/deep src/app.module:Deep.list",
        "GET /admin/users/:id src/users.module:Users.show",
    ]


@pytest.mark.parametrize("prefix", ["'api'", "config.get('prefix')"])
def test_paths_that_a_global_prefix_leaves_out_lack_it(prefix):
    controller = (
        "import { Controller, Get, Module, Post } from '@nestjs/common';\n@Controller('pets')\nexport class Pets {\n"
        "  @Get('health') a() {}\n  @Post('health') b() {}\n  @Get('files/:name') c() {}\n  @Get('healthy') d() {}\n}\n"
        "@Module({ controllers: [Pets] })\nexport class AppModule {}\n"
    )
    main = (
        "import { RequestMethod, VersioningType } from '@nestjs/common';\nimport { NestFactory } from '@nestjs/core';\n"
        "import { AppModule } from './pets';\nasync function start() {\n  const app = await NestFactory.create(AppModule);\n"
        f"  app.setGlobalPrefix({prefix}, {{ exclude: [{{ path: 'pets/health', method: RequestMethod.GET }}, 'pets/files/(.*)'] }});\n"
        "  app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });\n  await app.listen(1);\n}\n"
    )
    nodes, _ = nodes_and_edges({"pets.ts": controller, "main.ts": main})
    begin = "/api" if prefix == "'api'" else "…"
    assert {route.name for route in join_routes(nodes)} == {
        "GET /v1/pets/files/:name",
        "GET /v1/pets/health",
        f"GET {begin}/v1/pets/healthy",
        f"POST {begin}/v1/pets/health",
    }


def test_a_handler_depends_on_the_functions_of_its_router():
    text = (
        "from fastapi import APIRouter, Depends\ndef auth(): ...\nrouter = APIRouter(dependencies=[Depends(auth)])\n"
        "@router.get('/x')\ndef show(): ...\n"
    )
    _, edges = nodes_and_edges({"app.py": text})
    assert ("app:show", "app:auth") in {(edge["from"], edge["to"]) for edge in edges}


def test_a_single_resource_with_a_plural_name_has_the_controller_of_this_name():
    texts = {
        "config/routes.rb": "Rails.application.routes.draw do\n  resource :imports, only: :new\n  resource :status, only: :show\nend\n",
        "app/controllers/imports_controller.rb": "class ImportsController\n  def new\n  end\nend\n",
        "app/controllers/statuses_controller.rb": "class StatusesController\n  def show\n  end\nend\n",
    }
    assert routes_in(texts) == [
        "GET /imports/new app/controllers/imports_controller:ImportsController.new",
        "GET /status app/controllers/statuses_controller:StatusesController.show",
    ]


def test_mounts_of_versions_have_one_order():
    methods = "".join(f"  @Version('{n}') @Get('/{n}') f{n}() {{}}\n" for n in range(1, 8))
    text = f"import {{ Controller, Get, Version }} from '@nestjs/common';\n@Controller('x')\nexport class A {{\n{methods}}}\n"
    nodes, _ = nodes_and_edges({"a.ts": text})
    versions = [node["version"] for node in nodes if "version" in node]
    assert versions == ["", *"1234567"]


def test_a_change_of_a_global_prefix_changes_the_nodes_of_one_file():
    folder = GOLDEN / "nest"
    texts = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.ts")}
    before, _ = nodes_and_edges(texts)
    main = texts["src/main.ts"].replace("'api'", "'rest'")
    after, _ = nodes_and_edges(texts | {"src/main.ts": main})
    changed = {old["file"] for old, new in zip(before, after, strict=True) if old != new}
    assert changed == {"src/main.ts"}
    assert {route.path.split("/")[1] for route in join_routes(after) if not route.computed} == {
        "rest",
        "lost",
    }


def test_decorators_of_an_unknown_object_are_no_routes_if_the_file_imports_no_framework():
    text = "from things import mocks\n\n\n@mocks.get('/orders')\ndef create():\n    return ''\n"
    assert routes_in({"app.py": text}) == []
    assert routes_in({**FLASK, "more.py": text.replace("things import mocks", "orders import bp as mocks")})[
        -2:
    ] == [
        "POST /api/orders orders:create",
        "GET /api/orders/<int:number> orders:show",
    ]


def test_a_change_of_a_class_of_routers_reads_the_files_with_its_routers_again():
    texts = {
        "routers.py": (
            "from rest_framework.routers import SimpleRouter\n\n\nclass Bulk(SimpleRouter):\n    def __init__(self):\n"
            "        self.routes[0].mapping.update({'put': 'all'})\n"
        ),
        "urls.py": "from routers import Bulk\nfrom views import Orders\nrouter = Bulk()\nrouter.register('x', Orders)\n",
    }
    facts = {path: facts_in(path, text) for path, text in texts.items()}
    project = Project(LANGUAGES, read_roots(".", set(facts)))
    project.update(facts)
    changes = {"routers.py": facts_in("routers.py", texts["routers.py"].replace("all", "every"))}
    change = Change(project, changes)
    project.update(changes)
    assert change.affected() == {"routers.py", "urls.py"}


def test_loops_inside_of_loops_are_read_for_a_bounded_number_of_rounds():
    names = ", ".join(f"'/{number}'" for number in range(100))
    loops = "\n".join(f"{'    ' * depth}for a{depth} in ({names}):" for depth in range(6))
    text = f"from fastapi import FastAPI\napp = FastAPI()\n{loops}\n{'    ' * 6}app.include_router(a5, prefix=a0)\n"
    assert len(project_of({"app.py": text}).index("app.py").facts.fragments) <= 301


def test_a_route_has_a_bounded_number_of_paths():
    paths = ",\n".join(f"'/{number}'" for number in range(5_000))
    text = f"from flask_restful import Api\napi = Api()\napi.add_resource(Orders, {paths})\n"
    assert len(routes_in({"app.py": text})) == PATHS_MAX - 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "const app = new Hono();\nconst own = new Hono().basePath('/v1');\nown.get('/x', h);\napp.route('/api', own);\n",
            ["GET /api/v1/x app:h"],
        ),
        (
            "const app = new Hono();\nconst own = app.basePath('/v1');\nown.get('/x', h);\napp.get('/y', h);\n",
            ["GET /v1/x app:h", "GET /y app:h"],
        ),
        (
            "import own from './own';\nconst app = new Hono().route('/own', own).get('/c', h);\nexport default app;\n",
            ["GET /c app:h", "GET /own/x own:h"],
        ),
    ],
)
def test_hono_has_paths_of_parts(code, expected):
    head = "import { Hono } from 'hono';\nfunction h(context) {}\n"
    exported = f"{head}export default new Hono().get('/x', h);\n" if "./own" in code else ""
    assert routes_in({"app.ts": f"{head}{code}", "own.ts": exported}) == expected


def test_koa_sets_the_prefix_of_a_router_later():
    text = (
        "const Router = require('@koa/router');\nconst Koa = require('koa');\nconst app = new Koa();\n"
        "const own = new Router();\nfunction h(context) {}\nown.prefix('/v1');\nown.get('/x', h);\napp.use(own.routes());\n"
    )
    assert routes_in({"app.js": text}) == ["GET /v1/x app:h"]
