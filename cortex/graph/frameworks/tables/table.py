"""The frameworks. A new one is a description here (docs/FRAMEWORKS.md)."""

from cortex.graph.frameworks.tables.framework import (
    METHODS,
    USUAL_METHODS,
    Attributes,
    Convention,
    Framework,
    Group,
    Mount,
    Route,
    Router,
    Setting,
    Views,
)

_LOWER = {method.lower(): Route((method,)) for method in METHODS}
_NAMED = ("name", "endpoint")
_DECORATORS = {
    name: Route(route.methods, (0, "path", "rule"), target=(), name=_NAMED) for name, route in _LOWER.items()
}
_GO_METHODS = {"Connect": Route(("CONNECT",))} | {method.title(): Route((method,)) for method in METHODS}

_FLASK_APP = Router(app=True)
_BLUEPRINT = Router(prefix=("url_prefix",), name=(0, "name"))
_REGISTER = Mount(("url_prefix",), (0, "blueprint"), replaces=True, is_sure=True, name=("name",))
FLASK = Framework(
    "flask",
    ("flask", "quart", "apiflask", "flask_restx", "flask_restful", "flask_smorest", "flask_openapi3"),
    routers={
        **dict.fromkeys(("Flask", "Quart", "APIFlask", "OpenAPI"), _FLASK_APP),
        **dict.fromkeys(("Blueprint", "APIBlueprint", "APIView"), _BLUEPRINT),
        "Api": Router(prefix=("prefix",), outer=(0, "app", "blueprint")),
        "Namespace": Router(prefix=(2, "path"), label=(0, "name")),
    },
    members={
        **{name: _DECORATORS[name] for name in map(str.lower, USUAL_METHODS)},
        "route": Route(("GET",), (0, "rule"), (), ("methods",), name=_NAMED, several=True),
        "resource": Route(("GET",), (0,), (), name=_NAMED, several=True),
        "add_url_rule": Route(("GET",), (0, "rule"), (2, "view_func"), ("methods",), name=("endpoint", 1)),
        "add_resource": Route(("GET",), (1,), (0,), name=("endpoint",), several=True),
        **dict.fromkeys(("register_blueprint", "register_api", "register_api_view"), _REGISTER),
        "namespace": Group((2, "path"), label=(0, "name")),
        "add_namespace": Mount((1, "path"), (0, "ns"), replaces=True, is_sure=True),
        "init_app": Mount(routers=(0, "app"), reversed=True),
    },
    class_methods=True,
    joint=".",
    has_heirs=True,
    files=r"\.py$",
    written=rb"@\w+\.(?:route|get|post|put|patch|delete)\(\s*[\"']/|\.(?:register_blueprint|add_resource)\(",
)
_STARLETTE_ROUTE = Route(("GET",), (0, "path"), (1, "endpoint", "route"), (2, "methods"), name=("name",))
FASTAPI = Framework(
    "fastapi",
    ("fastapi", "starlette"),
    routers={
        "FastAPI": Router(app=True, routes=("routes",)),
        "Starlette": Router(app=True, routes=("routes", 1)),
        "APIRouter": Router(prefix=("prefix",), routes=("routes",)),
        "Router": Router(prefix=("prefix",), routes=("routes", 0)),
    },
    members={
        **_DECORATORS,
        "api_route": Route(("GET",), (0, "path"), (), ("methods",), name=("name",)),
        "route": Route(("GET",), (0, "path"), (), (1, "methods"), name=("name",)),
        "websocket": Route(("WEBSOCKET",), (0, "path"), ()),
        "websocket_route": Route(("WEBSOCKET",), (0, "path"), ()),
        "add_api_route": Route(("GET",), (0, "path"), (1, "endpoint"), ("methods",), name=("name",)),
        "add_route": _STARLETTE_ROUTE,
        "add_api_websocket_route": Route(("WEBSOCKET",), (0, "path"), (1, "endpoint")),
        "add_websocket_route": Route(("WEBSOCKET",), (0, "path"), (1, "route")),
        "include_router": Mount(("prefix",), (0, "router"), is_sure=True),
        "mount": Mount((0, "path"), (1, "app"), name=("name",)),
    },
    functions={
        "Route": _STARLETTE_ROUTE,
        "WebSocketRoute": Route(("WEBSOCKET",), (0, "path"), (1, "endpoint")),
        "Mount": Mount((0, "path"), (1, "app", "routes"), name=("name",)),
    },
    class_methods=True,
    has_heirs=True,
    injects=frozenset({"Depends", "Security"}),
    injected="dependencies",
    joint=":",
    files=r"\.py$",
    written=rb"APIRouter\(|\.include_router\(|Router\([^()]*prefix=",
)
DJANGO = Framework(
    "django",
    ("django.urls", "django.conf.urls"),
    functions={
        name: Route(path=(0, "route", "regex"), target=(1, "view"), name=("name", 3))
        for name in ("path", "re_path", "url")
    },
    includes=("include", "urlpatterns"),
    root="urlpatterns",
    holds=rb"\b(?:path|url|include)\(|urlpatterns",
    listed="urls",
    files=r"urls(?:/.*)?\.py$",
    written=rb"(?m)^urlpatterns\b",
)
REST = Framework(
    "rest framework",
    ("rest_framework",),
    members={"register": Views((0, "prefix"), (1, "viewset"))},
    suffix="Router",
    listed="urls",
    files=r"(?:url|route|/api).*\.py$",
    holds=rb"Router\(|\.routes\[0\]|\.register\((?!\w*\))|@action",  # `register(Order)` has no path
)
EXPRESS = Framework(
    "express",
    ("express",),
    routers={"": Router(app=True), "Router": Router()},
    members={**_LOWER, "all": Route(), "route": Group(complete=True), "use": Mount((0,), (-1,))},
    any_case=True,
)
HONO = Framework(
    "hono",
    ("hono",),
    routers={"Hono": Router(app=True)},
    members={
        **_LOWER,
        "all": Route(),
        "on": Route(path=(1,), methods_at=(0,)),
        "route": Mount((0,), (1,), is_sure=True),
        "basePath": Group(),
    },
)
KOA = Framework(
    "koa", ("koa",), routers={"": Router(app=True)}, members={"use": Mount((0,), (-1,))}, any_case=True
)
KOA_ROUTER = Framework(
    "koa router",
    ("@koa/router", "koa-router"),
    routers={"": Router(prefix=("prefix",)), "Router": Router(prefix=("prefix",))},
    members={
        **_LOWER,
        "del": _LOWER["delete"],
        "all": Route(),
        "use": Mount((0,), (-1,)),
        "prefix": Setting(prefix=(0,)),
    },
    listed="routes",
    any_case=True,
)
GIN = Framework(
    "gin",
    ("github.com/gin-gonic/gin",),
    routers={"Default": Router(app=True), "New": Router(app=True)},
    members={
        **{method: Route((method,)) for method in METHODS},
        "Any": Route(),
        "Handle": Route(path=(1,), methods_at=(0,)),
        "Group": Group(),
    },
)
ECHO = Framework(
    "echo",
    ("github.com/labstack/echo",),
    routers={"New": Router(app=True)},
    members={
        **{method: Route((method,), target=(1,)) for method in METHODS},
        "Any": Route(target=(1,)),
        "Add": Route(path=(1,), target=(2,), methods_at=(0,)),
        "Group": Group(),
    },
)
CHI = Framework(
    "chi",
    ("github.com/go-chi/chi",),
    routers={"NewRouter": Router(app=True), "NewMux": Router(app=True)},
    members={
        **_GO_METHODS,
        "Method": Route(path=(1,), methods_at=(0,)),
        "MethodFunc": Route(path=(1,), methods_at=(0,)),
        "Handle": Route(),
        "HandleFunc": Route(),
        "Mount": Mount((0,), (1,), is_sure=True),
        "Route": Group(),
        "Group": Group(()),
        "With": Group(()),
    },
)
_HANDLE = Route(template_has_method=True)
NET_HTTP = Framework(
    "net/http",
    ("net/http",),
    routers={"NewServeMux": Router(app=True)},
    members={"Handle": _HANDLE, "HandleFunc": _HANDLE},
    functions={"Handle": _HANDLE, "HandleFunc": _HANDLE},
    is_router=True,
    ending=".go",
)
_VALUE = (0, "value", "path")
SPRING = Framework(
    "spring",
    ("org.springframework.web.bind.annotation", "org.springframework.stereotype"),
    attributes=Attributes(
        frozenset({"RestController", "Controller"}),
        {"RequestMapping": _VALUE},
        {
            "RequestMapping": Route(path=_VALUE, methods_at=("method",)),
            **{f"{method.title()}Mapping": Route((method,), _VALUE) for method in USUAL_METHODS},
        },
        clients=frozenset({"FeignClient"}),
    ),
)
SPRING_FUNCTIONS = Framework(
    "spring functions",
    (
        "org.springframework.web.reactive.function.server",
        "org.springframework.web.servlet.function",
        "org.springdoc.webflux.core.fn",
        "org.springdoc.core.fn",
    ),
    types=frozenset({"RouterFunctions"}),
    ending=".java",
)
SPRING_KOTLIN = Framework("spring in kotlin", SPRING_FUNCTIONS.modules[:2], ending=".kt")
NEST = Framework(
    "nest",
    ("@nestjs/common", "@nestjs/core"),
    routers={"create": Router(routes=(0,))},
    members={
        "setGlobalPrefix": Setting(prefix=(0,), options=(1,)),
        "enableVersioning": Setting(versions=True),
        "listen": Setting(serves=True),
        "init": Setting(serves=True),
    },
    holds=rb"NestFactory|setGlobalPrefix|enableVersioning",
    any_case=True,
    attributes=Attributes(
        frozenset(),
        {"Controller": (0, "path")},
        {"All": Route(path=(0,)), "Sse": Route(("GET",))}
        | {method.title(): Route((method,)) for method in METHODS},
        modules={"Module": ("controllers", "imports")},
        version="Version",
    ),
)
RAILS = Framework("rails", (), files=r"(?:^|/)config/routes(?:/.*)?\.rb$")
LARAVEL = Framework(
    "laravel",
    (),
    files=r"(?:^|/)(?:routes/.*|bootstrap/app|.*(?:ServiceProvider|[Rr]outes?))\.php$",
    holds=rb"\bRoute::|\$router->|->withRouting\(",
)
_TEMPLATE = (0, "template", "pattern")
_MAPPED = Route(path=_TEMPLATE, target=(1, "handler", "requestDelegate"))
ASPNET = Framework(
    "asp.net",
    ("Microsoft.AspNetCore",),
    routers={"Create": Router(app=True), "CreateBuilder": Router(app=True)},
    members={
        **{
            f"Map{method.title()}": Route((method,), _MAPPED.path, _MAPPED.target) for method in USUAL_METHODS
        },
        "Map": _MAPPED,
        "MapMethods": Route(path=_TEMPLATE, target=(2, "handler"), methods_at=(1, "httpMethods")),
        "MapGroup": Group((0, "prefix")),
        "MapControllerRoute": Convention(),
        "MapRoute": Convention(),
        "MapAreaControllerRoute": Convention((2, "pattern"), (1, "areaName"), (3, "defaults")),
        "MapDefaultControllerRoute": Convention((), (), ()),
        "UseMvcWithDefaultRoute": Convention((), (), ()),
        "UseMvc": Group(()),
        "UseEndpoints": Group(()),
    },
    attributes=Attributes(
        frozenset({"ApiController"}),
        {"Route": _TEMPLATE},
        {
            "Route": Route(path=_TEMPLATE),
            "AcceptVerbs": Route(path=("Route",), methods_at=(0,)),
            **{
                f"Http{method.title()}": Route((method,), _TEMPLATE)
                for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
            },
        },
        tokens=True,
        excluded="NonAction",
        action="ActionName",
        area="Area",
    ),
    types=frozenset({"WebApplication", "IApplicationBuilder", "IEndpointRouteBuilder", "RouteGroupBuilder"}),
    entry="Configure",
    files=r"\.cs$",
    any_case=True,
    holds=rb"\.Map(?:Get|Post|Put|Patch|Delete|Group|Methods|\w*Route)\(|\.UseMvc",
)

FRAMEWORKS = (
    FLASK, FASTAPI, DJANGO, REST, EXPRESS, HONO, KOA, KOA_ROUTER, GIN, ECHO, CHI, NET_HTTP, SPRING,
    SPRING_FUNCTIONS, SPRING_KOTLIN, NEST, RAILS, LARAVEL, ASPNET,
)  # fmt: skip
