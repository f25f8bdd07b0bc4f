"""A program that makes docs/page.png, the README's picture of the page, from the demo's project.

Serves a scratch copy of this repository, as scripts/demo does, enters a question in a Chromium
without a window, and ends every process again. Needs the packages chromium and chromium-driver.
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

from demo import CORTEX, scratch_copy
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).resolve().parent.parent
#: the question in the picture, as a person would write it
QUESTION = "where are search results ranked"
WIDTH, HEIGHT = 1280, 800
#: bytes of the largest picture that fits a README
BYTES_MAX = 300_000
#: seconds until a copy is served, and until an element is shown
SERVED_S, SHOWN_S = 180.0, 60.0


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


def picture(link: str, place: str, *, dark: bool) -> bytes:
    """Return a PNG of `place` once the page has loaded."""
    browser = chromium()
    try:
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.get(link)
        wait = WebDriverWait(browser, SHOWN_S)
        wait.until(lambda driver: driver.find_elements("css selector", "main.search"))
        browser.get(link.partition("/enter")[0] + place)
        wait.until(
            lambda driver: driver.find_elements(
                "css selector", ".found, .map, .plot canvas, #results .notice"
            )
        )
        wait.until(lambda driver: driver.find_elements("css selector", "#fresh[data-state=fine]"))
        browser.execute_script("document.activeElement?.blur()")
        return browser.get_screenshot_as_png()
    finally:
        browser.quit()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "page.png")
    parser.add_argument(
        "--place", default="/search?" + urlencode({"q": QUESTION}), help="path of the page to show"
    )
    parser.add_argument("--dark", action="store_true")
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
        scratch_copy(ROOT, project)
        try:
            run("index", "--project", str(project))
            raw = picture(link_of(project), options.place, dark=options.dark)
        finally:
            run("down", "--project", str(project))
            run("memory", "down")
    if len(raw) > BYTES_MAX:
        sys.exit(f"The picture has {len(raw)} bytes, more than {BYTES_MAX}; nothing was written.")
    options.out.write_bytes(raw)
    print(f"{options.out}: {len(raw)} bytes, {WIDTH} × {HEIGHT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
