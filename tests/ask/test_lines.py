"""Answers of detail "auto": the lines that answer, within a budget, in the order of the ranking."""

import asyncio
import dataclasses

import orjson
import pytest

from cortex.front.tools import TOOLS

QUESTION = "how is a token refreshed before it expires"


def call(served, name="cortex_search", config=None, **arguments):
    tool = TOOLS[name]
    arguments = {"query": QUESTION} | arguments
    return orjson.loads(orjson.dumps(asyncio.run(tool.call(served.context(config), tool.check(arguments)))))


def files(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]


def size(answer):
    return sum(len(orjson.dumps(result["chunk"])) for result in answer["results"])


def lines_of(served, chunk):
    text = (served.config.root / chunk["metadata"]["file_path"]).read_text().split("\n")
    return [
        line.strip() for line in text[chunk["metadata"]["start_line"] - 1 : chunk["metadata"]["end_line"]]
    ]


def test_an_entry_has_only_what_is_used(sample):
    answer = call(sample)
    assert answer["total"] == len(answer["results"]) > 0
    for result in answer["results"]:
        assert set(result) == {"chunk", "combined_score"}
        assert set(result["chunk"]) == {"id", "text", "metadata"}
        assert set(result["chunk"]["metadata"]) <= {"file_path", "start_line", "end_line", "symbol"}
        assert result["combined_score"] == round(result["combined_score"], 2)


@pytest.mark.parametrize(("name", "query"), [("cortex_search", QUESTION), ("cortex_exact", "token")])
def test_a_location_has_only_fields_that_locate(sample, name, query):
    results = call(sample, name, query=query, detail="location")["results"]
    full = {
        result["chunk"]["id"]: result["chunk"]
        for result in call(sample, name, query=query, detail="full")["results"]
    }
    assert results
    for chunk in (result["chunk"] for result in results):
        assert set(chunk) == {"id", "chunk_type", "metadata"}
        assert {"file_path", "start_line", "end_line"} <= set(chunk["metadata"])
        assert set(chunk["metadata"]) <= {"file_path", "start_line", "end_line", "scope"}
        assert chunk["metadata"].items() <= full[chunk["id"]]["metadata"].items()
        assert len(orjson.dumps(chunk)) <= 110 + 2 * len(chunk["metadata"]["file_path"]) + len(
            chunk["id"] + chunk["metadata"].get("scope", "")
        )


def test_the_lines_are_those_of_the_file_without_their_common_indentation(sample):
    for result in call(sample)["results"]:
        visible_lines = [
            line for line in result["chunk"]["text"].split("\n") if not line.startswith("… line ")
        ]
        assert {line.strip() for line in visible_lines} <= set(lines_of(sample, result["chunk"]))
        assert any(line == line.lstrip() for line in visible_lines if line)


def test_files_come_in_the_order_of_the_ranking(sample):
    ranked = list(dict.fromkeys(files(call(sample, detail="location"))))
    shown_files = list(dict.fromkeys(files(call(sample))))
    assert shown_files == [path for path in ranked if path in shown_files]
    assert shown_files[:3] == ranked[:3]


def test_an_answer_keeps_to_its_budget(sample):
    for tokens in (150, 400, 1500):
        assert size(call(sample, max_tokens=tokens)) <= 4 * tokens
    assert size(call(sample, max_tokens=300)) < size(call(sample, max_tokens=1500))


def test_the_setting_says_what_an_answer_may_cost(sample):
    server = dataclasses.replace(sample.config.server, answer_tokens=200)
    small = call(sample, config=dataclasses.replace(sample.config, server=server))
    assert size(small) <= 800 < size(call(sample))


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_limit_that_was_set_gives_that_many_entries(sample, limit):
    answer = call(sample, limit=limit, max_tokens=8000)
    assert answer["total"] == len(answer["results"]) == limit


def test_lines_that_do_not_fit_are_reported(sample):
    answer = call(sample, limit=12, max_tokens=100)
    assert answer["truncated"] is True
    assert "max_tokens" in answer["next"]
    assert 1 <= answer["total"] < 12


def test_a_complete_answer_mentions_no_more_results(sample):
    everything = call(sample, max_tokens=8000)
    assert "truncated" not in everything
    assert "next" not in everything


@pytest.fixture(scope="module")
def pages(tmp_path_factory, serve):
    """A page in three languages, code, and files that record, permit and pin."""
    root = tmp_path_factory.mktemp("pages")
    text = "# Tokens\n\nA token is refreshed before it expires, by a timer.\n"
    record = "A token is refreshed before it expires (#12), by a timer.\n"
    for path, content in {
        "docs/tokens.md": text,
        "docs/ja/tokens.md": text + "トークン\n",
        "docs/fr/tokens.md": text + "Le jeton est renouvelé.\n",
        "CHANGELOG.md": record,
        ".github/ISSUE_TEMPLATE/token.md": record,
        "src/token.py": "def refresh(token):\n    # Refreshed before it expires.\n    return token\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return serve(root)


def test_a_page_is_shown_in_one_language_and_records_not_at_all(pages):
    answer = call(pages)
    assert set(files(answer)) == {"docs/tokens.md", "src/token.py"}
    assert answer["omitted"]["translations"] == 2
    assert answer["omitted"]["records"] == 2


def test_records_are_shown_when_a_question_or_a_filter_asks_for_them(pages):
    assert "CHANGELOG.md" in files(call(pages, query="in which release was the refresh of a token changed"))
    assert files(call(pages, paths=["CHANGELOG.md"])) == ["CHANGELOG.md"]
    assert "docs/ja/tokens.md" in files(call(pages, paths=["docs/**"]))


def test_a_definition_that_the_question_names_is_shown_with_its_signature(sample):
    symbols = [
        result["chunk"]["metadata"]["symbol"]
        for result in call(sample, detail="auto")["results"]
        if "symbol" in result["chunk"]["metadata"]
    ]
    assert symbols
    for symbol in symbols:
        name = symbol.rpartition(".")[2]
        answer = call(sample, query=f"what does `{name}` do")
        assert any(name in result["chunk"]["text"] for result in answer["results"])


def test_a_line_that_a_trace_names_is_shown(sample):
    entry = call(sample)["results"][0]["chunk"]["metadata"]
    trace = f'Traceback:\n  File "/srv/{entry["file_path"]}", line {entry["start_line"]}, in f\nValueError: x'
    spans = [result["chunk"]["metadata"] for result in call(sample, query=trace)["results"]]
    assert any(
        span["file_path"] == entry["file_path"]
        and span["start_line"] <= entry["start_line"] <= span["end_line"]
        for span in spans
    )


def test_windows_of_one_file_do_not_overlap(sample):
    spans = {}
    for result in call(sample, max_tokens=4000)["results"]:
        metadata = result["chunk"]["metadata"]
        spans.setdefault(metadata["file_path"], []).append((metadata["start_line"], metadata["end_line"]))
    for file_spans in spans.values():
        assert all(
            end < start
            for (_, end), (start, _) in zip(sorted(file_spans), sorted(file_spans)[1:], strict=False)
        )


def test_only_the_chosen_kinds_are_shown(sample):
    answer = call(sample, chunk_types=["symbols"])
    assert answer["results"]
    assert {result["chunk"]["id"].partition("-")[2].partition("-")[0] for result in answer["results"]} == {
        "symbols"
    }


def test_the_other_shapes_stay_as_they_are(sample):
    results = call(sample, detail="full")["results"]
    assert len(results) == 15
    assert {"id", "chunk_type", "title", "text", "tags", "metadata"} <= set(results[0]["chunk"])


def kinds(answer):
    return [result["chunk"]["metadata"]["kind"] for result in answer["results"]]


def numbered(answer):
    return [
        (result["chunk"]["metadata"]["file_path"], int(line.partition(": ")[0]), line.partition(": ")[2])
        for result in answer["results"]
        for line in result["chunk"]["text"].split("\n")
    ]


def test_an_identifier_is_answered_with_its_definition_then_its_uses_then_tests(sample):
    answer = call(sample, "cortex_exact", query="rotate")
    order = ["definition", "call", "import", "type", "text", "comment", "test"]
    assert kinds(answer) == sorted(kinds(answer), key=order.index)
    assert kinds(answer)[0] == "definition"
    assert "def rotate" in answer["results"][0]["chunk"]["text"]


def test_each_line_of_an_identifier_has_its_number_and_comes_once(sample):
    answer = call(sample, "cortex_exact", query="refresh_token")
    lines = numbered(answer)
    assert len({(path, number) for path, number, _ in lines}) == len(lines) == answer["total_found"]
    for path, number, text in lines:
        assert (sample.config.root / path).read_text().split("\n")[number - 1].strip() == text


def test_lines_of_views_have_true_numbers_or_none(sample):
    source = (sample.config.root / "src/auth/session.py").read_text().split("\n")
    begins = next(at for at, line in enumerate(source, 1) if "def expire" in line)
    ends = begins + 2

    def search_views(kind, **more):
        query = "expire OR hour"
        more |= {"chunk_types": [kind], "paths": ["src/auth/session.py"]}
        return call(sample, "cortex_exact", query=query, **more)["results"]

    (rows,) = search_views("symbols")
    assert rows["chunk"]["text"] == f"{begins}: - SessionStore.expire (lines {begins}-{ends})"
    lines = [line for result in search_views("definitions") for line in result["chunk"]["text"].split("\n")]
    assert f"{begins}: def expire(self) -> int:" in lines
    assert "# Remove the sessions that are older than an hour." in lines
    (snippet,) = search_views("definitions", detail="snippet")
    assert 0 in snippet["highlight_lines"]


def test_lines_that_do_not_fit_are_counted_and_come_with_the_next_page(sample):
    everything = call(sample, "cortex_exact", query="token", max_tokens=20_000)
    first = call(sample, "cortex_exact", query="token", limit=4)
    assert (everything["truncated"], first["truncated"]) == (False, True)
    assert (everything["total_returned"], first["total_returned"]) == (everything["total_found"], 4)
    assert first["total_found"] == everything["total_found"] == len(numbered(everything))
    second = call(sample, "cortex_exact", query="token", limit=4, offset=4)
    assert numbered(first) + numbered(second) == numbered(everything)[:8]


def test_whole_chunks_of_a_keyword_come_with_highlights(sample):
    result = call(sample, "cortex_exact", query="rotate", detail="full")["results"][0]
    assert {"chunk", "score", "highlights"} <= set(result)
    assert "chunk_type" in result["chunk"]


LEDGER = """class Ledger:
    \"\"\"Keeps what was booked.\"\"\"

    def settle_debts(self, accounts):
        \"\"\"Settle the debts of accounts.\"\"\"
        overdue = self.find_overdue_debts(accounts)
{first}
        if not overdue:
            raise ValueError("no debts of these accounts are overdue")
{second}
        return self.carry_over(overdue)

    def carry_over(self, rows):
        return [row for row in rows if row]

    def rename(self, label):
        return label.title()
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, serve):
    """A long function with relevant lines far from each other, and its callees."""
    root = tmp_path_factory.mktemp("ledger")
    first, second = ("\n".join(f"        {name}_{at} = {at}" for at in range(20)) for name in ("one", "two"))
    (root / "ledger.py").write_text(LEDGER.format(first=first, second=second))
    return serve(root)


def test_lines_that_decide_are_shown_however_far_they_are_from_each_other(ledger):
    text = "\n".join(
        result["chunk"]["text"] for result in call(ledger, query="settle overdue debts")["results"]
    )
    for line in ("def settle_debts", "find_overdue_debts", "raise ValueError", "return self.carry_over"):
        assert line in text
    assert "one_10" not in text
    assert "two_10" not in text


def test_only_callees_of_the_best_function_are_shown_with_it(ledger):
    code = "\n".join(
        result["chunk"]["text"] for result in call(ledger, query="settle overdue debts")["results"]
    )
    assert "return [row for row in rows if row]" in code
    assert "label.title()" not in code


def test_a_limit_that_cuts_the_ranking_says_that_there_is_more(sample):
    everything = len(call(sample, detail="location", limit=100)["results"])
    assert "truncated" not in call(sample, detail="location", limit=100)
    assert "truncated" not in call(sample, detail="location", limit=everything)
    for detail in ("location", "snippet", "full", "auto"):
        assert call(sample, detail=detail, limit=2)["truncated"], detail
    assert call(sample, mode="semantic", detail="location", limit=2)["truncated"]


@pytest.fixture(scope="module")
def alike(tmp_path_factory, serve):
    """A name that eight files import in the same words, a script and a product that fail in the
    same words.
    """
    root = tmp_path_factory.mktemp("alike")
    (root / "core.py").write_text("def used(value):\n    return value\n")
    for n in range(8):
        (root / f"user{n}.py").write_text(
            f"from core import used\n\n\ndef call{n}():\n    return used(value={n % 4})\n"
        )
    (root / "scripts").mkdir()
    (root / "scripts" / "a.py").write_text('raise ValueError("the wheel is stuck")\n')
    (root / "src").mkdir()
    (root / "src" / "z.py").write_text(
        'def turn():\n    pass\n\n\nprint("the wheel is stuck")\nraise ValueError("is stuck")\n'
    )
    return serve(root)


def test_lines_that_are_alike_in_many_files_are_one_with_a_count(alike):
    answer = call(alike, "cortex_exact", query="used")
    imports = [
        result["chunk"] for result in answer["results"] if result["chunk"]["metadata"]["kind"] == "import"
    ]
    places = ", ".join(f"user{n}.py:1" for n in range(1, 8))
    assert [chunk["text"] for chunk in imports] == [f"1: from core import used  ⋯ 7 lines like it: {places}"]
    calls = [result for result in answer["results"] if result["chunk"]["metadata"]["kind"] == "call"]
    assert len(calls) == 8  # each of them is in two files only
    assert answer["omitted"] == {"alike": 7}
    assert answer["total_found"] == 17
    assert answer["total_returned"] == 10


def test_a_counted_limit_returns_every_line(alike):
    answer = call(alike, "cortex_exact", query="used", limit=100)
    assert answer["total_returned"] == answer["total_found"] == 17
    assert "omitted" not in answer


def test_the_product_comes_before_scripts(alike):
    assert files(call(alike, "cortex_exact", query='"the wheel is stuck"')) == ["src/z.py", "scripts/a.py"]


def test_the_ten_best_files_are_shown_or_named(tmp_path, serve):
    (tmp_path / "refresh.py").write_text("def refresh_token_before_it_expires(token):\n    return token\n")
    for at in range(12):
        (tmp_path / f"part{at}.py").write_text(f"def part_{at}(token):\n    return token + {at}\n")
    served = serve(tmp_path)
    answer = call(served)
    named_files = {place.rpartition(":")[0] for place in answer["more"]}
    assert set(files(call(served, detail="location", limit=10))) == named_files | set(files(answer))
    assert all(place.rpartition(":")[2].isdecimal() for place in answer["more"])
    assert "more" not in call(served, limit=3)


ORIGIN = """const isSame = enabled ?
  (function standard() {
    return function isSame(url) {
      return url;
    };
  })() : null;

export default isSame;
"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory, serve):
    """A name with built copies, words together and apart, and a test with many calls."""
    root = tmp_path_factory.mktemp("crowded")
    built = "(function () {\n  " + ORIGIN.replace("export default isSame;", "isSame(1);") + "})();\n"
    spread = "".join(f"notify({at})\n" for at in range(12))
    for path, content in {
        "lib/origin.js": ORIGIN,
        "lib/use.js": 'import isSame from "./origin.js";\n\nexport function use(url) {\n  isSame(url);\n}\n',
        "dist/app.js": built,
        "dist/browser/app.cjs": built,
        "src/events.py": f"{spread}def expire(key):\n    notify(EXPIRED, key)\n    return notify, EXPIRED\n",
        "src/env.py": 'SUFFIX = "KEPT_NAMES"\n',
        "src/words.py": "# Kept names are for people, and kept names stay.\ndef keep():\n    return 1\n",
        "docs/names.md": "# Kept names\n\nOf kept names there are many. See KEPT_NAMES.\n",
        "tests/test_pop.py": "".join(f"def test_{at}():\n    assert pop({at})\n" for at in range(20)),
        "src/pop.py": "def pop(at):\n    return at\n\n\n" + "".join(f"pop({at})\n" for at in range(12)),
        "data/pop.json": "{" + ", ".join(f'"a{at}":\n "pop"' for at in range(12)) + "}\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return serve(root)


def test_built_files_come_last_unless_only_they_define_the_name(crowded):
    answer = call(crowded, "cortex_exact", query="isSame", limit=60)
    shown_files = files(answer)
    first = next(at for at, path in enumerate(shown_files) if path.startswith("dist/"))
    assert {path.partition("/")[0] for path in shown_files[:first]} == {"lib"}
    assert {path.partition("/")[0] for path in shown_files[first:]} == {"dist"}
    assert numbered(answer)[1][1:] == (3, "return function isSame(url) {")
    assert kinds(answer)[0] == "definition"
    lines = [(path, text) for path, _, text in numbered(call(crowded, "cortex_exact", query="isSame"))]
    assert ("lib/origin.js", "return function isSame(url) {  ⋯ 2 lines like it") in lines
    assert ("dist/app.js", "return function isSame(url) {") not in lines


@pytest.fixture(scope="module")
def signs(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("signs")
    (root / "lib").mkdir()
    (root / "lib/a.js").write_text(
        "function getMark (x) {\n  return x.mark\n}\n\nfunction buildPrettyMark (x) {\n  return [x]\n}\n\n"
        "module.exports = { getMark, buildPrettyMark }\n"
    )
    (root / "lib/b.js").write_text(
        "const a = require('./a')\n\nfunction route (opts) {\n  if (opts._mark) {\n    return opts._mark\n  }\n"
        "  opts._mark = a.getMark(opts)\n  opts.total_ = opts.total\n  opts.total = 0\n}\n"
    )
    return serve(root)


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("_mark", ["if (opts._mark) {", "return opts._mark", "opts._mark = a.getMark(opts)"]),
        ('"_mark"', ["if (opts._mark) {", "return opts._mark", "opts._mark = a.getMark(opts)"]),
        ("total_", ["opts.total_ = opts.total"]),
    ],
)
def test_a_name_with_signs_shows_only_lines_that_hold_it_as_spelled(signs, query, lines):
    assert [text for _, _, text in numbered(call(signs, "cortex_exact", query=query))] == lines
    every = [text for _, _, text in numbered(call(signs, "cortex_exact", query=query, limit=100))]
    assert every[: len(lines)] == lines
    assert len(every) > len(lines)


def test_a_name_with_signs_that_no_line_holds_shows_its_word(signs):
    assert numbered(call(signs, "cortex_exact", query="_pretty"))[0][2] == "function buildPrettyMark (x) {"


def test_lines_that_hold_all_words_come_before_those_that_hold_one(crowded):
    lines = numbered(call(crowded, "cortex_exact", query="notify AND expired"))
    assert [text for _, _, text in lines[:2]] == ["notify(EXPIRED, key)", "return notify, EXPIRED"]
    assert [text for _, _, text in lines[2:]] == [f"notify({at})" for at in range(8)]
    answer = call(crowded, "cortex_exact", query="notify AND expired")
    assert (answer["omitted"], answer["total_found"]) == ({"a part": 4}, 14)
    assert call(crowded, "cortex_exact", query="notify AND expired", limit=100)["total_returned"] == 14
    either = numbered(call(crowded, "cortex_exact", query="notify OR expired"))
    assert either[0][2] != "return notify, EXPIRED"
    assert len(either) >= len(lines)


def test_a_term_as_it_is_spelled_comes_before_its_words(crowded):
    lines = numbered(call(crowded, "cortex_exact", query="KEPT_NAMES"))
    assert [(path, number) for path, number, _ in lines[:2]] == [("src/env.py", 1), ("docs/names.md", 3)]
    assert ("src/words.py", 1) in [(path, number) for path, number, _ in lines]


def test_many_lines_of_one_test_or_data_file_are_a_few_with_a_count(crowded):
    answer = call(crowded, "cortex_exact", query="pop")
    lines_by_path = {path: [text for at, _, text in numbered(answer) if at == path] for path in files(answer)}
    assert len(lines_by_path["src/pop.py"]) == 13
    assert len(lines_by_path["tests/test_pop.py"]) == 5
    assert lines_by_path["tests/test_pop.py"][-1].endswith("  ⋯ 15 more lines of this file")
    assert lines_by_path["data/pop.json"][-1].endswith("  ⋯ 7 more lines of this file")
    assert answer["omitted"] == {"same file": 22}
    assert answer["total_found"] == 45
    for arguments in ({"limit": 100}, {"paths": ["tests/**", "src/**", "data/**"]}):
        assert call(crowded, "cortex_exact", query="pop", **arguments)["total_returned"] == 45
