"""The routes of the page: its views, their actions, its static files, and the entry."""

import os
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from cortex.front.http.access.gate import STATIC
from cortex.front.http.access.visits import CODE_S, ENTER, VISIT_S, Visits, cookie_name
from cortex.front.http.page.frame import HEADERS, HiddenTexts, View, Visit, address, page, render
from cortex.front.http.page.views import VIEWS
from cortex.front.http.projects import Projects
from cortex.front.http.replies import RETRY_S, RequestRefused, json_response, status_of
from cortex.front.http.routes.calls import cancel_on_disconnect, read_json_object
from cortex.front.project_selection import PROJECT
from cortex.settings.folders.home import is_loopback
from cortex.system.errors import CortexError, NotFound

FOLDER = Path(__file__).parent


class Pages:
    """Handlers of the routes. Use it in one event loop."""

    def __init__(self, projects: Projects, visits: Visits, scheme: str) -> None:
        self._projects, self._visits, self._scheme = projects, visits, scheme
        self._texts = HiddenTexts()

    def all(self) -> list[BaseRoute]:
        return [
            Route("/", self.first),
            Route(ENTER, self.enter, methods=["GET"]),
            Route(ENTER, self.invite, methods=["POST"]),
            *(Route(f"/{view.name}", self._view_handler(view)) for view in VIEWS),
            Route("/page/{view}/{part}", self.run_action, methods=["POST"]),
            Mount(STATIC + "vendor", Files(directory=FOLDER / "vendor")),
            Mount(STATIC.rstrip("/"), Files(directory=FOLDER / "static")),
        ]

    async def first(self, request: Request) -> Response:
        return RedirectResponse(address(VIEWS[0].name, **request.query_params))

    async def invite(self, request: Request) -> Response:
        """Answer with a link that works once. Raises RequestRefused for one without a token."""
        if "digest" not in request.scope:
            raise RequestRefused(403, "forbidden", "A link needs a request with a token, not a visit.")
        code = self._visits.invite(request.scope["digest"], time.monotonic())
        return json_response({"path": address(ENTER.strip("/"), code=code), "seconds": CODE_S})

    async def enter(self, request: Request) -> Response:
        """Begin a visit. Not by a redirect: the cookie is SameSite=Strict, so a browser that came
        from another page would not send it after one.
        """
        cookie = self._visits.enter(request.query_params.get("code", ""), time.monotonic())
        if not cookie:
            sentence = "This link was opened before, or has expired; `cortex open` makes another."
            return refusal_page(RequestRefused(401, "unauthorized", sentence))
        target = address("", project=request.query_params.get(PROJECT, ""))
        answer = page("entered.html", {"target": target})
        answer.set_cookie(
            cookie_name(request.headers),
            cookie,
            max_age=int(VISIT_S),
            secure=self._scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def run_action(self, request: Request) -> Response:
        """Answer an action of a view. Raises NotFound, and the action's errors."""
        name, wanted = request.path_params["view"], request.path_params["part"]
        action = next((view.actions.get(wanted) for view in VIEWS if view.name == name), None)
        if action is None:
            raise NotFound(f"There is no part {wanted!r} of a view {name!r}.")
        visit = self._visit(request)
        answer = await cancel_on_disconnect(request, action.run(visit, await read_json_object(request)))
        if not action.template:
            return json_response(answer)
        return HTMLResponse(render(action.template, answer | _visit_values(visit)), headers=HEADERS)

    def _view_handler(self, view: View) -> Any:
        async def show(request: Request) -> Response:
            try:
                visit = self._visit(request)
            except CortexError as error:
                return failure_page(error)
            try:
                values = await cancel_on_disconnect(request, view.show(visit))
            except CortexError as error:
                status = status_of(error)
                fault = {"sentence": str(error), "missing": status == 404}
                answer = page("fault.html", _frame_values(view, visit) | fault, status)
                if status == 503:
                    answer.headers["retry-after"] = str(RETRY_S)
                return answer
            return page(f"{view.name}.html", values | _frame_values(view, visit))

        return show

    def _visit(self, request: Request) -> Visit:
        bearer = request.scope["bearer"]
        hosted = self._projects.find(request.query_params.get(PROJECT, ""), bearer)
        names = tuple(self._projects.names(bearer))
        client = request.client.host if request.client is not None else ""
        is_local = (
            bearer.has_right("admin")
            and self._scheme == "http"
            and is_loopback(f"http://[{client}]" if ":" in client else f"http://{client}")
        )
        texts = self._texts if hosted.config.sealing is not None else None
        query = dict(request.query_params)
        if texts is not None:
            query = {name: texts.text(value) for name, value in query.items()}
        return Visit(hosted, bearer, names, is_local, query, texts)


class Files(StaticFiles):
    """The static files: browsers revalidate them each time, and do not guess their types."""

    def file_response(self, full_path: str | os.PathLike[str], *args: Any, **settings: Any) -> Response:
        answer = super().file_response(full_path, *args, **settings)
        answer.headers.update(HEADERS | {"cache-control": "no-cache"})
        return answer


def refusal_page(refusal: RequestRefused) -> Response:
    if refusal.status not in (401, 403):
        return failure_page(refusal)
    answer = page("refused.html", {"sentence": str(refusal)}, refusal.status)
    answer.headers.update(refusal.headers)
    return answer


def failure_page(error: CortexError) -> Response:
    """Return the page for an error of a browser's request outside of any view."""
    status = status_of(error)
    title = "There is no such page" if status == 404 else "This cannot be shown"
    answer = page("failed.html", {"title": title, "sentence": str(error)}, status)
    answer.headers.update(error.headers if isinstance(error, RequestRefused) else {})
    return answer


def _frame_values(view: View, visit: Visit) -> dict[str, Any]:
    return {"views": VIEWS, "view": view} | _visit_values(visit)


def _visit_values(visit: Visit) -> dict[str, Any]:
    return {"visit": visit, "address": visit.address}
