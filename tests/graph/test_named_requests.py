"""Requests that name their route: by its name, its controller's action, its procedure."""

from __future__ import annotations

import pytest

from cortex.terms.kinds import ROUTE_KINDS
from tests.graph.small_apps import requests_in
from tests.graph.test_routes import GOLDEN, nodes_and_edges

NAMES_OF_FLASK = {
    "shop/__init__.py": (
        "from flask import Blueprint, Flask\nfrom shop.views import List\nbp = Blueprint('orders', __name__)\nadmin = Blueprint('admin', __name__)\n\n\n"
        "@bp.get('/')\ndef index(): ...\n\n\n@bp.route('/<int:n>', endpoint='one')\ndef show(n): ...\n\n\n@admin.get('/x')\ndef stats(): ...\n\n\n"
        "bp.register_blueprint(admin, url_prefix='/admin')\n\n\ndef make():\n    app = Flask('a')\n    app.register_blueprint(bp, url_prefix='/orders')\n"
        "    app.add_url_rule('/list', view_func=List.as_view('listing'))\n\n    @app.get('/ping')\n    def ping(): ...\n\n    return app\n"
    ),
    "shop/views.py": "from flask.views import MethodView\n\n\nclass List(MethodView):\n    def get(self): ...\n",
}
NAMES_OF_FASTAPI = {
    "app/main.py": (
        "from fastapi import APIRouter, FastAPI\nfrom starlette.applications import Starlette\nfrom starlette.routing import Route\n"
        "app = FastAPI()\nusers = APIRouter(prefix='/users')\n\n\n@users.get('/{id}')\ndef show(id): ...\n\n\n@users.post('/', name='make_user')\ndef create(): ...\n\n\n"
        "def home(request): ...\n\n\napp.include_router(users)\nsub = Starlette(routes=[Route('/home', home), Route('/x', home, name='other')])\n"
        "app.mount('/sub', sub, name='sub')\n"
    ),
}


@pytest.mark.parametrize(
    ("app", "calls", "expected"),
    [
        pytest.param(
            NAMES_OF_FLASK,
            [
                "client.get(url_for('orders.index'))",
                "client.get(flask.url_for('orders.one', n=1))",
                "client.get(url_for('orders.admin.stats'))",
                "client.get(url_for('listing'))",
                "client.get(url_for('ping', _external=True))",
                "client.post(url_for('ping'))",
                "client.get(url_for('index'))",
                "client.get(url_for(name))",
            ],
            ["GET /orders/", "GET /orders/<int:n>", "GET /orders/admin/x", "GET /list", "GET /ping"],
            id="Flask",
        ),
        pytest.param(
            NAMES_OF_FASTAPI,
            [
                "client.get(app.url_path_for('show', id=1))",
                "client.post(client.app.url_path_for('make_user'))",
                "client.get(app.url_path_for('sub:home'))",
                "client.get(app.url_path_for('sub:other'))",
                "client.get(app.url_path_for('home'))",
                "client.post(app.url_path_for('create'))",
            ],
            ["GET /users/{id}", "POST /users/", "GET /sub/home", "GET /sub/x"],
            id="FastAPI and Starlette",
        ),
    ],
)
def test_a_test_calls_a_route_by_its_name(app, calls, expected):
    body = "".join(f"    {call}\n" for call in calls)
    text = f"import flask\nfrom flask import url_for\n\n\ndef test_all(client, app):\n{body}"
    lines = requests_in(app | {"tests/test_all.py": text})
    assert [line.partition(" ")[2] for line in lines] == expected


def test_tests_of_a_ruby_library_are_no_requests_of_rails():
    gem = "describe Client do\n  it 'gets' do\n    get '/orders'\n  end\nend\n"
    for path, text, has in (
        ("spec/client_spec.rb", gem, False),
        ("spec/client_spec.rb", f"require 'rails_helper'\n{gem}", True),
        ("spec/requests/orders_spec.rb", gem, True),
        ("test/server.rb", "require 'net/http'\nhttp.Handle('/orders', f)\n", False),
    ):
        nodes, _ = nodes_and_edges({path: text})
        assert bool([node for node in nodes if node["kind"] in ROUTE_KINDS]) is has, path


def test_a_test_of_a_controller_names_one_route_by_its_class_file_and_parameters():
    routes = (
        "Rails.application.routes.draw do\n  resources :events\n  resources :agents do\n    resources :events, only: :index\n  end\n"
        "  namespace :admin do\n    resources :events, only: :index\n  end\n  get 'first(/:page(/:size))', to: 'pages#show'\n  get 'second', to: 'pages#show'\nend\n"
    )
    calls = {
        "spec/controllers/events_controller_spec.rb": (
            "describe EventsController do\n  get :index\n  get :index, params: { agent_id: 1, 'page' => 2 }\n  get :index, agent_id: 1\n"
            "  get :index, { :page => 1 }\n  get :index, params: options\n  get :show, params: {}\nend\n"
        ),
        "spec/controllers/admin/events_controller_spec.rb": "describe EventsController do\n  get :index\nend\n",
        "spec/controllers/pages_controller_spec.rb": "require 'rails_helper'\ndescribe described do\n  get :show\nend\n",
        "spec/controllers/agents_controller_spec.rb": (
            "describe AgentsController do\nend\ndescribe EventsController do\n  get :index\nend\n"
        ),
    }
    assert requests_in({"config/routes.rb": routes, **calls}) == [
        "spec/controllers/events_controller_spec GET /events",
        "spec/controllers/events_controller_spec GET /agents/:agent_id/events",
        "spec/controllers/events_controller_spec GET /agents/:agent_id/events",
        "spec/controllers/events_controller_spec GET /events",
        "spec/controllers/events_controller_spec GET /agents/:agent_id/events | GET /events ?",
        "spec/controllers/admin/events_controller_spec GET /admin/events",
        "spec/controllers/pages_controller_spec GET /first(/:page(/:size)) | GET /second ?",
        "spec/controllers/agents_controller_spec GET /agents",
    ]


TRPC = {
    path.relative_to(GOLDEN / "trpc").as_posix(): path.read_text() for path in (GOLDEN / "trpc").rglob("*.ts")
}


def test_a_client_calls_procedures_by_their_names():
    texts = {
        "web/trpc.ts": "import { createTRPCReact } from '@trpc/react-query';\nimport type { AppRouter } from '../server/app';\nexport const trpc = createTRPCReact<AppRouter>();\n",
        "web/page.tsx": (
            "import { trpc } from './trpc';\nimport { db } from './db';\nexport function Page({ id }) {\n  const utils = trpc.useUtils();\n"
            "  const { data } = trpc.post.byId.useQuery({ id });\n  const add = trpc.post.add.useMutation();\n  trpc.post.comments.list.useInfiniteQuery({});\n"
            "  utils.post.list.fetch();\n  utils.post.list.invalidate();\n  trpc.post.add.useQuery();\n  trpc.post.none.useQuery();\n  trpc[name].byId.useQuery();\n"
            "  db.post.byId.query();\n  trpc.ping.useQuery();\n}\n"
        ),
        "script.ts": (
            "import { createTRPCClient } from '@trpc/client';\nconst client = createTRPCClient({ links: [] });\n"
            "export async function run() {\n  await client.post.add.mutate({});\n  await client.post.list.query();\n}\n"
        ),
        "test/posts.test.ts": (
            "import { appRouter } from '../server/app';\ntest('adds', async () => {\n  const caller = appRouter.createCaller({});\n"
            "  await caller.post.add({});\n  await caller.old.post.list();\n});\n"
        ),
    }
    assert requests_in(TRPC | texts) == [
        "web/page:Page GET /post.byId",
        "web/page:Page POST /post.add",
        "web/page:Page GET /post.comments.list",
        "web/page:Page GET /post.list",
        "web/page:Page GET /ping",
        "script:run POST /post.add",
        "script:run GET /post.list",
        "test/posts.test POST /post.add",
        "test/posts.test GET /post.list",
    ]


def test_a_request_by_path_never_leads_to_a_procedure_that_no_router_has():
    texts = {
        "server/dead.ts": (
            "import { initTRPC } from '@trpc/server';\nconst t = initTRPC.create();\n"
            "export const dead = t.procedure.mutation(() => 1);\n"
        ),
        "server/app.js": (
            "const app = require('express')();\napp.post('/api/orders/create', (req, res) => {});\napp.listen(1);\n"
        ),
        "web/page.ts": (
            "const BASE = process.env.BASE;\nexport function make() {\n"
            "  fetch(`${BASE}/orders/create`, { method: 'POST' });\n  fetch('/v1/nothing/here', { method: 'POST' });\n}\n"
        ),
    }
    assert requests_in(texts) == ["web/page:make POST /api/orders/create ?"]
