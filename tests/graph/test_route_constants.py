"""Paths of routes with constants of other files."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_roots import read_roots
from tests.graph.small_apps import requests_in
from tests.graph.small_graphs import facts_in
from tests.graph.test_routes import routes_in

FASTAPI = "from fastapi import APIRouter, FastAPI\napp = FastAPI()\n"
PYTHON = {
    "base.py": "ROOT = '/base'\nENV = os.environ['X']\n",
    "conf.py": (
        "from base import ENV, ROOT\nA = ROOT + '/a'\nB = '/b'\nB += '/c'\nC = f'{ENV}/c'\nif x:\n    D = '/d'\nelse:\n"
        "    D = '/e'\n\n\nclass Settings(BaseSettings):\n    API: str = '/v1'\n\n\nsettings = Settings()\n"
    ),
    "main.py": FASTAPI + "import conf\nfrom conf import A as PREFIX, settings\nr = APIRouter()\n"
    "@r.get('/x')\ndef f(): ...\napp.include_router(r, prefix=settings.API)\n"
    "@app.get(conf.A)\ndef g(): ...\n@app.get(f'{PREFIX}/y')\ndef h(): ...\n"
    "@app.get(conf.B)\ndef i(): ...\n@app.get(conf.C)\ndef j(): ...\n@app.get(conf.D)\ndef k(): ...\n",
}
SPRING = "import org.springframework.web.bind.annotation.*;\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param(
            {
                "routes/web.php": (
                    "<?php\nuse App\\Paths;\nconst ROOT = '/root';\nRoute::get(Paths::ORDERS . '/x', [A::class, 'f']);\nRoute::get(ROOT, [A::class, 'f']);\n"
                    "Route::prefix(Paths::ORDERS)->group(function () {\n    Route::get('/in', [A::class, 'f']);\n    Route::get(Paths::NONE, [A::class, 'f']);\n});\n"
                ),
                "app/Paths.php": "<?php\nnamespace App;\nclass Paths\n{\n    public const ORDERS = '/orders';\n}\n",
            },
            ["GET /orders/in -", "GET /orders/x -", "GET /root -", "GET ? - routes/web.php:8"],
            id="Laravel",
        ),
        pytest.param(
            {
                "config/routes.rb": (
                    "ROOT = '/r'\nRails.application.routes.draw do\n  get ROOT, to: 'a#b'\n  get \"#{ROOT}/x\", to: 'a#b'\n"
                    "  scope Paths::ORDERS do\n    get 'in', to: 'a#b'\n    get other, to: 'a#b'\n  end\nend\n"
                ),
                "lib/paths.rb": "module Paths\n  ORDERS = '/orders'\nend\n",
            },
            ["GET /orders/in -", "GET /r -", "GET /r/x -", "GET ? - config/routes.rb:7"],
            id="Rails",
        ),
        pytest.param(
            PYTHON,
            [
                "GET /base/a main:g",
                "GET /base/a/y main:h",
                "GET /v1/x main:f",
                "GET ? main:i main.py:13",
                "GET ? main:j main.py:15",
                "GET ? main:k main.py:17",
            ],
            id="Python: modules, settings, and what is computed",
        ),
        pytest.param(
            {
                "conf.py": "path = '/a'\nitem = '/b'\n",
                "main.py": FASTAPI
                + "from conf import *\ndef make(path):\n    @app.get(path)\n    def f(): ...\n"
                "def each(items):\n    for item in items:\n        app.add_api_route(item, show)\ndef show(): ...\n",
            },
            ["GET ? main:make.f main.py:5", "GET ? main:show main.py:9"],
            id="a parameter or variable is no constant",
        ),
        pytest.param(
            {
                "p.ts": "export const ROUTES = { orders: '/orders', sub: { x: 'x' } } as const;\n"
                "export enum Paths { Users = 'users' }\nexport const P = `/p`;\nexport default { z: '/z' };\n"
                "export let changed = '/c';\n",
                "a.ts": "import { Controller, Get, Module } from '@nestjs/common';\n"
                "import d, { ROUTES, Paths } from './p';\nimport * as p from './p';\n"
                "@Controller(ROUTES.orders)\nexport class A {\n  @Get(Paths.Users) u() {}\n  @Get(ROUTES.sub.x) x() {}\n"
                "  @Get(`${p.P}/q`) q() {}\n  @Get(d.z) z() {}\n  @Get(p.changed) c() {}\n}\n",
            },
            [
                "GET /orders/p/q a:A.q UNSERVED",
                "GET /orders/users a:A.u UNSERVED",
                "GET /orders/x a:A.x UNSERVED",
                "GET /orders/z a:A.z UNSERVED",
                "GET ? a:A.c UNSERVED a.ts:10",
            ],
            id="TypeScript: objects, enumerations, exports",
        ),
        pytest.param(
            {
                "p.js": "const A = '/a';\nmodule.exports = { A, B: '/b' };\n",
                "app.js": "const app = require('express')();\nconst p = require('./p');\nconst { B } = require('./p');\n"
                "app.get(p.A, f);\napp.post(B, f);\napp.put(p.C, f);\nfunction f() {}\n"
                "const e = require('./e');\nconst r = require('express').Router();\nr.get('/x', f);\napp.use(e.E, r);\n",
                "e.js": "exports.E = '/e';\n",
            },
            ["GET /a app:f", "POST /b app:f", "GET /e/x app:f", "PUT ? app:f app.js:6"],
            id="JavaScript: required files",
        ),
        pytest.param(
            {
                "p/P.java": 'package p;\npublic final class P {\n  public static final String A = "/a";\n'
                '  public static final String B = A + "/b";\n  interface I { String C = "/c"; }\n}\n',
                "q/Z.java": 'package q;\nclass Z { static final String D = "/d"; }\n',
                "q/Q.java": f"package q;\n{SPRING}import p.P;\nimport static p.P.B;\n@RestController\n"
                '@RequestMapping(P.A)\nclass Q {\n  @GetMapping(B) void b() {}\n  @GetMapping(P.I.C + "/x") void c() {}\n'
                "  @GetMapping(Z.D) void d() {}\n  @GetMapping(W.D) void e() {}\n}\n",
            },
            [
                "GET /a/a/b q/Q:Q.b",
                "GET /a/c/x q/Q:Q.c",
                "GET /a/d q/Q:Q.d",
                "GET ? q/Q:Q.e q/Q.java:11",
            ],
            id="Java: classes, static imports, the package",
        ),
        pytest.param(
            {
                "p/P.kt": 'package p\nconst val A = "/a"\nobject P { const val B = "/b" }\n'
                'class K { companion object { const val C = "/c" } }\n',
                "q/Q.kt": "package q\nimport org.springframework.web.bind.annotation.*\nimport p.A\nimport p.K\nimport p.P\n"
                "@RestController\n@RequestMapping(A)\nclass Q {\n  @GetMapping(P.B) fun b() {}\n  @GetMapping(K.C) fun c() {}\n}\n",
            },
            ["GET /a/b q/Q:Q.b", "GET /a/c q/Q:Q.c"],
            id="Kotlin: objects, companions, a package's constants",
        ),
        pytest.param(
            {
                "P.cs": 'namespace N { public static class P { public const string A = "/a"; public const string B = A + "/b"; } }\n',
                "Q.cs": "using Microsoft.AspNetCore.Mvc;\nnamespace N {\n[ApiController]\n[Route(P.A)]\n"
                "public class QController { [HttpGet(P.B)] public void X() {} }\n}\n",
            },
            ["GET /a/a/b Q:QController.X"],
            id="C#",
        ),
        pytest.param(
            {
                "k.go": 'package main\n\nconst K = "/k"\n',
                "main.go": 'package main\n\nimport "net/http"\n\nfunc main() {\n\thttp.HandleFunc(K+"/x", f)\n}\n\nfunc f() {}\n',
            },
            ["ANY /k/x main:f"],
            id="Go",
        ),
    ],
)
def test_a_constant_of_another_file_is_literal(texts, expected):
    assert routes_in(texts) == expected


def test_a_new_text_of_a_constant_resolves_the_files_that_use_it():
    facts = {path: facts_in(path, text) for path, text in PYTHON.items()}
    project = Project(LANGUAGES, read_roots(".", set(facts)))
    project.update(facts)
    new = facts_in("base.py", PYTHON["base.py"].replace("/base", "/other"))
    assert project.update({"base.py": new}) == {"base.py", "conf.py", "main.py"}
    same = facts_in("base.py", PYTHON["base.py"].replace("/base", "/other") + "\n# a remark\n")
    assert project.update({"base.py": same}) == {"base.py"}


def test_a_request_has_the_text_of_an_imported_constant():
    texts = PYTHON | {
        "test_x.py": "from fastapi.testclient import TestClient\nfrom conf import settings\nfrom main import app\n"
        "client = TestClient(app)\n\ndef test_x():\n    client.get(f'{settings.API}/x')\n"
    }
    assert requests_in(texts) == ["test_x:test_x GET /v1/x"]


def test_constants_that_name_one_another_are_bounded():
    circle = {
        "a.py": "from b import B\nA = B + '/a'\n",
        "b.py": "from a import A\nB = A + '/b'\n",
        "main.py": FASTAPI + "from a import A\n@app.get(A)\ndef f(): ...\n",
    }
    assert routes_in(circle) == ["GET ? main:f main.py:4"]
    double = "".join(f"A{n} = A{n + 1} + '{{}}' + A{n + 1}\n" for n in range(40))
    chain = {
        "a.py": f"from b import *\n{double}",
        "main.py": FASTAPI + "from a import A0\n@app.get(A0)\ndef f(): ...\n",
    }
    assert routes_in(chain) == ["GET ? main:f main.py:4"]
