"""Requests of clients and tests, and the routes that they mean."""

from __future__ import annotations

import pytest

from tests.graph.small_apps import (
    ASPNET,
    DJANGO,
    EXPRESS,
    FASTAPI,
    FLASK,
    GO,
    LARAVEL,
    RAILS,
    SPRING,
    requests_in,
)


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
