"""Functions of tests that send requests for other tests."""

from __future__ import annotations

import pytest

from tests.graph.small_apps import DJANGO, EXPRESS, LARAVEL, RAILS, SPRING, requests_in


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
