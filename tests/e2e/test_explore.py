"""cortex_explore through the official client and from the shell, over real workers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

CORTEX = str(Path(sys.executable).parent / "cortex")
PAGE = "from auth.login import check_password\n\n\ndef sign_in(name, word):\n    return check_password(name, word)\n"
DIFF = """--- a/auth/page.py
+++ b/auth/page.py
@@ -4,2 +4,2 @@
 def sign_in(name, word):
-    return None
+    return check_password(name, word)
"""


@pytest.fixture(scope="module")
def sources(shared_project):
    (shared_project.root / "auth" / "page.py").write_text(PAGE)
    return shared_project


def test_one_question_brings_the_chain_of_calls_to_the_agent(sources):
    async def ask():
        async with sources.front() as front:
            await front.until_complete()
            await front.until_found("sign_in", "auth/page.py")
            return (
                await front.call("cortex_explore", query="how does signing in check the password"),
                await front.call("cortex_explore", diff=DIFF),
            )

    answer, changed = asyncio.run(ask())
    assert answer["path"] == "sign_in → check_password"
    assert [function["file"] for function in answer["functions"][:2]] == ["auth/page.py", "auth/login.py"]
    assert answer["index"]["degraded"] == []
    assert [function["symbol"] for function in changed["functions"]] == ["sign_in"]


def test_a_diff_is_piped_into_the_command(sources):
    sources.run("index")
    printed = sources.run("explore", "auth/page.py:5")
    assert printed.returncode == 0
    assert printed.stdout.startswith("sign_in → check_password\n")
    done = subprocess.run(
        [CORTEX, "explore", "--diff", "--json", "--project", str(sources.root)],
        input=DIFF.encode(),
        capture_output=True,
        cwd=sources.root,
        env=os.environ | sources.environment,
        check=True,
        timeout=60,
    )
    assert [function["symbol"] for function in json.loads(done.stdout)["functions"]] == ["sign_in"]
