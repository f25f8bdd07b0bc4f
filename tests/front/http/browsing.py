"""Helpers for tests of the page in a real browser; the fixtures are in conftest."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest

from cortex.indexer.run import index
from cortex.memory.library import Library
from cortex.publish.builder import Builder
from tests.conftest import SAMPLE, open_project
from tests.front.conftest import MemoryInProcess
from tests.front.http.conftest import CountingLink, serving
from tests.wait_until import BOUND_S, until

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
#: text that must never become markup
HOSTILE = '"><img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'
#: name of a file with markup in its name and content
HOSTILE_NAME = 'src/<img src=x onerror="window.hurt=1">.py'
FILES = SAMPLE | {
    HOSTILE_NAME: f"def hostile_sentinel():\n    '''{HOSTILE}'''\n    return 1  # <em>hostile</em>\n",
}
#: axe-core's impacts that count as faults
SERIOUS = ("serious", "critical")


class LinkWithMemory(CountingLink):
    """A link with its own memory, opened in the server's thread at the first call."""

    def __init__(self, served, data):
        super().__init__(served)
        self.data = data
        self.library = None

    async def call(self, tool, arguments, caller=None):
        self.calls.append((tool.name, caller))
        checked = tool.check(arguments)
        context = self.served.context()
        memory = self.memory
        if caller is not None and caller.channel == "cli":
            memory.source = replace(memory.source, channel="cli", trust="user")
        context = replace(context, memory=memory)
        return await tool.call(context, checked)

    @property
    def memory(self):
        if self.library is None:
            self.library = Library.open(self.data)
        return MemoryInProcess(self.library)

    async def close(self):
        await super().close()
        if self.library is not None:
            self.library.close()
            self.library = None


@dataclass
class Town:
    """The project that the page shows, and its server."""

    served: object
    server: object

    def save(self, name, text):
        """Save a file, and serve it at once."""
        path = self.served.config.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        index(self.served.config)
        with contextlib.closing(Builder(self.served.config)) as builder:
            while builder.refresh() is not None:
                pass
        for worker in self.served.workers.values():
            worker.reload()


class Page:
    """A window of the browser, on the page of `town`."""

    def __init__(self, driver, town):
        self.driver, self.town = driver, town

    def open(self, place):
        self.driver.get(self.town.server.url + place)
        return self

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def find(self, css):
        """Return the element, as soon as it exists."""
        return until(lambda: self.all(css), css)[0]

    def text(self, css="main"):
        """Return its text, in one step: between two steps the element may be replaced."""
        script = f"const found = document.querySelector({css!r}); return found ? [found.innerText] : null"
        return until(lambda: self.js(script), css)[0]

    def shows(self, words, css="main"):
        """Wait until `words` are shown."""
        until(lambda: words in self.js(f"return document.querySelector({css!r})?.innerText ?? ''"), words)

    def js(self, script, *values):
        return self.driver.execute_script(script, *values)

    def type(self, css, text):
        field = self.find(css)
        field.clear()
        field.send_keys(text)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def dark(self, on=True):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def faults(self):
        """Return the errors in the browser's console."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self):
        """Return the URLs requested since the last call."""
        logged = (orjson.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [
            entry["params"]["request"]["url"]
            for entry in logged
            if entry["method"] == "Network.requestWillBeSent"
        ]

    def serious_faults(self):
        """Return (rule, element, summary) of each serious fault that axe-core finds."""
        self.js(AXE.read_text(encoding="utf-8"))
        violations = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document).then((r) => done(r.violations), (e) => done([e]))"
        )
        return [
            (violation["id"], node["html"][:200], node.get("failureSummary"))
            for violation in violations
            if violation.get("impact") in SERIOUS
            for node in violation["nodes"]
        ]

    def overflows(self):
        """Return the pixels by which the page is wider than its window."""
        return self.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


@contextlib.contextmanager
def driving():
    """A headless Chromium that can reach this machine alone."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("The page is tested in a browser: apt-get install chromium chromium-driver.")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "disable-background-networking",
        "disable-component-update",
        "no-first-run",
        "no-proxy-server",
        "host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "window-size=1280,900",
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(chromedriver))
    browser.set_page_load_timeout(BOUND_S)
    browser.set_script_timeout(BOUND_S)
    try:
        yield browser
    finally:
        browser.quit()


@contextlib.contextmanager
def built(folder, empty):
    """Build a small project with hostile names in `folder`, its memory, and its server."""
    root = folder / "town"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    served = open_project(root)
    data = shutil.copytree(empty, root.with_name("memory"), copy_function=shutil.copy)
    link = LinkWithMemory(served, data)
    with serving(served, make=lambda _config: link) as server:
        server.link = link
        yield Town(served, server)
