"""A program that makes the pictures of the page's views in docs/pictures.

Serves a copy of two folders of this repository, opens each view in a Chromium without a window,
and ends every process again. Needs the packages chromium and chromium-driver.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from demo import CORTEX
from picture import FOLDERS
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).resolve().parent.parent
#: picture → path of the page, and the element that it waits for
VIEWS = {
    "search": ("/search?" + urlencode({"q": "where is the configuration read and checked"}), ".found"),
    "file": ("/files?path=cortex/settings/consent/trust.py#L30-L34", ".files .code"),
    "graph": ("/graph?" + urlencode({"of": "cortex/settings/consent/trust.py"}), "canvas"),
    "entries": ("/entries", "tbody"),
    "project": ("/project", "#tiles svg"),
    "memory": ("/memory?merge=1,2", ".merge"),
    "health": ("/state", "#times canvas"),
}
#: the folder with routes for the entry points, and its name in the copy
ROUTES = ("tests/golden/routes/fastapi", "shop")
#: replaces a path of this machine in all texts of the page
HIDE = """const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(arguments[0], arguments[1]);"""
#: titles of notes for the picture of memory
TITLES = ("Retries back off", "Retries use back-off with jitter", "Refunds are booked at night")
WIDTH, HEIGHT = 1080, 600
#: bytes of the largest picture that fits the documents
BYTES_MAX = 150_000
#: seconds until a copy is served, and until an element is shown
SERVED_S, SHOWN_S = 180.0, 60.0
#: seconds until a graph is laid out
SETTLE_S = 2.0


def run(*arguments: str) -> str:
    """Return a command's output; its standard error goes to the terminal."""
    done = subprocess.run(
        [CORTEX, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout.strip()


def link_of(project: Path) -> str:
    """Start the server of `project`, and return a link to its page."""
    run("up", "--detach", "--http", "--project", str(project))
    deadline = time.monotonic() + SERVED_S
    while not json.loads(run("status", "--json", "--project", str(project)) or "{}").get("http"):
        if time.monotonic() > deadline:
            sys.exit(f"{project} is not served after {SERVED_S:g} s; `cortex status` says why.")
        time.sleep(0.2)
    return run("open", "--print", "--project", str(project))


def chromium() -> webdriver.Chrome:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (program and driver):
        sys.exit("chromium and chromedriver are needed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("headless=new", "no-sandbox", "hide-scrollbars", f"window-size={WIDTH},{HEIGHT}"):
        options.add_argument(f"--{argument}")
    return webdriver.Chrome(options, webdriver.ChromeService(driver))


def picture(browser: webdriver.Chrome, address: str, awaited: str) -> bytes:
    """Return a PNG of `address` once the page has loaded."""
    browser.get(address)
    wait = WebDriverWait(browser, SHOWN_S)
    for selector in (awaited, "#fresh[data-state=fine]"):
        wait.until(lambda driver, selector=selector: driver.find_elements("css selector", selector))
    time.sleep(SETTLE_S)  # a picture of the graph is laid out after its element exists
    browser.execute_script("document.activeElement?.blur()")
    for path, shown in ((os.environ["CORTEX_HOME"].removesuffix("/home"), "~"), (sys.prefix, "~/.local")):
        browser.execute_script(HIDE, path, shown)
    return browser.get_screenshot_as_png()


def pictures(link: str, names: list[str]) -> dict[str, bytes]:
    browser = chromium()
    try:
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        light = {"name": "prefers-color-scheme", "value": "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [light]})
        browser.get(link)
        WebDriverWait(browser, SHOWN_S).until(
            lambda driver: driver.find_elements("css selector", "main.search")
        )
        server = link.partition("/enter")[0]
        return {name: picture(browser, server + VIEWS[name][0], VIEWS[name][1]) for name in names}
    finally:
        browser.quit()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("views", nargs="*", default=list(VIEWS), help=", ".join(VIEWS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cortex-page-") as folder:
        project = Path(folder).resolve() / "demo"
        project.mkdir()
        for variable, name in (
            ("CORTEX_HOME", "home"),
            ("CORTEX_MEMORY_DATA_DIR", "memory"),
            ("XDG_CONFIG_HOME", "config"),
        ):  # keeps out of the user's settings and memory
            os.environ[variable] = str(Path(folder).resolve() / name)
        for name, target in (*zip(FOLDERS, FOLDERS, strict=True), ROUTES):
            shutil.copytree(ROOT / name, project / target, ignore=shutil.ignore_patterns("__pycache__"))
        (project / ".git").mkdir()
        try:
            run("index", "--project", str(project))
            for title in TITLES:
                run("memory", "store", title, "--kind", "decision", "--project", str(project))
            images = pictures(link_of(project), options.views)
        finally:
            run("down", "--project", str(project))
            run("memory", "down")
    options.out.mkdir(exist_ok=True)
    for name, raw in images.items():
        if len(raw) > BYTES_MAX:
            sys.exit(f"{name} has {len(raw)} bytes, more than {BYTES_MAX}.")
        (options.out / f"{name}.png").write_bytes(raw)
        print(f"{options.out / name}.png: {len(raw)} bytes, {WIDTH} × {HEIGHT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
