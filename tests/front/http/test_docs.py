"""docs/HTTP.md has every route with a line of curl, and each line works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cortex.front.http.page.views import VIEWS
from cortex.front.http.replies import STATUS
from cortex.front.http.routes.openapi import ERRORS
from tests.wait_until import BOUND_S

TEXT = (Path(__file__).parents[3] / "docs" / "HTTP.md").read_text(encoding="utf-8")
LINES = re.findall(r"^curl .*$", TEXT, re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("line", LINES, ids=[line.rsplit("$URL", 1)[1] for line in LINES])
def test_every_line_of_curl_is_answered(server, line):
    environment = os.environ | {"URL": server.url, "TOKEN": server.token}
    command = [*("bash", "-c"), line.replace("curl ", "curl --fail-with-body --noproxy '*' ", 1)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=BOUND_S, check=False)
    assert done.returncode in ((0, 28) if "--max-time" in line else (0,)), done.stdout
    assert done.stdout


def test_every_route_has_a_section_with_a_line_of_curl(server):
    described = server.ask("GET", "/openapi.json")[2]["paths"]
    paths = {path for path in described if not path.startswith("/v1/tools/")}
    paths |= {
        "/v1/tools/{name}",
        "/openapi.json",
        "/docs",
        "/mcp",
        "/sse",
        "/message",
        "/enter",
        "/page/{view}/{part}",
        "/static/{name}",
        *(f"/{view.name}" for view in VIEWS),
    }
    sections = {
        path: section
        for section in TEXT.split("\n### ")[1:]
        for path in re.findall(r"`\w+ (/[^`]*)`", section)
    }
    assert paths <= sections.keys()
    assert all("curl" in sections[path] for path in paths)


def test_every_status_of_an_error_is_documented():
    documented = set(re.findall(r"\b\d{3}\b", TEXT.partition("## Errors")[2].partition("\n## ")[0]))
    assert {str(status) for _, status in STATUS} | ERRORS.keys() <= documented
