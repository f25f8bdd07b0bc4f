"""A sealed project: served as any other, and unreadable on the disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import time
import urllib.parse
from pathlib import Path

import orjson
import psutil
import pytest
from selenium.webdriver.common.keys import Keys

from cortex.processes import sandbox
from cortex.sealing import places
from cortex.sealing.streams import MAGIC
from cortex.settings import config as configuration
from cortex.system.errors import Misconfigured
from tests import forked_commands
from tests.e2e.conftest import SOURCES
from tests.front.http.browsing import Page, driving
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

#: all files that the cache may have, and whether each is sealed
FILES = {
    r"origin\.key|sealed/[0-9a-f]{16}/KEY": False,
    r"sealed/[0-9a-f]{16}/(LIST|objects/[0-9a-f]{24})": True,
}

VALUE_OF = "return document.querySelector(arguments[0]).value"


@pytest.fixture
def sealed(project, tmp_path, monkeypatch):
    """A project with a separate cache, to be sealed by a key in a file."""
    mine = {
        "CORTEX_HOME": str(tmp_path / "cache"),
        "CORTEX_SECURITY_ENCRYPT_INDEX": "1",
        "CORTEX_SECURITY_KEY_PATH": str(tmp_path / "keys" / "master"),
    }
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    project.environment |= mine
    try:
        base = project.config.sealing.base
    except Misconfigured as error:
        pytest.skip(str(error))
    yield project
    shutil.rmtree(base, ignore_errors=True)


def words():
    """Names and distinctive words of the sources."""
    return {word.encode() for path in SOURCES for word in (path, os.path.basename(path))} | {
        word.encode() for text in SOURCES.values() for word in re.findall(r"\w{7,}", text)
    }


def check_disk(tmp_path):
    """Check that every file in the cache is known, sealed if it holds text, and has no word of the
    sources.
    """
    contents = {}
    for path in (tmp_path / "cache").rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # replaced meanwhile
            if path.is_file():
                contents[path.relative_to(tmp_path / "cache").as_posix()] = path.read_bytes()
    assert contents
    for name, raw in contents.items():
        if re.fullmatch(r".*/\.[^/]*\.tmp", name):
            assert raw.startswith(MAGIC[: len(raw)]) or b'"key"' in raw, name
            continue
        kind = next((is_sealed for form, is_sealed in FILES.items() if re.fullmatch(form, name)), None)
        assert kind is not None, f"{name} should not be there"
        assert not kind or raw.startswith(MAGIC), name
    leaked = {
        word for word in words() for name, raw in contents.items() if word in raw or word in name.encode()
    }
    assert not leaked
    return contents


def generation(project):
    return orjson.loads(project.run("status", "--json").stdout)["index"]["generation"]


async def serve(project, *options, change=""):
    async with project.front(*options) as front:
        await front.until_complete()
        if change:
            (project.root / "auth" / "more.py").write_text(f"def {change}():\n    return 1\n")
            await front.until_found(change, "auth/more.py")
        await asyncio.to_thread(check_disk, project.root.parent)
        for process in project.processes():
            with contextlib.suppress(psutil.NoSuchProcess):  # indexing processes
                assert process.rlimit(psutil.RLIMIT_CORE)[0] == 0
        return await asyncio.to_thread(generation, project)


def test_nothing_of_a_sealed_project_is_readable_on_the_disk(sealed, tmp_path):
    first = asyncio.run(serve(sealed, change="brandnewname"))
    sealed.nothing_left()
    base = sealed.config.sealing.base
    until(lambda: not (base / "home").exists(), "what was plain is gone")
    before = check_disk(tmp_path)
    assert asyncio.run(serve(sealed)) >= first
    sealed.nothing_left()
    until(lambda: not (base / "home").exists(), "what was plain is gone")
    after = check_disk(tmp_path)
    objects = {name for name in before if "objects" in name}
    unchanged = objects & after.keys()
    assert len(unchanged) > len(objects) / 2  # it was opened, not rebuilt
    assert all(before[name] == after[name] for name in unchanged)


def test_a_set_in_a_sandbox_serves_and_seals_and_sees_no_master_key(sealed, tmp_path):
    try:
        sandbox.check(sealed.config)
    except Misconfigured as error:
        pytest.skip(str(error))
    asyncio.run(serve(sealed, "--sandbox", change="inasandbox"))
    sealed.nothing_left()
    until(lambda: not (sealed.config.sealing.base / "home").exists(), "what was plain is gone")
    before = check_disk(tmp_path)
    asyncio.run(serve(sealed, "--sandbox"))
    sealed.nothing_left()
    assert {name for name in before if "objects" in name} & check_disk(tmp_path).keys()
    command = " ".join(sandbox.sandbox_command(sealed.config, ["true"]))
    assert str(tmp_path / "keys") not in command
    assert "CORTEX_KEY" not in " ".join(sandbox.environment())


def test_after_a_kill_the_next_set_opens_the_last_sealed_state(sealed, tmp_path):
    asyncio.run(serve(sealed))
    for pause_s in (0.0, 0.2, 0.4, 0.8, 1.6):

        async def ask(pause_s=pause_s):
            with contextlib.suppress(Exception):
                async with sealed.front() as front:
                    (sealed.root / "auth" / "more.py").write_text(
                        f"def killed{int(pause_s * 10)}():\n    pass\n"
                    )
                    await asyncio.sleep(pause_s)
                    for process in sealed.processes():
                        with contextlib.suppress(psutil.Error):
                            process.kill()
                    with contextlib.suppress(Exception):
                        await asyncio.wait_for(front.call("cortex_search", query="x"), 1)

        asyncio.run(ask())
        sealed.nothing_left()
        check_disk(tmp_path)
    asyncio.run(serve(sealed, change="after_all_kills"))


def test_a_project_that_was_sealed_stays_so_without_the_setting(sealed, tmp_path, monkeypatch):
    done = sealed.run("index", "--encrypt")
    assert done.returncode == 0, done.stderr
    check_disk(tmp_path)
    for name in ("CORTEX_SECURITY_ENCRYPT_INDEX",):
        monkeypatch.delenv(name)
        del sealed.environment[name]
    assert sealed.config.kept_sealed
    asyncio.run(serve(sealed))
    done = sealed.run("index", "--decrypt")
    assert done.returncode == 0, done.stderr
    assert not sealed.config.sealing
    assert not list((tmp_path / "cache" / "sealed").glob("*/objects"))
    assert (configuration.load(sealed.root).index_dir / "CURRENT").is_file()
    done = sealed.run("index", "--encrypt")
    assert done.returncode == 0, done.stderr
    until(lambda: not os.listdir(tmp_path / "cache" / "projects"), "what lay plain is gone")
    sealed.run("down")
    check_disk(tmp_path)


def test_the_doctor_says_where_bytes_and_keys_are_and_what_becomes_of_memory(sealed, tmp_path):
    encryption = {check["name"]: check for check in orjson.loads(sealed.run("doctor", "--json").stdout)}[
        "encryption"
    ]
    for phrase in (
        str(tmp_path / "cache" / "sealed"),
        str(tmp_path / "keys" / "master"),
        f"memory in {tmp_path / 'memory'} will be sealed by its next call",
        "/dev/shm",
    ):
        assert phrase in encryption["text"]
    assert "is in" in sealed.run("key", "show-location").stdout
    sealed.run("down")


@pytest.mark.parametrize("inside", [False, True])
def test_memory_stays_sealed_while_it_is_served_and_after_a_kill(sealed, tmp_path, inside):
    pytest.importorskip("sqlcipher3")
    if inside:
        try:
            sandbox.check(sealed.config)
        except Misconfigured as error:
            pytest.skip(str(error))
        sealed.environment["CORTEX_SECURITY_SANDBOX"] = "1"
    folder = tmp_path / "memory"
    done = sealed.run("memory", "store", "Quokkatown speaks narwhalish", "--tags", "marsupials")
    assert done.returncode == 0, done.stderr

    def check_memory():
        for path in folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                raw = path.read_bytes() if path.is_file() else b""
                assert not re.search(rb"(?i)quokkatown|narwhalish|marsupials", raw), path

    check_memory()
    for process in sealed.processes():
        with contextlib.suppress(psutil.Error):
            process.kill()
    check_memory()
    recalled = sealed.run("memory", "recall", "who speaks narwhalish")
    assert "Quokkatown" in recalled.stdout, recalled.stderr
    sealed.run("memory", "down")
    check_memory()
    base = next((folder / "sealed").glob("KEY")).parent
    assert not (places.plain_of(base) / "home").exists()
    assert (base / "LIST").is_file()
    doctor = {check["name"]: check for check in orjson.loads(sealed.run("doctor", "--json").stdout)}[
        "encryption"
    ]
    assert "no recovery key" in doctor["text"]
    assert doctor["state"] == "odd"
    shutil.rmtree(places.plain_of(base), ignore_errors=True)
    sealed.run("down")


def test_with_another_key_every_tool_says_so_and_nothing_is_written(sealed, tmp_path):
    asyncio.run(serve(sealed))
    sealed.nothing_left()
    before = check_disk(tmp_path)
    (tmp_path / "keys" / "master").write_text("ab" * 32)
    done = sealed.run("search", "check_password")
    assert "another key" in done.stderr
    assert before.items() <= check_disk(tmp_path).items()


def test_a_sealed_project_is_listed_as_sealed_and_never_removed_as_abandoned(sealed):
    asyncio.run(serve(sealed))
    sealed.nothing_left()
    [row] = orjson.loads(sealed.run("projects", "--json").stdout)
    assert (row["state"], row["root"]) == ("sealed", "")
    assert row["bytes"] > 1000
    for path in sealed.config.sealing.store.rglob("*"):
        os.utime(path, (0, 0))
    assert orjson.loads(sealed.run("clean", "--older-than", "1h", "--json").stdout) == []
    stats = orjson.loads(sealed.run("stats", "--json").stdout)
    assert {usage["tool"] for usage in stats["tools"]} >= {"cortex_search", "cortex_exact"}


def test_the_page_of_a_sealed_project_leaves_no_text_in_an_address_or_in_stats(sealed):
    words = "how is a password compared"
    done = sealed.run("up", "--detach", "--http")
    assert done.returncode == 0, done.stderr
    try:

        def link() -> str:
            return sealed.run("open", "--print").stdout.strip()

        with driving() as driver:
            page = Page(driver, None)
            driver.get(until(link, "the page is served"))
            page.find("#fresh[data-state=fine]")
            page.type("#query", words)
            page.shows("check_password", ".found")
            time.sleep(1.2)  # a settled question is an entry of its own
            page.type("#query", "nothing-of-this-kind path:auth/**")
            page.shows("1", "#results")
            until(lambda: page.js("return history.state?.q") == "nothing-of-this-kind path:auth/**", "asked")
            driver.back()
            until(lambda: page.js("return document.querySelector('#query').value") == words, "Back")
            page.shows("check_password", ".found")
            page.js("document.querySelector('.found a.open').click()")
            page.shows("def check_password", ".files .code")
            driver.back()
            page.shows("check_password", ".found")
            for view, field, text, answer in (
                ("Memory", "#q", "why-was-it-decided", "No note matches"),
                ("Graph", "#of", "check_password", "Callers"),
                ("Entry points", "#path", "/orders-of-a-sealed", "No route has"),
            ):
                page.js(
                    "[...document.querySelectorAll('nav a')].find((a) => a.text === arguments[0]).click()",
                    view,
                )
                page.type(field, text)
                page.press(Keys.ENTER)
                page.shows(answer)
                driver.refresh()
                page.shows(answer)
                # The field is filled once its view has read the entry of the history.
                until(lambda f=field, t=text: page.js(VALUE_OF, f) == t, "the field has its text again")
                links = page.js(
                    "return [...document.querySelectorAll('a, [data-place]')].map((a) => a.outerHTML)"
                )
                assert not [link for link in links if text in re.sub(">.*<", "", link, flags=re.DOTALL)]
            logged = [orjson.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
            navigations = driver.execute_cdp_cmd("Page.getNavigationHistory", {})["entries"]
            urls = [entry["url"] for entry in navigations]
        for message in logged:
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.responseReceived" and "/static/" not in str(message):
                headers = {
                    name.lower(): value for name, value in message["params"]["response"]["headers"].items()
                }
                from_server = message["params"]["response"]["url"].startswith("http")
                assert not from_server or headers["cache-control"] == "no-store", message
        assert any("/files?" in url for url in urls)
        texts = ("compared", "nothing-of", "why-was-it-decided", "check_password", "orders-of-a-sealed")
        assert not [url for url in urls if any(text in urllib.parse.unquote(url) for text in texts)]
        assert not [url for url in urls if re.search(r"[?&](q|of|to|tag)=(?!~[0-9a-f]{32}(&|$))[^&]", url)]
        stats = sealed.run("stats", "--json").stdout
        assert "compared" not in stats
        assert "nothing-of" not in stats
    finally:
        sealed.run("down")


def test_a_rotated_key_keeps_the_index_and_a_forgotten_key_removes_it(sealed, tmp_path):
    asyncio.run(serve(sealed))
    sealed.nothing_left()
    store, base = sealed.config.sealing.store, sealed.config.sealing.base
    until(lambda: not (base / "home").exists(), "what was plain is gone")
    before, key = check_disk(tmp_path), (tmp_path / "keys" / "master").read_bytes()
    done = sealed.run("key", "rotate")
    assert "of 1 sealed folders" in done.stdout, done.stderr
    assert (tmp_path / "keys" / "master").read_bytes() != key
    asyncio.run(serve(sealed))
    sealed.nothing_left()
    until(lambda: not (base / "home").exists(), "what was plain is gone")
    assert {name for name in before if "objects" in name} & check_disk(tmp_path).keys()
    assert "Nothing is changed" in sealed.run("key", "forget").stdout
    assert (store / "LIST").is_file()
    done = sealed.run("key", "forget", "--yes")
    assert "is forgotten" in done.stdout, done.stderr
    assert not os.listdir(store)
    assert not (tmp_path / "keys" / "master").exists()
    asyncio.run(serve(sealed))
    assert not {name for name in before if "objects" in name} & check_disk(tmp_path).keys()


@pytest.fixture
def plain(sealed, monkeypatch):
    """As `sealed`, without a setting that asks for encryption."""
    monkeypatch.delenv("CORTEX_SECURITY_ENCRYPT_INDEX")
    del sealed.environment["CORTEX_SECURITY_ENCRYPT_INDEX"]
    return sealed


def call(*arguments):
    """Run a command that takes no project."""
    done = forked_commands.run([*arguments], cwd=Path.cwd(), env=os.environ, timeout=BOUND_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def remove_cache(tmp_path):
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    (tmp_path / "cache").mkdir(mode=0o700)


def test_a_deleted_cache_never_locks_a_sealed_memory(plain, tmp_path):
    pytest.importorskip("sqlcipher3")
    call("memory", "encrypt")
    assert plain.run("memory", "store", "--title", "zebra notes", "--body", "b").returncode == 0
    key = tmp_path / "keys" / "master"
    for lost, command, sentence in (
        ("cache", ("rotate",), "the keys of 2 sealed folders"),
        ("cache and notes", ("forget", "--yes"), f"Memory in {tmp_path / 'memory'} stays"),
    ):
        call("memory", "down")
        plain.run("down")
        remove_cache(tmp_path)
        if lost == "cache and notes":
            shutil.rmtree(tmp_path / "config" / "cortex" / "sealed", ignore_errors=True)
        shown = call("key", "show-location")
        assert str(key) in shown
        assert str(tmp_path / "memory") in shown, lost
        assert plain.run("index", "--encrypt").returncode == 0
        before = key.read_text()
        assert sentence in call("key", *command)
        assert key.read_text() not in ("", before)
        recalled = plain.run("memory", "recall", "zebra")
        assert "zebra notes" in recalled.stdout, (lost, recalled.stderr)
    call("memory", "down")
    plain.run("down")


def test_a_deleted_cache_never_makes_a_sealed_project_plain(plain, tmp_path):
    assert plain.run("index", "--encrypt").returncode == 0
    for lost in ("all", "its sealed folder"):
        plain.run("down")
        plain.nothing_left()
        if lost == "all":
            remove_cache(tmp_path)
        else:
            shutil.rmtree(plain.config.sealing.store)
        answered = plain.run("exact", "check_password")
        assert "auth/login.py" in answered.stdout, (lost, answered.stderr)
        check_disk(tmp_path)
        doctor = orjson.loads(plain.run("doctor", "--json").stdout)
        assert "sealed in" in next(check["text"] for check in doctor if check["name"] == "encryption"), lost
    plain.run("down")
    plain.nothing_left()
    check_disk(tmp_path)
    assert plain.run("index", "--decrypt").returncode == 0
    plain.run("down")
    assert not plain.config.sealing


def test_an_installation_of_today_moves_its_notes_out_of_the_cache(plain, tmp_path):
    """Also where an earlier version sealed the project, and another one is opened first."""
    pytest.importorskip("sqlcipher3")
    assert plain.run("index", "--encrypt").returncode == 0
    call("memory", "encrypt")
    assert plain.run("memory", "store", "--title", "zebra notes", "--body", "b").returncode == 0
    call("memory", "down")
    plain.run("down")
    plain.nothing_left()
    notes = tmp_path / "config" / "cortex" / "sealed"
    for name in ("place.json", "elsewhere.json"):
        (notes / name).rename(tmp_path / "cache" / "sealed" / name)
    shutil.rmtree(notes)
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / "a.py").write_text("def other(): pass\n")
    call("exact", "other", "--project", str(other))
    call("down", "--project", str(other))
    assert sorted(path.name for path in (tmp_path / "cache" / "sealed").glob("*.json")) == []
    remove_cache(tmp_path)
    assert "the keys of 1 sealed folders" in call("key", "rotate")
    assert plain.config.kept_sealed
    recalled = plain.run("memory", "recall", "zebra")
    assert "zebra notes" in recalled.stdout, recalled.stderr
    call("memory", "down")
    plain.run("down")
