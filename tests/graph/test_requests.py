"""Requests of clients and tests, and the routes that they mean."""

from __future__ import annotations

import orjson
import pytest

from cortex.engines.serving import EngineWorker
from cortex.graph.frameworks.join import join_routes
from cortex.graph.frameworks.match import match_requests
from cortex.settings.config import Config
from cortex.terms.kinds import ROUTE_KINDS
from tests.engines.small_graph import ask, publish, write_graph
from tests.graph.test_routes import GOLDEN, nodes_and_edges

FASTAPI = {
    "app/config.py": "class Settings:\n    API = os.environ['API']\n\n\nsettings = Settings()\n",
    "app/main.py": (
        "from fastapi import APIRouter, FastAPI\nfrom app.config import settings\napp = FastAPI()\n"
        "users = APIRouter(prefix='/users')\n\n\n@users.get('/me')\ndef me(): ...\n\n\n@users.get('/{user}')\ndef show(user): ...\n\n\n"
        "app.include_router(users, prefix=settings.API)\n\n\n@app.post('/orders')\ndef create(): ...\n\n\n"
        "@app.get('/orders/{number:int}')\ndef order(number): ...\n"
    ),
}
FLASK = {
    "shop/__init__.py": (
        "from flask import Flask\n\n\ndef create_app():\n    app = Flask('shop')\n\n    @app.post('/orders')\n    def create(): ...\n\n"
        "    @app.get('/orders/<int:number>')\n    def order(number): ...\n\n    return app\n"
    )
}
DJANGO = {
    "shop/urls.py": (
        "from django.urls import path\nfrom shop import views\nurlpatterns = [path('orders/<int:pk>/', views.order)]\n"
    ),
    "shop/views.py": "def order(request, pk): ...\n",
}
EXPRESS = {
    "src/app.js": (
        "import express from 'express';\nconst app = express();\nconst api = express.Router();\n"
        "api.get('/orders', list);\napi.post('/orders', create);\napi.get('/orders/:id', show);\napp.use('/api', api);\n"
        "function list() {}\nfunction create() {}\nfunction show() {}\nexport default app;\n"
    )
}
GO = {
    "go.mod": "module example.com/shop\n",
    "main.go": (
        'package main\n\nimport "net/http"\n\nfunc routes() *http.ServeMux {\n\tmux := http.NewServeMux()\n'
        '\tmux.HandleFunc("POST /orders", create)\n\treturn mux\n}\n\nfunc create(w http.ResponseWriter, r *http.Request) {}\n'
    ),
}

RAILS = {
    "config/routes.rb": (
        "Rails.application.routes.draw do\n  root 'home#index'\n  resources :orders do\n    get :late, on: :collection\n"
        "    post :pay, on: :member\n    resources :items, only: [:index, :show]\n  end\n  namespace :admin do\n    resources :users, only: :destroy\n  end\n"
        "  get 'about/team', to: 'pages#team'\n  get 'x/:id', to: 'pages#x', as: :extra\nend\n"
    ),
    "app/controllers/orders_controller.rb": "class OrdersController\n  def show\n  end\nend\n",
}
LARAVEL = {
    "routes/web.php": (
        "<?php\nRoute::name('admin.')->prefix('admin')->group(function () {\n    Route::resource('orders', OrderController::class);\n});\n"
        "Route::get('/about', [PageController::class, 'about'])->name('about');\n"
    ),
    "routes/api.php": "<?php\nRoute::apiResource('orders', OrderController::class);\n",
}
SPRING = {
    "src/main/java/shop/OrderController.java": (
        'package shop;\nimport org.springframework.web.bind.annotation.*;\n@RestController\n@RequestMapping("/api/orders")\nclass OrderController {\n'
        '  @GetMapping\n  List<Order> list() {}\n  @GetMapping("/{id}")\n  Order show(int id) {}\n  @PostMapping\n  Order create(Order o) {}\n}\n'
    )
}
ASPNET = {
    "src/Api/OrdersController.cs": (
        'using Microsoft.AspNetCore.Mvc;\nnamespace Shop;\n[ApiController]\n[Route("api/[controller]")]\npublic class OrdersController {\n'
        '  [HttpGet] public IActionResult List() {}\n  [HttpGet("{id}")] public IActionResult Show(int id) {}\n'
        '  [HttpPost] public IActionResult Create() {}\n  [HttpDelete("{id}")] public IActionResult Delete(int id) {}\n}\n'
    )
}


def requests_in(texts):
    """A line for each request that has routes: its function, the routes, `?` if it is not sure."""
    nodes, edges = nodes_and_edges({path: text for path, text in texts.items() if not path.endswith(".mod")})
    nodes_of_routes = [node for node in nodes if node["kind"] in ROUTE_KINDS]
    matches, names = (
        match_requests(nodes_of_routes),
        {route.id: route.name for route in join_routes(nodes_of_routes)},
    )
    return [
        f"{edge['from']} {' | '.join(names[route] for route in match.routes)}{'' if match.is_sure else ' ?'}"
        for edge in edges
        if edge["type"] == "requests" and (match := matches.get(edge["to"])) is not None
    ]


@pytest.mark.parametrize(
    ("app", "texts", "expected"),
    [
        pytest.param(
            FASTAPI,
            {
                "tests/conftest.py": (
                    "import pytest\nfrom fastapi.testclient import TestClient\nfrom app.main import app\n\n\n@pytest.fixture\n"
                    "def client():\n    with TestClient(app) as c:\n        yield c\n"
                ),
                "tests/test_users.py": (
                    "from app.config import settings\n\n\ndef test_me(client):\n    client.get(f'{settings.API}/users/me')\n\n\n"
                    "def test_order(client):\n    url = '/orders'\n    number = client.post(url, json={}).json()\n"
                    "    client.get(f'/orders/{number}?full=1')\n    client.get('/orders/new')\n    client.delete('/orders')\n"
                ),
            },
            [
                "tests/test_users:test_me GET …/users/me",
                "tests/test_users:test_order POST /orders",
                "tests/test_users:test_order GET /orders/{number:int}",
            ],
            id="TestClient in a fixture, prefix by the same name",
        ),
        pytest.param(
            FASTAPI,
            {
                "tests/test_main.py": (
                    "from starlette.testclient import TestClient\nfrom app.main import app\nclient = TestClient(app)\n\n\n"
                    "def test_create():\n    client.post('/orders')\n\n\ndef test_request():\n    client.request('POST', '/orders')\n"
                ),
                "tests/test_async.py": (
                    "from httpx import ASGITransport, AsyncClient\nfrom app.main import app\n\n\nasync def test_create():\n"
                    "    async with AsyncClient(transport=ASGITransport(app=app), base_url='http://test') as ac:\n"
                    "        await ac.post('/orders')\n"
                ),
            },
            [
                "tests/test_main:test_create POST /orders",
                "tests/test_main:test_request POST /orders",
                "tests/test_async:test_create POST /orders",
            ],
            id="TestClient of a module, and httpx without a network",
        ),
        pytest.param(
            FLASK,
            {
                "tests/conftest.py": (
                    "import pytest\nfrom shop import create_app\n\n\n@pytest.fixture\ndef app():\n    return create_app()\n\n\n"
                    "@pytest.fixture\ndef client(app):\n    return app.test_client()\n"
                ),
                "tests/test_orders.py": (
                    "from shop import create_app\n\n\ndef test_create(client):\n    client.post('/orders')\n\n\n"
                    "def test_own():\n    app = create_app()\n    with app.test_client() as c:\n        c.get('/orders/7')\n"
                ),
            },
            [
                "tests/test_orders:test_create POST /orders",
                "tests/test_orders:test_own GET /orders/<int:number>",
            ],
            id="Flask's test_client and its fixture",
        ),
        pytest.param(
            DJANGO,
            {
                "shop/tests.py": (
                    "from django.test import Client, TestCase\nfrom rest_framework.test import APIClient\n\n\nclass OrderTest(TestCase):\n"
                    "    def setUp(self):\n        self.api = APIClient()\n\n    def test_get(self):\n        self.client.get('/orders/%s/' % 1)\n\n"
                    "    def test_api(self):\n        self.api.get('/orders/1/')\n        Client().get('/orders/{}/'.format(2))\n"
                ),
            },
            [
                "shop/tests:OrderTest.test_get ANY /orders/<int:pk>/",
                "shop/tests:OrderTest.test_api ANY /orders/<int:pk>/",
                "shop/tests:OrderTest.test_api ANY /orders/<int:pk>/",
            ],
            id="Django's and DRF's clients",
        ),
        pytest.param(
            EXPRESS,
            {
                "test/orders.test.js": (
                    "import request from 'supertest';\nimport app from '../src/app';\nconst agent = request.agent(app);\n"
                    "async function create() {\n  await request(app).post('/api/orders').send({}).expect(201);\n}\n"
                    "async function show() {\n  await agent.get(`/api/orders/${id}`);\n}\n"
                ),
            },
            ["test/orders.test:create POST /api/orders", "test/orders.test:show GET /api/orders/:id"],
            id="supertest",
        ),
        pytest.param(
            GO,
            {
                "main_test.go": (
                    'package main\n\nimport (\n\t"net/http"\n\t"net/http/httptest"\n\t"testing"\n)\n\nfunc TestCreate(t *testing.T) {\n'
                    '\treq := httptest.NewRequest("POST", "/orders", nil)\n\troutes().ServeHTTP(nil, req)\n}\n\nfunc TestConst(t *testing.T) {\n'
                    '\treq := httptest.NewRequest(http.MethodPost, "/orders", nil)\n\t_ = req\n}\n'
                ),
                "direct_test.go": (
                    'package main\n\nimport (\n\t"net/http/httptest"\n\t"testing"\n)\n\nfunc TestDirect(t *testing.T) {\n'
                    '\tcreate(nil, httptest.NewRequest("POST", "/orders", nil))\n\tmiddle.ServeHTTP(nil, req, create)\n}\n'
                ),
            },
            ["main_test:TestCreate POST /orders", "main_test:TestConst POST /orders"],
            id="httptest",
        ),
        pytest.param(
            DJANGO
            | {
                "proj/urls.py": "from django.urls import include, path\nurlpatterns = [path('shop/', include('shop.urls'))]\n",
                "shop/urls.py": (
                    "from django.urls import path\nfrom shop import views\napp_name = 'shop'\n"
                    "urlpatterns = [path('orders/<int:pk>/', views.order, name='order')]\n"
                ),
            },
            {
                "shop/tests.py": (
                    "from django.test import TestCase\nfrom django.urls import reverse\n\n\nclass OrderTest(TestCase):\n    def test_get(self):\n"
                    "        self.client.get(reverse('shop:order', args=[1]))\n        url = reverse('shop:order', kwargs={'pk': 1})\n"
                    "        self.client.post(url)\n        self.client.get(reverse('order'))\n"
                ),
            },
            ["shop/tests:OrderTest.test_get ANY /shop/orders/<int:pk>/"] * 2,
            id="Django's names of routes",
        ),
        pytest.param(
            RAILS,
            {
                "test/integration/orders_test.rb": (
                    'class OrdersTest < ActionDispatch::IntegrationTest\n  test "x" do\n    get orders_path\n    post orders_url, params: {}\n'
                    '    get "/orders/#{order.id}"\n    patch order_path(order)\n    get edit_order_path(order)\n    get late_orders_path\n'
                    "    post pay_order_path(order)\n    get order_items_path(order)\n    get order_item_path(order, 1)\n    delete admin_user_path(1)\n"
                    '    get root_path\n    get "/orders/late.json"\n    get about_team_path\n    get extra_path(1)\n    delete orders_path\n    get missing_path\n    get other\n  end\nend\n'
                ),
                "spec/controllers/orders_controller_spec.rb": (
                    "RSpec.describe OrdersController do\n  it 'x' do\n    get :show, params: { id: 1 }\n    delete :show\n    get :none\n  end\nend\n"
                ),
            },
            [
                "test/integration/orders_test:OrdersTest GET /orders",
                "test/integration/orders_test:OrdersTest POST /orders",
                "test/integration/orders_test:OrdersTest GET /orders/:id",
                "test/integration/orders_test:OrdersTest PATCH /orders/:id",
                "test/integration/orders_test:OrdersTest GET /orders/:id/edit",
                "test/integration/orders_test:OrdersTest GET /orders/late",
                "test/integration/orders_test:OrdersTest POST /orders/:id/pay",
                "test/integration/orders_test:OrdersTest GET /orders/:order_id/items",
                "test/integration/orders_test:OrdersTest GET /orders/:order_id/items/:id",
                "test/integration/orders_test:OrdersTest DELETE /admin/users/:id",
                "test/integration/orders_test:OrdersTest GET /",
                "test/integration/orders_test:OrdersTest GET /orders/late",
                "test/integration/orders_test:OrdersTest GET /about/team",
                "test/integration/orders_test:OrdersTest GET /x/:id",
                "spec/controllers/orders_controller_spec GET /orders/:id",
            ],
            id="Rails: paths, helpers and actions",
        ),
        pytest.param(
            LARAVEL,
            {
                "tests/Feature/OrderTest.php": (
                    "<?php\nclass OrderTest extends TestCase {\n  public function test_x() {\n    $this->postJson('/api/orders', []);\n"
                    "    $this->actingAs($user)->getJson(\"/api/orders/{$order->id}\");\n    $this->json('DELETE', '/api/orders/' . $order->id);\n"
                    "    $this->get(route('about'));\n    $this->put(route('admin.orders.update', $order));\n    $this->post(route('admin.orders.index'));\n"
                    "    $this->get(route('orders.index'));\n    $this->get(route('none'));\n    $cache->get('/about');\n  }\n}\n"
                ),
                "tests/Feature/PageTest.php": "<?php\nuse function Pest\\Laravel\\{get};\nit('shows', function () {\n  get('/about');\n  $this->get('/about');\n});\n",
                "app/Cache.php": "<?php\nclass Cache {\n  function f() {\n    return $this->get('/about');\n  }\n}\n",
            },
            [
                "tests/Feature/OrderTest:OrderTest.test_x POST /api/orders",
                "tests/Feature/OrderTest:OrderTest.test_x GET /api/orders/{order}",
                "tests/Feature/OrderTest:OrderTest.test_x DELETE /api/orders/{order}",
                "tests/Feature/OrderTest:OrderTest.test_x GET /about",
                "tests/Feature/OrderTest:OrderTest.test_x PUT /admin/orders/{order}",
                "tests/Feature/OrderTest:OrderTest.test_x POST /admin/orders",
                "tests/Feature/OrderTest:OrderTest.test_x GET /api/orders",
                "tests/Feature/PageTest GET /about",
                "tests/Feature/PageTest GET /about",
            ],
            id="Laravel: paths and names of routes",
        ),
        pytest.param(
            SPRING,
            {
                "src/test/java/shop/OrderTest.java": (
                    "package shop;\nimport static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;\n"
                    "import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;\nimport org.springframework.test.web.servlet.MockMvc;\n"
                    "import org.springframework.test.web.reactive.server.WebTestClient;\nimport org.springframework.boot.test.web.client.TestRestTemplate;\n"
                    'class OrderTest {\n  static final String BASE = "/api/orders";\n  MockMvc mvc;\n  @Autowired WebTestClient web;\n  @Autowired private TestRestTemplate rest;\n'
                    '  void mock() {\n    mvc.perform(get("/api/orders/{id}", 1).accept(JSON)).andExpect(ok());\n    mvc.perform(MockMvcRequestBuilders.post("/api/orders"));\n  }\n'
                    '  void web() {\n    web.get().uri("/api/orders/" + id).exchange();\n    web.delete().uri("/api/orders/1").exchange();\n  }\n'
                    '  void rest() {\n    rest.getForObject(BASE, List.class);\n    rest.postForEntity("http://localhost:" + port + BASE, o, Order.class);\n'
                    '    this.rest.exchange("/api/orders/7", HttpMethod.GET, e, Order.class);\n    map.get("/api/orders");\n  }\n}\n'
                ),
                "src/main/java/shop/Gateway.java": (
                    "package shop;\nimport org.springframework.web.client.RestTemplate;\nclass Gateway {\n  private final RestTemplate rest = new RestTemplate();\n"
                    '  void far() {\n    rest.getForObject("https://pay.example.com/api/orders", X.class);\n  }\n'
                    '  void near() {\n    rest.getForObject(url + "/api/orders", X.class);\n  }\n}\n'
                ),
            },
            [
                "src/test/java/shop/OrderTest:OrderTest.mock GET /api/orders/{id}",
                "src/test/java/shop/OrderTest:OrderTest.mock POST /api/orders",
                "src/test/java/shop/OrderTest:OrderTest.web GET /api/orders/{id}",
                "src/test/java/shop/OrderTest:OrderTest.rest GET /api/orders",
                "src/test/java/shop/OrderTest:OrderTest.rest POST /api/orders",
                "src/test/java/shop/OrderTest:OrderTest.rest GET /api/orders/{id}",
                "src/main/java/shop/Gateway:Gateway.near GET /api/orders ?",
            ],
            id="Spring: MockMvc, WebTestClient, templates",
        ),
        pytest.param(
            ASPNET,
            {
                "tests/Api.Tests/OrdersTests.cs": (
                    "using Microsoft.AspNetCore.Mvc.Testing;\nnamespace Shop.Tests;\npublic class OrdersTests : IClassFixture<WebApplicationFactory<Program>> {\n"
                    "  private readonly HttpClient _client;\n  public OrdersTests(WebApplicationFactory<Program> factory) { _client = factory.CreateClient(); }\n"
                    '  public async Task Reads() {\n    await _client.GetAsync($"/api/orders/{id}");\n    await _client.GetFromJsonAsync<List<Order>>("api/orders");\n  }\n'
                    '  public async Task Writes() {\n    var client = factory.CreateClient();\n    await client.PostAsJsonAsync("/api/orders", order);\n'
                    '    await client.SendAsync(new HttpRequestMessage(HttpMethod.Delete, "/api/orders/1"));\n    await _cache.GetAsync("/api/orders");\n  }\n}\n'
                ),
                "src/Web/OrderService.cs": (
                    "namespace Shop.Web;\npublic class OrderService(HttpClient http) {\n  public async Task<Order> Get(int id) =>\n"
                    '    await http.GetFromJsonAsync<Order>($"api/orders/{id}");\n  public async Task Far() => await http.GetAsync("https://x.org/api/orders");\n}\n'
                ),
            },
            [
                "tests/Api.Tests/OrdersTests:OrdersTests.Reads GET /api/Orders/{id}",
                "tests/Api.Tests/OrdersTests:OrdersTests.Reads GET /api/Orders",
                "tests/Api.Tests/OrdersTests:OrdersTests.Writes POST /api/Orders",
                "tests/Api.Tests/OrdersTests:OrdersTests.Writes DELETE /api/Orders/{id}",
                "src/Web/OrderService:OrderService.Get GET /api/Orders/{id} ?",
            ],
            id="ASP.NET: HttpClient of tests and of a product",
        ),
    ],
)
def test_a_test_calls_the_routes_of_its_application(app, texts, expected):
    assert requests_in(app | texts) == expected


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


PAGE = {
    "web/api.ts": "import axios from 'axios';\nexport const api = axios.create({ baseURL: '/' });\n",
    "web/page.ts": (
        "import { api } from './api';\nexport async function submit(order) {\n  await api.post('/orders', order);\n}\n"
        "export function onClick() {\n  return submit({});\n}\n"
    ),
    "tests/test_orders.py": (
        "from fastapi.testclient import TestClient\nfrom shop.main import app\n\n\n"
        "def test_create():\n    TestClient(app).post('/orders')\n"
    ),
    "shop/main.py": (
        "from fastapi import Depends, FastAPI\nfrom shop.store import save, session\napp = FastAPI()\n\n\n"
        "@app.post('/orders')\ndef create(order, db=Depends(session)):\n    return save(order)\n"
    ),
    "shop/store.py": "def save(order):\n    return order\n\n\ndef session():\n    return 1\n",
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    config = Config(root=tmp_path_factory.mktemp("shop"))
    config.chunks_dir.mkdir(parents=True)
    for path, text in PAGE.items():
        (config.root / path).parent.mkdir(exist_ok=True)
        (config.root / path).write_text(text)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": "web/page.ts"}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    write_graph(config, tuple(PAGE))
    publish(config)
    served = EngineWorker("graph", config)
    served.reload()
    return served


def test_callers_and_impact_of_a_handler_name_its_clients_and_tests(worker):
    expected = [
        ("shop/main:<POST /orders>", "routes_to", "", False),
        ("tests/test_orders:test_create", "requests", "POST /orders", True),
        ("web/page:submit", "requests", "POST /orders", False),
    ]
    for operation in ("callers", "impact"):
        _, rows = ask(worker, operation, "POST /orders")
        callers = [
            (row["node"]["id"], row["edge"], row.get("requests", ""), row.get("test", False)) for row in rows
        ]
        assert sorted(callers) == expected


def test_callees_of_a_page_name_its_routes(worker):
    _, rows = ask(worker, "callees", "submit")
    assert [(row["edge"], row["node"]["route"]) for row in rows] == [("requests", "POST /orders")]


def test_a_path_crosses_languages_by_a_request(worker):
    _, rows = ask(worker, "path", "onClick", to="save")
    assert [(row["node"]["id"], row.get("edge")) for row in rows] == [
        ("web/page:onClick", None),
        ("web/page:submit", "calls"),
        ("shop/main:<POST /orders>", "requests"),
        ("shop/main:create", "routes_to"),
        ("shop/store:save", "calls"),
    ]


def test_a_handler_refers_to_what_it_depends_on(worker):
    _, rows = ask(worker, "callers", "session")
    assert [(row["node"]["id"], row["edge"]) for row in rows] == [("shop/main:create", "references")]


TWO_APPS = {
    "a/main.py": "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/users')\ndef users(): ...\n@app.get('/teams/all')\ndef teams(): ...\n",
    "b/main.py": "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/users')\ndef users(): ...\n@app.post('/bills/new')\ndef bill(): ...\n",
}


@pytest.mark.parametrize(
    ("app", "texts", "expected"),
    [
        pytest.param(
            EXPRESS,
            {
                "web/a.ts": (
                    "export async function load() {\n  const list = await fetch('/api/orders');\n  fetch(`/api/orders/${id}?full=1`);\n"
                    "  fetch('/api/orders', { method: 'POST', body });\n  fetch('/api/orders', { method: 'DELETE' });\n}\n"
                ),
            },
            ["web/a:load GET /api/orders", "web/a:load GET /api/orders/:id", "web/a:load POST /api/orders"],
            id="fetch",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/http.ts": (
                    "import axios from 'axios';\nimport ky from 'ky';\nexport const api = axios.create({ baseURL: '/api' });\n"
                    "const local = ky.create({ prefixUrl: 'http://localhost:3000/api' });\nexport const far = axios.create({ baseURL: 'https://api.stripe.com' });\n"
                    "export function own() {\n  return local.get('orders');\n}\nexport default far;\n"
                ),
                "web/a.ts": (
                    "import far, { api } from './http';\nexport function create() {\n  return api.post<Order>('/orders', order);\n}\n"
                    "export function one() {\n  return api({ url: `orders/${id}`, method: 'get' });\n}\n"
                    "export function foreign() {\n  return far.get('/api/orders');\n}\n"
                ),
            },
            [
                "web/http:own GET /api/orders",
                "web/a:create POST /api/orders",
                "web/a:one GET /api/orders/:id",
            ],
            id="instances with a base URL",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/orders.service.ts": (
                    "import { HttpClient } from '@angular/common/http';\nimport { inject } from '@angular/core';\nexport class OrdersService {\n"
                    "  private readonly own = inject(HttpClient);\n  private url = `${environment.api}/api/`;\n  private near = '/api/orders';\n"
                    "  constructor(private http: HttpClient, private cache: Cache) {}\n  list() {\n    return this.http.get<Order[]>(this.near);\n  }\n"
                    "  one(id: number) {\n    return this.own.get<Order>(`${this.url}orders/${id}`);\n  }\n"
                    "  other() {\n    this.cache.get('/api/orders');\n    return this.http.request('POST', `${this.near}`);\n  }\n}\n"
                ),
            },
            [
                "web/orders.service:OrdersService.list GET /api/orders",
                "web/orders.service:OrdersService.one GET /api/orders/:id ?",
                "web/orders.service:OrdersService.other POST /api/orders",
            ],
            id="Angular's HttpClient",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/orders.ts": (
                    "import { customInstance } from './mutator';\nimport { useQuery } from '@tanstack/react-query';\n"
                    "export const getOrders = (id: number, signal?: AbortSignal) => {\n"
                    "  return customInstance<Order>({ url: `/orders/${id}`, method: 'GET', signal });\n};\n"
                    "export const getOrdersQueryOptions = (id: number) => ({ queryFn: () => getOrders(id) });\n"
                    "export function useGetOrders(id: number) {\n  return useQuery(getOrdersQueryOptions(id));\n}\n"
                ),
                "web/mutator.ts": (
                    "import Axios from 'axios';\nexport const AXIOS_INSTANCE = Axios.create({ baseURL: '/api' });\n"
                    "export const customInstance = <T>(config: AxiosRequestConfig): Promise<T> => {\n"
                    "  const promise = AXIOS_INSTANCE({ ...config }).then(({ data }) => data);\n  return promise;\n};\n"
                ),
                "web/react.ts": (
                    "import createFetchClient from 'openapi-fetch';\nimport createClient from 'openapi-react-query';\n"
                    "const $api = createClient(createFetchClient<paths>({ baseUrl: '/' }));\n"
                    "export function Orders() {\n  return $api.useQuery('get', '/api/orders/{id}', { params });\n}\n"
                ),
            },
            ["web/orders:getOrders GET /api/orders/:id", "web/react:Orders GET /api/orders/:id"],
            id="hooks of orval and of openapi-react-query",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/api.ts": (
                    "const BASE = '/api';\nexport async function send(path: string, options = {}) {\n  return (await fetch(`${BASE}${path}`, options)).json();\n}\n"
                    "export const list = () => send('/orders');\nexport function go(path) {\n  return router.push(path);\n}\n"
                ),
                "web/page.ts": (
                    "import { go, send } from './api';\nexport function create(order) {\n  go('/api/orders');\n  return send('/orders', { method: 'POST', body: order });\n}\n"
                    "export function show(id) {\n  return send(`/orders/${id}`);\n}\n"
                ),
            },
            [
                "web/api:list GET /api/orders",
                "web/page:create POST /api/orders",
                "web/page:show GET /api/orders/:id",
            ],
            id="a function around fetch",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/sdk.gen.ts": (
                    "export class Orders {\n  static list(options) {\n    return (options?.client ?? client).get<A>({ url: '/api/orders', ...options });\n  }\n}\n"
                ),
            },
            ["web/sdk.gen:Orders.list GET /api/orders"],
            id="a generated client",
        ),
        pytest.param(
            EXPRESS,
            {
                "script.py": (
                    "import httpx\nimport requests\nBASE = 'http://localhost:3000'\n\n\ndef run(session):\n    requests.get(f'{BASE}/api/orders')\n"
                    "    with httpx.Client(base_url=BASE) as c:\n        c.post('/api/orders')\n    requests.post('https://shop.example.com/api/orders')\n"
                    "    requests.get(f'{session.base}/api/orders')\n"
                ),
            },
            ["script:run GET /api/orders", "script:run POST /api/orders", "script:run GET /api/orders ?"],
            id="requests and httpx",
        ),
        pytest.param(
            EXPRESS,
            {
                "web/a.ts": (
                    "const url = '/api/orders';\nconst path = (x) => x;\nexport function f(options, url2) {\n  fetch('/api/orders', options);\n"
                    "  fetch('/api/orders', { ...options });\n  fetch(url2);\n  fetch(path('/api/orders'));\n  fetch('https://x.org/api/orders');\n"
                    "  fetch(`https://${region}.x.org/api/orders`);\n  fetch('//cdn.x.org/api/orders');\n  console.log(\"fetch('/api/orders')\"); // fetch('/api/orders')\n"
                    "  map.get('/api/orders'); cache.get('/api/orders', f); app.get('/api/orders', f); fetch(`${base}/orders`); fetch(`/${a}/${b}`);\n}\n"
                ),
                "web/own.ts": "function fetch(x) {}\nexport function g() {\n  fetch('/api/orders');\n}\n",
                "web/router.ts": "import { Router } from 'express';\nexport const things = Router();\n",
                "web/b.ts": "import { things } from './router';\nexport function h() {\n  things.get('/api/orders', f);\n}\n",
            },
            [],
            id="no requests of these routes",
        ),
        pytest.param(
            TWO_APPS,
            {
                "a/web/x.ts": "export function near() {\n  fetch('/users');\n}\n",
                "web/y.ts": (
                    "export function both() {\n  fetch('/users');\n  fetch(`${B}/users`);\n  fetch(`${B}/teams/all`);\n  fetch('/teams/all');\n}\n"
                ),
                "b/tests/test_b.py": "def test_b(client):\n    client.get('/users')\n    client.get('/teams/all')\n",
                "tests/test_a.py": "from fastapi.testclient import TestClient\nfrom a.main import app\n\n\ndef test_a():\n    TestClient(app).get('/users')\n    TestClient(app).post('/bills/new')\n",
            },
            [
                "a/web/x:near GET /users",
                "web/y:both GET /users | GET /users ?",
                "web/y:both GET /teams/all ?",
                "web/y:both GET /teams/all ?",
                "b/tests/test_b:test_b GET /users",
                "tests/test_a:test_a GET /users",
            ],
            id="one path in two applications",
        ),
        pytest.param(
            FASTAPI,
            {
                "web/a.ts": "export function f() {\n  fetch('/me');\n  fetch('/v2/users/me');\n  fetch(`${B}/users/me`);\n  fetch(`${B}/me`);\n  fetch(`/orders/${x}.json`);\n  fetch('/orders/latest');\n}\n",
                "examples/demo.py": "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/only/here')\ndef only(): ...\n",
                "web/b.ts": "export function g() {\n  fetch('/only/here');\n}\n",
            },
            ["web/a:f GET …/users/me ?", "web/a:f GET …/users/me ?", "web/a:f GET /orders/{number:int}"],
            id="unknown bases, and routes of examples",
        ),
        pytest.param(
            {
                "app/main.py": (
                    "from app.own import Router\nfrom fastapi import APIRouter\nown = Router(prefix='/members')\nother = APIRouter()\n"
                    "@own.get('/{id}/members')\ndef members(): ...\n@own.get('/{id}/members/export')\ndef export(): ...\n"
                    "@other.get('/me/solves')\ndef mine(): ...\n@other.get('/v1/me/solves')\ndef ours(): ...\n@other.get('/files/{path:path}*')\ndef rest(): ...\n"
                )
            },
            {
                "tests/test_a.py": (
                    "def test_a(client):\n    client.get('/v1/members')\n    client.get('/v1/members/export')\n    client.get('/files/some/x')\n"
                    "    client.get('/v1/me/solves')\n    client.get('/v2/users/me/solves')\n    client.get('/me/none')\n"
                ),
            },
            ["tests/test_a:test_a GET …/v1/me/solves ?", "tests/test_a:test_a GET …/me/solves ?"],
            id="routers whose prefix is unknown",
        ),
        pytest.param(
            FASTAPI,
            {
                **{
                    f"web/{n}.ts": "export function f() {\n  fetch('/api/v1/users/me');\n}\n"
                    for n in range(5)
                },
                "web/x.ts": "export function g() {\n  fetch('/admin/users/me');\n  fetch(`/api/v1/users/${id}`);\n}\n",
            },
            [*(f"web/{n}:f GET …/users/me" for n in range(5)), "web/x:g GET …/users/{user}"],
            id="a prefix that its requests tell",
        ),
    ],
)
def test_a_client_requests_one_route_of_the_application_that_it_means(app, texts, expected):
    assert requests_in(app | texts) == expected


_PAGE = {
    "web/a.ts": "export function f() {\n  fetch('/Orders/List');\n}\nexport function g() {\n  fetch('/orders/list');\n}\n"
}


@pytest.mark.parametrize(
    ("texts", "any_case"),
    [
        pytest.param(
            {"a.py": "from flask import Flask\na = Flask('a')\n@a.get('/Orders/List')\ndef f(): ...\n"},
            False,
            id="Flask",
        ),
        pytest.param(
            {
                "main.go": 'package main\n\nimport "github.com/gin-gonic/gin"\n\nfunc main() {\n\tr := gin.Default()\n\tr.GET("/Orders/List", f)\n}\n'
            },
            False,
            id="gin",
        ),
        pytest.param(
            {"config/routes.rb": "Rails.application.routes.draw do\n  get '/Orders/List', to: 'a#b'\nend\n"},
            False,
            id="Rails",
        ),
        pytest.param(
            {
                "A.java": 'import org.springframework.web.bind.annotation.*;\n@RestController\nclass A {\n  @GetMapping("/Orders/List")\n  void x() {}\n}\n'
            },
            False,
            id="Spring",
        ),
        pytest.param(
            {
                "app.js": "const app = require('express')();\nconst r = require('express').Router();\nr.get('/List', f);\napp.use('/Orders', r);\n"
            },
            True,
            id="Express, unless an option changes it",
        ),
        pytest.param(
            {
                "A.cs": 'using Microsoft.AspNetCore.Mvc;\n[ApiController]\n[Route("Orders")]\npublic class A {\n  [HttpGet("List")] public void X() {}\n}\n'
            },
            True,
            id="ASP.NET",
        ),
        pytest.param(
            {
                "A.cs": 'using Microsoft.AspNetCore.Mvc;\n[ApiController]\npublic class A {\n  [HttpGet("/Orders/List")] public void X() {}\n}\n'
            },
            True,
            id="ASP.NET, a whole path",
        ),
    ],
)
def test_letters_of_a_path_are_compared_as_the_framework_does(texts, any_case):
    ends = [line.partition(" ")[0] for line in requests_in(texts | _PAGE)]
    assert ends == (["web/a:f", "web/a:g"] if any_case else ["web/a:f"])


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


def test_a_folder_of_tests_names_the_project_of_equal_routes_and_a_slash_chooses():
    controller = (
        "using Microsoft.AspNetCore.Mvc;\nnamespace Shop;\n[ApiController]\npublic class InfoController {\n"
        '  [HttpGet("/alive")] public string Alive() {}\n}\n'
    )
    test = (
        "namespace Shop.Tests;\npublic class InfoTests {\n  private readonly HttpClient _client;\n"
        '  public async Task Reads() { await _client.GetAsync("/alive"); }\n}\n'
    )
    texts = {f"src/{name}/Controllers/InfoController.cs": controller for name in ("Api", "Icons", "Web.Api")}
    tests = (
        "test/Api.IntegrationTest/InfoTests.cs",
        "test/Web.Api.Tests/InfoTests.cs",
        "test/All/InfoTests.cs",
    )
    nodes, _ = nodes_and_edges(texts | dict.fromkeys(tests, test))
    nodes_of_routes = [node for node in nodes if node["kind"] in ROUTE_KINDS]
    matches, files = match_requests(nodes_of_routes), {node["id"]: node["file"] for node in nodes}
    assert [([files[route] for route in match.routes], match.is_sure) for match in matches.values()] == [
        (["src/Api/Controllers/InfoController.cs"], True),
        (["src/Web.Api/Controllers/InfoController.cs"], True),
        (sorted(texts), False),
    ]
    urls = "from django.urls import path\nurlpatterns = [path('ping/x', one), path('ping/x/', two)]\n"
    page = "export function f() {\n  fetch('/ping/x');\n  fetch('/ping/x/');\n}\n"
    assert requests_in({"shop/urls.py": urls, "web/a.ts": page}) == [
        "web/a:f ANY /ping/x",
        "web/a:f ANY /ping/x/",
    ]


def test_a_request_may_lack_optional_segments_at_the_end():
    routes = "<?php\nRoute::get('/search/{term?}', [A::class, 'find']);\nRoute::get('/list/{page}', [A::class, 'list']);\n"
    test = "<?php\nclass XTest extends TestCase {\n  function x() {\n    $this->get('/search');\n    $this->get('/list');\n  }\n}\n"
    assert requests_in({"routes/web.php": routes, "tests/Feature/XTest.php": test}) == [
        "tests/Feature/XTest:XTest.x GET /search/{term?}"
    ]


def test_a_relative_path_is_one_from_the_root_if_there_is_such_a_route():
    urls = "from django.urls import path\nurlpatterns = [path('login/options', one), path('admin/login/options', two), path('admin/other/x', three)]\n"
    page = "export function f() {\n  fetch('login/options');\n  fetch('other/x');\n}\n"
    assert requests_in({"shop/urls.py": urls, "web/a.ts": page}) == [
        "web/a:f ANY /login/options ?",
        "web/a:f ANY /admin/other/x ?",
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


@pytest.mark.parametrize(
    ("app", "texts", "expected"),
    [
        pytest.param(
            LARAVEL,
            {
                "tests/Sends.php": (
                    "<?php\ntrait Sends {\n    private function jsonAs(?User $user, string $method, $uri, array $data = []) {\n"
                    "        return $this->json($method, $uri, $data);\n    }\n    protected function postAs(string $url, array $data = []) {\n"
                    "        return $this->jsonAs(null, 'post', $url, $data);\n    }\n    protected function getBelow(string $url) {\n"
                    '        return $this->get("/api/$url");\n    }\n    protected function getFile(string $path) {\n        return file($path);\n    }\n}\n'
                ),
                "tests/OrderTest.php": (
                    "<?php\nclass OrderTest extends TestCase {\n    use Sends;\n    public function test_all() {\n        $this->postAs('api/orders');\n"
                    "        $this->jsonAs($this->user, 'delete', '/api/orders/7');\n        $this->jsonAs($this->user, $method, '/api/orders');\n"
                    "        $this->getBelow('orders/1');\n        $this->getFile('api/orders');\n    }\n}\n"
                ),
            },
            [
                "tests/OrderTest:OrderTest.test_all POST /api/orders",
                "tests/OrderTest:OrderTest.test_all DELETE /api/orders/{order}",
                "tests/OrderTest:OrderTest.test_all GET /api/orders/{order}",
            ],
            id="Laravel",
        ),
        pytest.param(
            DJANGO,
            {
                "shop/base.py": (
                    "from django.test import TestCase\n\n\nclass ApiTest(TestCase):\n    def get_json(self, path, **data):\n"
                    "        return self.client.get(path, data).json()\n\n    def fetch(self, number):\n        return number\n"
                ),
                "shop/tests.py": (
                    "from shop.base import ApiTest\n\n\nclass OrderTest(ApiTest):\n    def test_get(self):\n        self.get_json(f'/orders/{self.pk}/')\n"
                    "        self.api_get('/orders/1/')\n"
                ),
                "shop/tests/base.py": (
                    "from django.test import TestCase\n\n\nclass BaseTest(TestCase):\n    def send_get(self, path):\n        return self.client.get(path)\n"
                ),
                "shop/tests/test_own.py": (
                    "from shop.tests.base import BaseTest\n\n\nclass OwnTest(BaseTest):\n    def test_get(self):\n        self.send_get('/orders/2/')\n"
                ),
            },
            ["shop/tests/test_own:OwnTest.test_get ANY /orders/<int:pk>/"],
            id="Django, in files of tests",
        ),
        pytest.param(
            RAILS,
            {
                "spec/requests/orders_spec.rb": (
                    "require 'rails_helper'\ndescribe 'orders' do\n  def post_json(path, body)\n    post path, params: body\n  end\n\n"
                    "  def run_all\n    post_json('/orders/7/pay', {})\n  end\nend\n"
                ),
            },
            ["spec/requests/orders_spec:run_all POST /orders/:id/pay"],
            id="Rails",
        ),
        pytest.param(
            EXPRESS,
            {
                "test/help.test.js": (
                    "import request from 'supertest';\nimport app from '../src/app';\nexport const authPost = (user, url) => request(app).post(url).set('x', user);\n"
                ),
                "test/orders.test.js": (
                    "import { authPost } from './help.test';\nfunction creates() {\n  authPost(user, '/api/orders');\n}\n"
                ),
            },
            ["test/orders.test:creates POST /api/orders"],
            id="supertest",
        ),
        pytest.param(
            SPRING,
            {
                "src/test/java/shop/OrderTest.java": (
                    "package shop;\nimport org.springframework.test.web.servlet.MockMvc;\nimport static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.*;\n"
                    "class OrderTest {\n  private MockMvc mvc;\n  void performPost(String url) {\n    mvc.perform(post(url));\n  }\n"
                    '  void creates() {\n    performPost("/api/orders");\n    this.performPost("/api/orders");\n  }\n}\n'
                ),
            },
            ["src/test/java/shop/OrderTest:OrderTest.creates POST /api/orders"] * 2,
            id="MockMvc",
        ),
    ],
)
def test_a_test_sends_a_request_by_a_function_of_its_own(app, texts, expected):
    assert requests_in(app | texts) == expected
