"""The clients of routes: functions and objects that send a request. A new one is a description here
(docs/FRAMEWORKS.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cortex.graph.frameworks.tables.framework import METHODS, Places


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
    """`modules` are imports that recognise its names, `globals` a script's names without an import.
    `calls` are calls by their name in these, "" for the name itself; `makers` make an object with
    the calls `members`. `local`: it calls the application in its own process; `served_by`: a
    request without a host counts only in files with such a call, for others pass it to a handler.
    """

    modules: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    calls: Mapping[str, Form] = field(default_factory=dict)
    makers: Mapping[str, Maker] = field(default_factory=dict)
    members: Mapping[str, Form] = field(default_factory=dict)
    local: bool = False
    served_by: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names of calls that may send a request or make a client."""
        last = (name.rpartition(".")[2] for name in self.globals)
        return frozenset((*self.calls, *self.members, *self.makers, *last))


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
_GO_REQUEST = Form(url=(1,), method_at=(0,))
_GO_IN_CONTEXT = Form(url=(2,), method_at=(1,))

#: Flask's, and a fixture or field of tests with such a name
TEST_CLIENT = Client(makers={"test_client": Maker(app=("",))}, members=_PYTHON_LOCAL, local=True)
#: keywords of a client of httpx that calls an application without a network
IN_PROCESS = ("app", "transport")
CLIENTS = (
    Client(
        ("node-fetch", "cross-fetch", "undici", "ofetch"),
        ("fetch", "window.fetch", "globalThis.fetch", "$fetch"),
        {"": _OPTIONS, "default": _OPTIONS, "fetch": _OPTIONS, "ofetch": _OPTIONS},
    ),
    Client(
        ("axios",),
        ("axios", "window.axios"),
        _AXIOS,
        {"create": Maker(("baseURL",))},
        _AXIOS,
    ),
    Client(
        ("ky",),
        (),
        _KY,
        {"create": Maker(("prefixUrl",)), "extend": Maker(("prefixUrl",))},
        _KY,
    ),
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
    ),
    Client(
        ("net/http/httptest",),
        calls={"NewRequest": _GO_REQUEST, "NewRequestWithContext": _GO_IN_CONTEXT},
        local=True,
        served_by="ServeHTTP",
    ),
)
