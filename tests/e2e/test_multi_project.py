"""A query of a real client to several real projects, while one project loses a worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import replace

import pytest

from cortex.processes import attach
from cortex.system.errors import Unavailable
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

SHOP = {
    "cart.py": '''def check_password_of_cart(name):
    """Compare the password of a cart with the stored hash."""
    return name != ""
''',
    "prices.py": '''def price_of(item):
    """What an item costs, with taxes."""
    return item * 119 // 100
''',
}


@pytest.fixture
def two(project):
    """Two indexed projects with names."""
    shop = replace(project, root=project.root.parent / "shop")
    for name, text in SHOP.items():
        path = shop.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (shop.root / ".git").mkdir()
    config = project.root.parent / "config" / "cortex"
    config.mkdir(parents=True, exist_ok=True)
    (config / "projects.yml").write_text(f"projects: {{bank: {project.root}, shop: {shop.root}}}\n")
    for owner in (project, shop):
        done = owner.run("index")
        assert done.returncode == 0, done.stderr
    yield project, shop
    with contextlib.suppress(Unavailable):
        attach.stop(shop.config)
    shop.nothing_left()


def files(answer):
    return {(hit["project"], hit["chunk"]["metadata"]["file_path"]) for hit in answer["results"]}


def test_two_projects_answer_one_question_and_a_killed_worker_of_one_is_named_and_comes_back(two):
    project, shop = two

    async def complete_answer(front):
        """Return an answer of both projects, with no project missing."""
        async with asyncio.timeout(BOUND_S):
            while True:
                answer = await front.call("cortex_search", query="compare a password", projects=["*"])
                if not answer["index"]["degraded"]:
                    return answer
                await asyncio.sleep(0.05)

    async def talk():
        async with project.front() as front:
            answer = await complete_answer(front)
            assert {("bank", "auth/login.py"), ("shop", "cart.py")} <= files(answer)
            assert set(answer["index"]["generations"]) == {"bank", "shop"}
            lines = await front.call("cortex_exact", query="check_password*", projects=["bank", "sho*"])
            assert {("bank", "auth/login.py"), ("shop", "cart.py")} <= files(lines)
            flat = await front.call("code_context", query="taxes of an item", projects=["*"])
            assert (flat["hits"][0]["project"], flat["hits"][0]["file"]) == ("shop", "prices.py")
            os.kill((await asyncio.to_thread(shop.member, "text"))["pid"], signal.SIGKILL)
            for _ in range(3):  # while it is down, and while it restarts
                partial_answer = await front.call("cortex_search", query="compare a password", projects=["*"])
                assert ("bank", "auth/login.py") in files(partial_answer)
                assert ("shop", "cart.py") in files(partial_answer) or partial_answer["index"]["degraded"]
            assert ("shop", "cart.py") in files(await complete_answer(front))

    asyncio.run(talk())
    until(lambda: not shop.status()["running"], "the end of what the front has started")


def test_a_command_searches_several_projects_and_prints_the_project_of_each_hit(two):
    project, _ = two
    done = project.run("search", "--projects", "sho*", "--projects", "bank", "--jsonl", "compare a password")
    assert done.returncode == 0, done.stderr
    places = {(place["project"], place["file"]) for place in map(json.loads, done.stdout.splitlines())}
    assert {("bank", "auth/login.py"), ("shop", "cart.py")} <= places
    refused = project.run("search", "--projects", "shopp", "compare a password")
    assert refused.returncode != 0
    assert "There is no project 'shopp' (did you mean 'shop'?); there are: bank, shop." in refused.stderr
