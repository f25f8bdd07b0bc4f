"""The clients of routes: functions and objects that send a request. A new one is a description here
(docs/FRAMEWORKS.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cortex.graph.frameworks.tables.framework import METHODS, USUAL_METHODS, Places


@dataclass(frozen=True, slots=True)
class Form:
    """A call that sends a request. `url`: the place of its URL. `method`: its method; "" if an
    argument at `method_at` or an object at `options` has it, GET without such an object.
    """

    method: str = ""
    url: Places = (0, "url")
    method_at: Places = ()
    options: Places = ()


@dataclass(frozen=True, slots=True)
class Maker:
    """A call that makes a client. `base`: the place of its base URL, an argument or a field of an
    object; `app`: the place of the application that it calls without a network, "" for the
    receiver.
    """

    base: Places = ()
    app: Places = ()


@dataclass(frozen=True, slots=True)
class Client:
    """`modules` are imports that recognise its names, `globals` a script's names without an import,
    and `files` paths of files with such names without an import. `calls` are calls by their name in
    these, "" for the name itself; `makers` make an object with the calls `members`, also one of any
    receiver by `.name`. `types` are declared types of such objects. `local`: it calls the
    application in its own process; `remote`: in a product another one, whose host is configured;
    `served_by`: a request without a host counts only in files with such a call, for others pass it
    to a handler.
    """

    modules: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    calls: Mapping[str, Form] = field(default_factory=dict)
    makers: Mapping[str, Maker] = field(default_factory=dict)
    members: Mapping[str, Form] = field(default_factory=dict)
    local: bool = False
    served_by: str = ""
    remote: bool = False
    types: frozenset[str] = frozenset()
    files: str = ""
    #: end of the paths of its files; words that one of them, or its path, has
    ending: str = ""
    words: tuple[str, ...] = ()
    #: receivers in tests that are such an object
    receivers: str = ""
    #: an expression for the URL of a route by its name; the class whose actions a test names, in
    #: its text or path
    helper: str = ""
    owner: str = ""
    placed: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names of calls that may send a request or make a client."""
        every = (*self.calls, *self.members, *self.makers, *self.globals)
        return frozenset(name.rpartition(".")[2] for name in every)


_LOWER = {method.lower(): Form(method) for method in METHODS}
_SENDS = {name: _LOWER[name] for name in ("get", "post", "put", "patch", "delete", "head", "options")}
_OPTIONS = Form(options=(1,))
_AXIOS = {
    **_SENDS,
    "": Form(options=(1, 0)),
    "request": Form(options=(0,)),
    "postForm": Form("POST"),
    "putForm": Form("PUT"),
}
_KY = {**_SENDS, "": _OPTIONS}
_PYTHON_SENDS = {
    **_SENDS,
    "request": Form(url=(1, "url"), method_at=(0, "method")),
    "stream": Form(url=(1, "url"), method_at=(0, "method")),
}
_PYTHON_LOCAL = {**_PYTHON_SENDS, "open": Form("", method_at=("method",))}
#: `client.get().uri("/orders")`
_FLUENT = {f"{name}().uri": Form(form.method) for name, form in _SENDS.items()}
_TEMPLATE = {
    **{
        f"{name}For{end}": Form(name.upper())
        for name in ("get", "post", "patch")
        for end in ("Object", "Entity")
    },
    "postForLocation": Form("POST"),
    "put": Form("PUT"),
    "delete": Form("DELETE"),
    "exchange": Form(method_at=(1,)),
}
_NET = {
    f"{method.title()}{end}Async": Form(method)
    for method in USUAL_METHODS
    for end in ("", "AsJson", "FromJson", "String", "Stream")
}
_LARAVEL = {
    **_SENDS,
    **{f"{name}Json": form for name, form in _SENDS.items()},
    "json": Form(url=(1,), method_at=(0,)),
    "call": Form(url=(1,), method_at=(0,)),
}
_GO_REQUEST = Form(url=(1,), method_at=(0,))
_GO_IN_CONTEXT = Form(url=(2,), method_at=(1,))

#: Flask's, and a fixture or field of tests with such a name: no client of other services
TEST_CLIENT = Client(
    makers={".test_client": Maker(app=("",))},
    members=_PYTHON_LOCAL,
    local=True,
    files=r"\.py$",
    words=("client", '"/', "'/", "}/", "reverse(", "url_for("),
    receivers=r"(?:(?:self|cls)\.)?(?!\w*(?:redis|s3|cache|mqtt|docker|kafka|blob))(?:\w*client\w*|ac)",
    helper=r"""(?:[\w.]+\.)?(?:reverse(?:_lazy)?|url_for|url_path_for)\(\s*["']([\w.:-]+)["']""",
)
#: keywords of a client of httpx that calls an application without a network
IN_PROCESS = ("app", "transport")
CLIENTS = (
    Client(
        ("node-fetch", "cross-fetch", "undici", "ofetch"),
        ("fetch", "window.fetch", "globalThis.fetch", "$fetch"),
        {"": _OPTIONS, "default": _OPTIONS, "fetch": _OPTIONS, "ofetch": _OPTIONS},
    ),
    Client(("axios",), ("axios", "window.axios"), _AXIOS, {"create": Maker(("baseURL",))}, _AXIOS),
    Client(("ky",), (), _KY, {"create": Maker(("prefixUrl",)), "extend": Maker(("prefixUrl",))}, _KY),
    Client(
        ("openapi-fetch",),
        makers={name: Maker(("baseUrl",)) for name in ("", "default")},
        members={method: Form(method) for method in METHODS},
    ),
    Client(
        ("supertest", "supertest-as-promised", "chai"),
        makers={name: Maker(app=(0,)) for name in ("", "default", "agent", "request")},
        members={**_SENDS, "del": Form("DELETE")},
        local=True,
    ),
    Client(
        ("requests", "httpx"),
        (),
        _PYTHON_SENDS,
        {"Session": Maker(), "Client": Maker(("base_url",)), "AsyncClient": Maker(("base_url",))},
        _PYTHON_SENDS,
    ),
    Client(
        (
            "fastapi.testclient",
            "starlette.testclient",
            "async_asgi_testclient",
            "django.test",
            "rest_framework.test",
        ),
        makers={
            "TestClient": Maker(app=(0, "app")),
            "Client": Maker(),
            "AsyncClient": Maker(),
            "APIClient": Maker(),
        },
        members=_PYTHON_LOCAL,
        local=True,
    ),
    TEST_CLIENT,
    Client(
        ("net/http",),
        calls={
            "NewRequest": _GO_REQUEST,
            "NewRequestWithContext": _GO_IN_CONTEXT,
            "Get": Form("GET"),
            "Head": Form("HEAD"),
            "Post": Form("POST"),
            "PostForm": Form("POST"),
        },
        served_by="ServeHTTP",
        ending=".go",
    ),
    Client(
        ("net/http/httptest",),
        calls={"NewRequest": _GO_REQUEST, "NewRequestWithContext": _GO_IN_CONTEXT},
        local=True,
        served_by="ServeHTTP",
    ),
    Client(
        ("@angular/common/http",),
        members={**_SENDS, "request": Form(url=(1,), method_at=(0,))},
        types=frozenset({"HttpClient"}),
    ),
    Client(("@nestjs/axios",), members=_AXIOS, types=frozenset({"HttpService"}), remote=True),
    Client(
        ("openapi-react-query",),
        makers={name: Maker() for name in ("", "default")},
        members={
            name: Form(url=(1,), method_at=(0,))
            for name in ("useQuery", "useSuspenseQuery", "useInfiniteQuery", "useMutation", "queryOptions")
        },
    ),
    Client(
        (
            "org.springframework.test.web.servlet.request",
            "org.springframework.test.web.servlet.request.MockMvcRequestBuilders",
        ),
        calls={**_SENDS, "multipart": Form("POST")},
        local=True,
    ),
    Client(
        ("org.springframework.test.web.servlet", "org.springframework.test.web.servlet.assertj"),
        members={**_SENDS, **_FLUENT},
        types=frozenset({"MockMvc", "MockMvcTester"}),
        local=True,
    ),
    Client(
        ("org.springframework.test.web.reactive.server", "org.springframework.boot.test.web.client"),
        members={**_TEMPLATE, **_FLUENT},
        types=frozenset({"WebTestClient", "TestRestTemplate"}),
        local=True,
    ),
    Client(
        ("org.springframework.web.client", "org.springframework.web.reactive.function.client"),
        members={**_TEMPLATE, **_FLUENT},
        types=frozenset({"RestTemplate", "RestClient", "WebClient", "RestOperations"}),
        remote=True,
    ),
    Client(("io.restassured.RestAssured",), calls=_SENDS, members=_SENDS, receivers=r"given\(.*", local=True),
    Client(
        calls={"HttpRequestMessage": Form(url=(1,), method_at=(0,))},
        makers={".CreateClient": Maker(), ".CreateDefaultClient": Maker()},
        members=_NET,
        remote=True,
        types=frozenset({"HttpClient"}),
        files=r"\.cs$",
        receivers=r"(?i)(?:this\.|_|\w+\.)?\w*client",
    ),
    Client(
        calls=_SENDS,
        local=True,
        files=r"(?:_test|_spec)\.rb$",
        words=("rails", "Rails", "Controller", "ActionDispatch", "requests/", "controllers/", "integration/"),
        helper=r"(\w+)_(?:path|url)\b|:(\w+)$",
        owner=r"(?m)^\s*(?:RSpec\.)?(?:class|describe)\W+([\w:]+Controller)(?:Test)?\b",
        placed=r"(?:^|/)(?:controllers|functional)/(.+_controller)_(?:spec|test)\.rb$",
    ),
    Client(
        ("Pest.Laravel",),
        calls=_LARAVEL,
        members=_LARAVEL,
        local=True,
        files=r"Test\.php$|(?:^|/)tests/.*\.php$",
        receivers=r"(?:\$this|test\(\)|actingAs\().*",
        helper=r"""route\(\s*["']([\w.:-]+)["']""",
    ),
)
