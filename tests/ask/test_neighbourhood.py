"""cortex_explore for a place and for a symbol: first its own lines, then its surroundings; and the
names of callees that an answer does not show.
"""

import asyncio
import re

import orjson
import pytest

from cortex.ask.exploring.explore import explore
from cortex.ask.questions import Explore
from tests.consent import trust_files

STEPS = "\n".join(f"    step_{at} = first_of(parcel, {at})" for at in range(60))
METHODS = "\n\n".join(
    f'    def part_{at}(self, value):\n        """Give part {at} of all that is in a parcel."""\n        return value + {at}'
    for at in range(12)
)
CLIENT = '''
    {word}def send_request(self, request):
        """Send a request and follow where the response leads."""
        response = {wait}self.transport.handle(request)
        while has_redirect(response):
            request = self.build_redirect(request, response)
            response = {wait}self.transport.handle(request)
        return response
'''
POST = {
    "post/sorting.py": f'''"""Sorts parcels."""


def first_of(parcel, at):
    """Give the first thing of a parcel."""
    return parcel[at]


def sort_parcels(
    parcel,
):
    """Sort what is in a parcel.

    A long comment that says
    the same as the code.
    """
{STEPS}
    return weigh_parcel(parcel)


def weigh_parcel(parcel):
    """Weigh it."""
    if parcel:
        return len(parcel)
    return 0


def deliver(parcel):
    """Deliver a parcel to its door."""
    sort_parcels(parcel)
    return weigh_parcel(parcel)


def send_back(parcel):
    return weigh_parcel(parcel)
''',
    "post/parts.py": f'''class Parts:
    """Parts of a parcel."""

    limit = 12

    # What follows is about the edge of a parcel,
    # which is never sent.
    edge = None

{METHODS}
''',
    "post/client.py": f'''"""Sends requests."""


def has_redirect(response):
    """Whether a response leads elsewhere."""
    return response.status in (301, 302)


def origin_of(url):
    """Where a url begins."""
    return url.split("/")[0]


class BaseClient:
    def build_redirect(self, request, response):
        """Build the request that follows a redirect."""
        method = self.method_after(request, response)
        headers = self.headers_after(request, response)
        return request.copy(method=method, headers=headers)

    def method_after(self, request, response):
        return "GET" if response.status == 302 else request.method

    def headers_after(self, request, response):
        kept = dict(request.headers)
        if origin_of(request.url) != origin_of(response.url):
            kept.pop("authorization")
        return kept


class Client(BaseClient):{CLIENT.format(word="", wait="")}

class AsyncClient(BaseClient):{CLIENT.format(word="async ", wait="await ")}''',
    "tests/test_sorting.py": """from post.sorting import weigh_parcel


def test_nothing_weighs_nothing():
    assert weigh_parcel([]) == 0
""",
    "tests/test_parts.py": "import post.parts\n\n\ndef test_names():\n    assert vars(post.parts)\n",
    "docs/notes.md": "# Notes\n\nSee `post/sorting.py` for how parcels go; `weigh_parcel` weighs them.\n",
    "CHANGELOG.md": "# 2.0\n\n- `sort_parcels` is faster (post/sorting.py)\n",
}
LINES = POST["post/sorting.py"].split("\n")
PARTS = POST["post/parts.py"].split("\n")


@pytest.fixture(scope="module")
def post(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("post")
    for name, text in POST.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def ask(served, query, **more):
    return orjson.loads(orjson.dumps(asyncio.run(explore(served.context(), Explore(query, **more)))))


def symbols(answer):
    return [entry["symbol"] for entry in answer["functions"]]


def line_of(lines, text):
    return next(at for at, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("step", [0, 7, 31, 59])
def test_the_asked_line_and_those_next_to_it_have_the_first_claim_on_the_budget(post, step):
    answer = ask(post, f"post/sorting.py:{line_of(LINES, f'step_{step} =')}", max_tokens=300)
    text = answer["functions"][0]["text"]
    assert symbols(answer) == ["sort_parcels"]
    assert text.startswith("def sort_parcels(\n    parcel,\n):")
    steps = [int(line.split()[0].removeprefix("step_")) for line in text.split("\n") if "step_" in line]
    assert step in steps
    assert steps == list(range(steps[0], steps[-1] + 1))
    assert len(steps) >= 8
    assert answer["truncated"] is True
    assert len(orjson.dumps(answer)) <= 1200


def test_a_definition_at_a_place_that_fits_is_whole(post):
    answer = ask(post, f"post/sorting.py:{line_of(LINES, 'return len(parcel)')}", max_tokens=300)
    assert symbols(answer)[0] == "weigh_parcel"
    assert "⋯" not in answer["functions"][0]["text"]


def test_a_comment_at_the_top_gives_way_to_code_unless_it_is_asked_about(post):
    code = ask(post, f"post/sorting.py:{line_of(LINES, 'step_0 =')}", max_tokens=300)
    assert "A long comment" not in code["functions"][0]["text"]
    comment = ask(post, f"post/sorting.py:{line_of(LINES, 'A long comment')}", max_tokens=300)
    assert "A long comment" in comment["functions"][0]["text"]


def test_lines_of_a_file_are_shown_as_they_are(post):
    first, last = line_of(LINES, "return weigh_parcel"), line_of(LINES, "def deliver") + 2
    (entry,) = ask(post, f"post/sorting.py:{first}-{last}")["functions"]
    assert ask(post, f"post\\sorting.py#L{first}-L{last}")["functions"] == [entry]
    assert (entry["start_line"], entry["end_line"]) == (first, last)
    assert [line.strip() for line in entry["text"].split("\n")] == [
        line.strip() for line in LINES[first - 1 : last]
    ]


@pytest.mark.parametrize("max_tokens", [300, 2500])
def test_lines_inside_of_one_definition_come_first_and_the_rest_of_it_behind_them(post, max_tokens):
    first = line_of(LINES, "step_20 =")
    for span in (f"{first}-{first + 9}", f"{first + 9}-{first}"):
        answer = ask(post, f"post/sorting.py:{span}", max_tokens=max_tokens)
        focus, around, *_ = answer["functions"]
        assert [focus["symbol"], around["symbol"]] == ["sort_parcels", "sort_parcels"]
        assert (focus["start_line"], focus["end_line"]) == (first, first + 9)
        assert focus["text"].split("\n") == [line.strip() for line in LINES[first - 1 : first + 9]]
        assert around["text"].startswith("def sort_parcels(")
        assert f"⋯ {first}-{first + 9}" in around["text"] or max_tokens == 300
        assert "step_25 =" not in around["text"]
        assert len(orjson.dumps(answer)) <= 4 * max_tokens


def test_lines_that_are_all_of_a_definition_come_once(post):
    first = line_of(LINES, "def send_back")
    answer = ask(post, f"post/sorting.py:{first}-{first + 1}")
    assert symbols(answer).count("send_back") == 1


def test_a_place_between_members_is_not_about_all_of_the_type(post):
    answer = ask(post, f"post/parts.py:{line_of(PARTS, 'which is never sent')}")
    assert symbols(answer) == ["post/parts.py:1", "Parts.part_0"]
    assert "edge = None" in answer["functions"][0]["text"]
    assert "def" not in answer["functions"][0]["text"]
    between = ask(post, f"post/parts.py:{line_of(PARTS, 'def part_5') - 1}")
    assert symbols(between)[-1] == "Parts.part_5"
    assert "path" not in between


def test_the_line_that_begins_a_type_is_about_the_type(post):
    answer = ask(post, "post/parts.py:1", max_tokens=400)
    assert symbols(answer)[0] == "Parts"
    text = answer["functions"][0]["text"]
    assert all(f"def part_{at}(self, value):" in text for at in range(12))
    assert "limit = 12" in text
    assert "return value" not in text


@pytest.mark.parametrize(("span", "last"), [("9000", "return value + 11"), ("1-999999999", "edge = None")])
def test_lines_behind_the_end_of_a_file_are_reported(post, span, last):
    answer = ask(post, f"post/parts.py:{span}")
    assert re.search(r"^post/parts\.py ends at line \d+\.$", answer["suggestion"])
    assert last in answer["functions"][0]["text"]


def test_a_symbol_comes_first_and_its_callers_are_lines(post):
    answer = ask(post, "weigh_parcel")
    assert symbols(answer) == ["weigh_parcel"]
    assert {caller["symbol"] for caller in answer["callers"]} == {"sort_parcels", "deliver", "send_back"}
    assert all(caller["text"].endswith("weigh_parcel(parcel)") for caller in answer["callers"])


MANY = "from post.sorting import first_of\n" + "".join(
    f"\n\ndef take_{at}(parcel):\n    return first_of(parcel, {at})\n" for at in range(17)
)


@pytest.mark.parametrize("count", [1, 2])
def test_callers_that_are_not_listed_are_counted(tmp_path, serve, count):
    (tmp_path / "post").mkdir()
    (tmp_path / "post/sorting.py").write_text("def first_of(parcel, at):\n    return parcel[at]\n")
    for at in range(count):  # callers of one name in different files are several
        (tmp_path / f"post/take{at}.py").write_text(MANY)
    served = serve(tmp_path)
    sentence = (
        f"4 of {17 * count} callers are listed; cortex_graph callers of post/sorting:first_of lists all."
    )
    for query in ("first_of", "post/sorting.py:1"):
        answer = ask(served, query)
        assert len(answer["callers"]) == 4
        assert answer["truncated"]
        assert answer["note"] == sentence
    small = ask(served, "first_of", max_tokens=200)
    assert small["note"].endswith(sentence.replace("4 of", f"{len(small.get('callers', ()))} of"))
    question = ask(served, "Which function returns the first thing of a parcel?")
    assert re.search(r"\d of \d+ callers are listed; cortex_graph callers of ", question["note"])


def test_callers_of_which_the_graph_gives_a_part_are_more_than_those(tmp_path, serve):
    (tmp_path / "core.py").write_text("def first_of(parcel, at):\n    return parcel[at]\n")
    calls = "".join(f"\n\ndef take_{at}(parcel):\n    return first_of(parcel, {at})\n" for at in range(120))
    (tmp_path / "uses.py").write_text(f"from core import first_of\n{calls}")
    assert ask(serve(tmp_path), "first_of")["note"].startswith("4 of more than 100 callers are listed;")


def test_callers_that_are_all_listed_need_no_note(post):
    assert "note" not in ask(post, "weigh_parcel")


def test_callees_of_a_symbol_are_shown_after_it_or_named(post):
    answer = ask(post, "BaseClient.build_redirect")
    assert symbols(answer) == [
        "BaseClient.build_redirect",
        "BaseClient.method_after",
        "BaseClient.headers_after",
    ]
    small = ask(post, "deliver", max_tokens=300)
    assert symbols(small)[0] == "deliver"
    assert any(name.startswith("sort_parcels post/sorting.py:") for name in small["calls"])


def test_tests_and_documents_of_a_symbol_are_those_that_name_it(post):
    answer = ask(post, "weigh_parcel")
    assert [test["tests"] for test in answer["tests"]] == [["test_nothing_weighs_nothing"]]
    assert [document["file"] for document in answer["documents"]] == ["docs/notes.md"]
    place = ask(post, f"post/sorting.py:{line_of(LINES, 'return parcel[at]')}")
    assert "documents" not in place
    assert "tests" not in ask(post, f"post/parts.py:{line_of(PARTS, 'return value + 3')}")


FOLLOWS = "How does the client send a request and follow a redirect of its response?"


def test_an_async_copy_is_named_and_not_shown(post):
    answer = ask(post, FOLLOWS)
    sends = [entry for entry in answer["functions"] if entry["symbol"].endswith(".send_request")]
    assert len(sends) == 1
    (other,) = {"Client.send_request", "AsyncClient.send_request"} - {sends[0]["symbol"]}
    (twin,) = sends[0]["twins"]
    assert (twin["symbol"], twin["file"]) == (other, "post/client.py")
    assert "self.build_redirect(request, response)" in twin["text"]
    assert len([line for line in twin["text"].split("\n") if not line.startswith("⋯")]) <= 2


def test_hidden_callees_of_shown_functions_are_named(post):
    for max_tokens in (300, 400, 2500):
        answer = ask(post, FOLLOWS, max_tokens=max_tokens)
        names = [*symbols(answer), *(name.partition(" ")[0] for name in answer.get("calls", ()))]
        assert len(names) == len(set(names))
        if "BaseClient.build_redirect" in symbols(answer):
            assert "BaseClient.method_after" in names
        assert len(orjson.dumps(answer)) <= 4 * max_tokens
    assert {"BaseClient.method_after", "BaseClient.headers_after", "has_redirect"} <= set(names)


def test_a_definition_of_many_small_chunks_is_shown_without_gaps(tmp_path, serve):
    chunks = [
        {
            "id": f"code-long-{first}",
            "chunk_type": "code",
            "text": "\n".join(f"    step_{at:02d}()" for at in range(first, first + 5)),
            "metadata": {"source": "code", "file_path": "long.py", "language": "python"}
            | {"start_line": first, "end_line": first + 4}
            | (
                {"definitions": [{"name": "go_on", "kind": "function", "start_line": 1, "end_line": 60}]}
                if first == 1
                else {}
            ),
        }
        for first in range(1, 61, 5)
    ]
    (tmp_path / ".cortex/chunks").mkdir(parents=True)
    (tmp_path / ".cortex/chunks/long.json").write_bytes(orjson.dumps(chunks))
    trust_files(tmp_path)
    (tmp_path / "long.py").write_text(
        "def go_on():\n" + "".join(f"    step_{at:02d}()\n" for at in range(2, 61))
    )
    answer = ask(serve(tmp_path), "long.py:9", max_tokens=4000)
    assert "step_09()" in answer["functions"][0]["text"]
    assert "step_27()" in answer["functions"][0]["text"]
