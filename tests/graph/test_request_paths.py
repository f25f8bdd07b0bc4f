"""Paths of requests beside those of routes: letters, slashes, optional and relative parts."""

from __future__ import annotations

import pytest

from cortex.graph.frameworks.match import match_requests
from cortex.terms.kinds import ROUTE_KINDS
from tests.graph.small_apps import requests_in
from tests.graph.test_routes import nodes_and_edges

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
