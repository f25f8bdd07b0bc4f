"""Small applications of many frameworks, and the requests that clients and tests send them."""

from __future__ import annotations

from cortex.graph.frameworks.join import join_routes
from cortex.graph.frameworks.match import match_requests
from cortex.terms.kinds import ROUTE_KINDS
from tests.graph.test_routes import nodes_and_edges

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
