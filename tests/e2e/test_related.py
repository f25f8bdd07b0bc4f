"""find_related through the official client and from the shell, over real workers."""

from __future__ import annotations

import asyncio
import json

import pytest

pytestmark = pytest.mark.e2e

SOURCES = {
    "auth/page.py": "from auth.login import check_password\n\n\ndef sign_in(name, word):\n    return check_password(name, word)\n",
    "tests/test_login.py": "from auth.login import check_password\n\n\ndef test_login():\n    assert check_password('a', 'abcdefg')\n",
    "docs/login.md": "# Login\n\n`check_password` compares in constant time.\n",
}


@pytest.fixture(scope="module")
def sources(shared_project):
    for name, text in SOURCES.items():
        path = shared_project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return shared_project


def test_a_search_result_leads_to_its_callers_tests_and_documents(sources):
    async def ask():
        async with sources.front() as front:
            await front.until_complete()
            await front.until_found("sign_in", "auth/page.py")
            search = await front.call(
                "cortex_search", query="check the password", paths=["auth/login.py"], limit=1
            )
            chunk = search["results"][0]["chunk"]
            by_id = await front.call("find_related", chunk_id=chunk["id"])
            by_line = await front.call("find_related", file="auth/login.py", line=7, limit="3")
            wrong = ({"chunk_id": "code-no"}, {"file": "no.py", "line": 3}, {}, {"line": 3})
            errors = [await front.session.call_tool("find_related", arguments) for arguments in wrong]
            return by_id, by_line, errors

    by_id, by_line, errors = asyncio.run(ask())
    for answer in (by_id, by_line):
        assert answer["target"]["file"] == "auth/login.py"
        assert [row["id"] for row in answer["callers"]] == ["auth/page:sign_in"]
        assert [row["file"] for row in answer["tests"]] == ["tests/test_login.py"]
        assert set(answer["tests"][0]["why"]) >= {"calls", "name", "imports"}
        assert [row["chunk"]["metadata"]["file_path"] for row in answer["documents"]] == ["docs/login.md"]
        assert answer["similar"]
        assert answer["index"]["generation"] > 0
        assert answer["index"]["degraded"] == []
        assert "embedding" not in json.dumps(answer)
    assert all(error.is_error for error in errors)
    sentences = [error.content[0].text for error in errors]
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)
    assert "code-no" in sentences[0]
    assert "no.py" in sentences[1]


def test_places_related_to_a_line_are_shown_in_the_shell(sources):
    sources.run("index")
    printed = sources.run("related", "auth/login.py:7")
    assert printed.returncode == 0
    assert "auth/page.py:5  sign_in: " in printed.stdout
    answer = json.loads(sources.run("related", "auth/login.py:7", "--json").stdout)
    by_chunk_id = json.loads(sources.run("related", answer["target"]["chunk_id"], "--json").stdout)
    assert by_chunk_id["target"]["chunk_id"] == answer["target"]["chunk_id"]
    unknown = sources.run("related", "nowhere.py")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == (
        "cortex: There is no file 'nowhere.py' in the index; pass its path below the project's root.\n"
    )
