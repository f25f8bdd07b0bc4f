"""Routes that loops over literal lists add, and mounts whose path is computed."""

from __future__ import annotations

import pytest

from cortex.graph.frameworks.join import join_routes
from cortex.graph.frameworks.reading import lists
from tests.graph.test_routes import nodes_and_edges, routes_in

EXPRESS = (
    "const express = require('express');\nconst orders = require('./orders');\nconst { h, g } = require('./h');\n"
    "const app = express();\n"
)
SCRIPTS = {
    "orders.js": "const router = require('express').Router();\nrouter.get('/o', h);\nfunction h() {}\nmodule.exports = router;\n",
    "h.js": "exports.h = (req, res) => {};\nexports.g = (req, res) => {};\n",
}
FASTAPI = {
    "routers/__init__.py": "",
    **{
        f"routers/{name}.py": f"from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/{name}')\ndef f(): ...\n"
        for name in ("a", "b")
    },
}
GO = (
    'package main\n\nimport "net/http"\n\ntype route struct {\n\tpath string\n\tfn   http.HandlerFunc\n}\n\n'
    "func list(w http.ResponseWriter, r *http.Request)   {}\nfunc create(w http.ResponseWriter, r *http.Request) {}\n\n"
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "[{ path: '/a', router: orders }].forEach(({ path, router }) => app.use(path, router));",
            ["GET /a/o"],
        ),
        (
            "const rows = [{ path: '/a', route: orders }, { path: '/b', route: orders }];\nrows.forEach((row) => { app.use(row.path, row.route); });",
            ["GET /a/o", "GET /b/o"],
        ),
        (
            "for (const [path, router] of [['/a', orders], ['/b', orders]]) { app.use(path, router); }",
            ["GET /a/o", "GET /b/o"],
        ),
        (
            "Object.entries({ '/a': orders, b: orders }).forEach(([path, r]) => app.use(`/e${path}`, r));",
            ["GET /e/a/o", "GET /eb/o"],
        ),
        (
            "const rows = new Map([['/a', orders]]);\nfor (const [path, router] of rows) app.use(path, router);",
            ["GET /a/o"],
        ),
        (
            "const few = [{ path: '/a', handler: h }];\nconst all = [...few, { path: '/b', handler: g }];\nall.map((row) => app.get('/api' + row.path, row.handler));",
            ["GET /api/a h:h", "GET /api/b h:g"],
        ),
        (
            "[['get', h], ['post', g]].forEach((row) => app[row[0]]('/v', row[1]));",
            ["GET /v h:h", "POST /v h:g"],
        ),
        (
            "[{ a: g, b: h }].forEach(({ a: b, b: a }) => { app.get('/a', a); app.get('/b', b); });",
            ["GET /a h:h", "GET /b h:g"],
        ),
        ("app.get(['/a', '/b'], h);", ["GET /a h:h", "GET /b h:h"]),
        ("app.use(['/a', '/b'], orders);", ["GET /a/o", "GET /b/o"]),
        ("for (const at in [h, g]) app.get(at, h);", ["GET ? h:h app.js:5"]),
        ("function add(rows) { rows.forEach((row) => app.get(row.path, h)); }", ["GET ? h:h app.js:5"]),
        (
            "const rows = ['/a'];\nrows.push(other);\nrows.forEach((row) => app.get(row, h));",
            ["GET /a h:h", "GET ? h:h app.js:7"],
        ),
        (
            "[...others, '/b'].forEach((row) => app.get('/a' + row, h));",
            ["GET /a/b h:h", "GET ? h:h app.js:5"],
        ),
        (
            "let rows = ['/a'];\nif (old) rows = ['/b'];\nrows.forEach((row) => app.get(row, h));",
            ["GET /b h:h", "GET ? h:h app.js:7"],
        ),
        (
            "const path = '/x';\n[{ path: '/a' }].forEach((row) => app.get(row.path, h));\napp.get(path, g);",
            ["GET /a h:h", "GET /x h:g"],
        ),
        (
            "const path = '/x';\n['/a'].forEach((path) => app.get(path, h));\napp.get(path, g);",
            ["GET /a h:h", "GET /x h:g"],
        ),
        (
            "['/a'].forEach((path) => { const add = (path) => app.get(path, h); add('/x'); });",
            ["GET ? h:h app.js:5"],
        ),
        ("const path = '/x';\nfunction add(path) { app.get(path, h); }", ["GET ? h:h app.js:6"]),
        ("[1, 2].forEach((version) => app.get(`/v${version}`, h));", ["GET /v1 h:h", "GET /v2 h:h"]),
        ("[f(1), f(2)].forEach((path) => app.get(path, h));", ["GET ? h:h app.js:5"]),
    ],
)
def test_a_script_declares_a_route_for_each_element(code, expected):
    lines = routes_in(SCRIPTS | {"app.js": f"{EXPRESS}{code}\napp.listen(1);\n"})
    assert [line.removesuffix(" orders:h") for line in lines if "UNSERVED" not in line] == expected


@pytest.mark.parametrize(
    "loop",
    [
        "for prefix, router in [('/x', a.router), ('/y', b.router)]:\n    app.include_router(router, prefix=prefix)\n",
        "ROWS = {'/x': a.router, '/y': b.router}\nfor prefix, router in ROWS.items():\n    app.include_router(router, prefix=prefix)\n",
        "for row in ({'at': '/x', 'of': a}, {'at': '/y', 'of': b}):\n    app.include_router(row['of'].router, prefix=row['at'])\n",
        "for row in [Row(at='/x', of=a), Row(at='/y', of=b)]:\n    app.include_router(row.of.router, prefix=f'{row.at}')\n",
    ],
)
def test_a_program_in_python_mounts_each_element(loop):
    main = f"from fastapi import FastAPI\nfrom routers import a, b\napp = FastAPI()\n{loop}"
    assert routes_in(FASTAPI | {"main.py": main}) == ["GET /x/a routers/a:f", "GET /y/b routers/b:f"]


@pytest.mark.parametrize(
    "rows",
    [
        "ROWS = [a.router]\nROWS.append(b.router)\nfor row in ROWS:\n",
        "ROWS = [a.router]\nROWS += [b.router]\nfor row in ROWS:\n",
        "ROWS = {'x': a.router}\nROWS['y'] = b.router\nfor _, row in ROWS.items():\n",
    ],
)
def test_a_list_that_grows_has_unknown_elements(rows):
    main = f"from fastapi import FastAPI\nfrom routers import a, b\napp = FastAPI()\n{rows}    app.include_router(row)\n"
    lines = routes_in(FASTAPI | {"main.py": main})
    assert lines == ["GET /a routers/a:f", "GET /b routers/b:f UNSERVED", "ANY /… - main.py:7"]


def test_each_round_of_a_loop_makes_a_router_of_its_own():
    loop = "for at in ('/x', '/y'):\n    own = APIRouter(prefix=at)\n    own.add_api_route('/h', h)\n    app.include_router(own)\n"
    main = f"from fastapi import APIRouter, FastAPI\napp = FastAPI()\ndef h(): ...\n{loop}"
    assert routes_in({"main.py": main}) == ["GET /x/h main:h", "GET /y/h main:h"]


@pytest.mark.parametrize(
    "loop",
    [
        '\trows := []route{{"/a", list}, {path: "/b", fn: create}}\n\tfor _, row := range rows {\n\t\tmux.HandleFunc(row.path, row.fn)\n\t}\n',
        '\tfor path, fn := range map[string]http.HandlerFunc{"/a": list, "/b": create} {\n\t\tmux.HandleFunc(path, fn)\n\t}\n',
        '\tfor _, row := range []struct{ path string; fn http.HandlerFunc }{{"/a", list}, {"/b", create}} {\n\t\tmux.HandleFunc(row.path, row.fn)\n\t}\n',
    ],
)
def test_a_program_in_go_declares_a_route_for_each_element(loop):
    main = f"{GO}func main() {{\n\tmux := http.NewServeMux()\n{loop}}}\n"
    assert routes_in({"main.go": main}) == ["ANY /a main:list", "ANY /b main:create"]


def test_loops_in_loops_are_bounded(monkeypatch):
    monkeypatch.setattr(lists, "REPEATED_BYTES_MAX", 20_000)
    rows = ", ".join(f"'/{number}'" for number in range(400))
    loops = "".join(f"rows.forEach((x{depth}) => {{\n" for depth in range(4))
    route = "app.get('/' + x3, h);"
    code = f"{EXPRESS}const rows = [{rows}];\n{loops}{route}\n{'});' * 4}\n"
    assert 0 < len(routes_in({"app.js": code})) <= 20_000 // len(route)


@pytest.mark.parametrize(
    ("mount", "expected"),
    [
        ("app.use(config.prefix(), orders)", "GET …/o"),
        ("app.use(config.get('api.prefix'), orders)", "GET …/o"),
        ("app.use('/api/' + config.version, orders)", "GET …/o"),
        ("app.use(`${config.base}/v1`, orders)", "GET …/v1/o"),
        ("app.use(process.env.BASE_URL, orders)", "GET …/o"),
        ("app.use(apiPrefix, orders)", "GET …/o"),
        ("app.use(/^\\/api/, orders)", "GET …/o"),
        ("app.use(h, orders)", "GET /o"),
        ("app.use(checkPath, orders)", "GET /o"),
        ("app.use(express.json(), orders)", "GET /o"),
        ("app.use(passport.authenticate('jwt'), orders)", "GET /o"),
    ],
)
def test_a_route_below_a_computed_mount_says_so(mount, expected):
    texts = {"app.js": f"{EXPRESS}{mount};\napp.listen(1);\nfunction checkPath(req, res, next) {{}}\n"}
    nodes, _ = nodes_and_edges(SCRIPTS | texts)
    assert [route.name for route in join_routes(nodes)] == [expected]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            {
                "a.py": "from flask import Blueprint, Flask\nimport conf\nbp = Blueprint('b', __name__)\n@bp.get('/x')\ndef f(): ...\n"
                "app = Flask(__name__)\napp.register_blueprint(bp, url_prefix=conf.prefix() + '/v1')\n"
            },
            "GET …/v1/x",
        ),
        (
            {
                "O.java": "import org.springframework.web.bind.annotation.*;\n@RestController\n"
                '@RequestMapping("${api.base}/orders")\nclass O {\n  @GetMapping("/x") String x() { return ""; }\n}\n'
            },
            "GET …/orders/x",
        ),
        (
            {
                "main.go": 'package main\n\nimport "github.com/go-chi/chi/v5"\n\nfunc main() {\n\tr := chi.NewRouter()\n'
                '\tr.Route(prefix(), func(r chi.Router) {\n\t\tr.Get("/x", list)\n\t})\n}\nfunc list() {}\nfunc prefix() string { return "" }\n'
            },
            "GET …/x",
        ),
        ({"a.py": "from fastapi import APIRouter\nr = APIRouter()\n@r.get('/x')\ndef f(): ...\n"}, "GET …/x"),
    ],
)
def test_every_framework_marks_a_route_whose_path_has_an_unknown_begin(texts, expected):
    nodes, _ = nodes_and_edges(texts)
    assert [route.name for route in join_routes(nodes)] == [expected]
