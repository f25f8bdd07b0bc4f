"""Keyword search and ranking signals over a real index: hits, their rendering, and sentences for
answers without hits.
"""

import re
import unicodedata
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from cortex.engines.text.index.writer import TextWriter
from cortex.engines.text.snapshot import open_text
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import BadRequest, Damaged, NotFound
from ipc.messages import ExactSearch, Filters, TextSignals
from tests.drawn_examples import scaled

DOCS = Path(__file__).parents[2] / "docs" / "SEARCH.md"


def chunk(
    id_, text, kind="code", path="internal/auth/handler.go", *, line=1, tags=("Go", "code"), **metadata
):
    end = line + text.count("\n")
    metadata = {"file_path": path, "language": "go", "start_line": line, "end_line": end, **metadata}
    return {
        "id": id_,
        "chunk_type": kind,
        "title": f"{path} {kind}",
        "text": text,
        "tags": list(tags),
        "metadata": metadata,
    }


def open_chunks(folder, chunks):
    rows = [Row(at, body, "f.json", bytes(16), None, "m") for at, body in enumerate(chunks, 1)]
    write_rows(folder / "1.seg", rows, 4)
    opened = assemble(1, "m", 4, (open_segment(folder / "1.seg"),), np.zeros(0, "<u8"))
    writer = TextWriter(folder / "text", "")
    name = writer.build(1, ((row.key, row.chunk) for row in rows), [])
    writer.close()
    return open_text(folder / "text" / name, opened)


HANDLER = """package auth

// error handling for AuthHandler
func getUserById(id int) *User {
\tvar mu sync.RWMutex
\treturn foo(id)
}"""
SAMPLE = [
    chunk(
        "handler",
        HANDLER,
        definitions=[{"name": "getUserById", "kind": "function"}],
        comment_text="error handling",
    ),
    chunk(
        "type",
        "type AuthHandler struct {\n\tnext *AuthHandler // handler controller TODO: later\n\tp Provider\n}\n\nx->next",
        line=8,
        definitions=[{"name": "AuthHandler", "kind": "struct"}],
    ),
    chunk("defs", "// Lines 8-11\ntype AuthHandler struct {\n\tnext *AuthHandler\n}", "definitions", line=8),
    chunk("overview", "Types:\n- AuthHandler (lines 8-11)", "symbols", line=1, end_line=13),
    chunk(
        "snake", "def get_user_by_id(id):\n    return GET_USER_BY_ID", path="web/users.py", tags=("python",)
    ),
    chunk(
        "include", "#include <stdio.h>\nstd::vector<int> v; char *ptr;", path="src/main.cpp", tags=("cpp",)
    ),
    chunk(
        "test",
        "func TestGet(t *T) { handler.controller() }\n@decorator",
        path="internal/auth/handler_test.go",
    ),
    chunk("doc", "# Titel\nüber die Größe 中文注释", "documentation", path="docs/a.md", tags=("docs",)),
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return open_chunks(tmp_path_factory.mktemp("sample"), SAMPLE)


def ids(snapshot, query, **more):
    return [hit.id for hit in snapshot.search(ExactSearch(query, **more)).hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("getUserById", {"handler", "snake"}),
        ("get_user_by_id", {"handler", "snake"}),
        ("GET_USER_BY_ID", {"handler", "snake"}),
        ("getuserbyid", {"handler", "snake"}),
        ("mutex", {"handler"}),
        ("RW_MUTEX", {"handler"}),
        ("sync.RWMutex", {"handler"}),
        ('"sync RWMutex"', {"handler"}),
        ('"RWMutex sync"', set()),
        ('"get user"', {"handler", "snake"}),
        ('"user get"', set()),
        ("注释", {"doc"}),
        ("释注", set()),
        ("GRÖSSE", set()),
        ("größe", {"doc"}),
        ("Prov*", {"type"}),
        ("getUser*", {"handler", "snake"}),
        ("sync.RW*", {"handler"}),
        ("get*Id", {"handler", "snake"}),
        ("mut?x", set()),
        ("Provdier~1", {"type"}),
        ("Provdire~1", set()),
        ("Provdire~2", {"type"}),
        ("tags:GO NOT handler", set()),
        ("title:definitions", {"defs"}),
        ("chunk_type:symbols", {"overview"}),
        ("file_path:*.py", {"snake"}),
        ("file_path:src/*", {"include"}),
        ("file_path:main.cpp", {"include"}),
        ("symbols:AuthHandler chunk_type:code", {"type"}),
        ("start_line:[8 TO 8] chunk_type:code", {"type"}),
        ("start_line:{8 TO 8}", set()),
        ("controller -file_path:test", {"type"}),
    ],
)
def test_a_query_finds(sample, query, expected):
    assert set(ids(sample, query)) == expected


def test_a_complete_identifier_ranks_above_its_parts(tmp_path):
    snapshot = open_chunks(
        tmp_path, [chunk("parts", "rw_mutex a", path="a"), chunk("whole", "RWMutex a", path="b")]
    )
    assert ids(snapshot, "RWMutex") == ["whole", "parts"]


def documented():
    tables = re.findall(
        r"^\| `(.+)` \| [^|]*(?:`[^`]*`[^|]*)*\|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(tables) > 40
    return tables


@pytest.mark.parametrize("query", documented())
def test_every_example_of_the_documentation_finds_something(sample, query):
    answer = sample.search(ExactSearch(query))
    assert answer.hits, answer.suggestion


def test_views_are_folded_into_chunks_with_the_same_lines(sample):
    answer = sample.search(ExactSearch("AuthHandler"))
    assert {hit.id for hit in answer.hits} == {"handler", "type"}
    assert answer.total_found == 2
    # Without a covering hit the smallest view represents its lines.
    assert ids(sample, "AuthHandler", filters=Filters(chunk_types=("symbols", "definitions"))) == ["defs"]
    assert ids(sample, "Types") == ["overview"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(chunk_types=("symbols", "data")), {"overview"}),
        (Filters(tags=("GO", "code"), paths=("*_test.go",)), {"test"}),
        (Filters(tags=("internal/auth/handler_test.go",)), {"test"}),
        (Filters(exclude_paths=("internal/",)), set()),
        (Filters(language="Go", paths=("internal/**",)), {"handler", "type", "test"}),
    ],
)
def test_filters_are_applied_inside_the_search(sample, filters, expected):
    query = "handler" if "symbols" not in filters.chunk_types else "AuthHandler"
    answer = sample.search(ExactSearch(query, filters=filters))
    assert {hit.id for hit in answer.hits} == expected
    assert expected or "filters leave nothing" in answer.suggestion


def test_filters_inside_the_search_and_in_the_mask_agree(tmp_path):
    chunks = [
        chunk(f"c{n}", "alpha beta", "code" if n % 3 else "data", f"d{n % 7}/f{n}.go", tags=[f"t{n % 5}"])
        for n in range(60)
    ]
    snapshot = open_chunks(tmp_path, chunks)
    for filters in (
        Filters(tags=("t1",)),
        Filters(paths=("d1/",)),
        Filters(exclude_paths=("d1/", "d2/")),
        Filters(chunk_types=("data",), tags=("T2",), exclude_paths=("d3/",)),
        Filters(language="rust"),
    ):
        exact = snapshot.search(ExactSearch("alpha", limit=100, filters=filters))
        signals = snapshot.signals(TextSignals("alpha", 100, filters=filters))
        assert {hit.key for hit in signals.hits} == {hit.key for hit in exact.hits}
        assert bool(exact.hits) == (filters.language != "rust")
        assert exact.total_found == len(exact.hits)


def test_pages_are_stable_and_complete_over_ties(tmp_path):
    snapshot = open_chunks(
        tmp_path, [chunk(f"c{n:02d}", "same text", path=f"f{n}") for n in reversed(range(30))]
    )
    pages = [ids(snapshot, "same", limit=7, offset=offset) for offset in range(0, 35, 7)]
    assert [id_ for page in pages for id_ in page] == [f"c{n:02d}" for n in range(30)]
    assert [len(page) for page in pages] == [7, 7, 7, 7, 2]
    assert len(ids(snapshot, "same", limit=0)) == 1
    assert len(ids(snapshot, "same", limit=1000)) == 30


def test_scores_lie_between_0_and_1_and_fall(sample):
    scores = sample.search(ExactSearch("handler OR getUserById OR chunk_type:code")).scores
    assert list(scores) == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


@pytest.mark.parametrize(
    ("query", "id_", "marked", "lines"),
    [
        ("RWMutex", "handler", ["\tvar mu sync.<em>RWMutex</em>"], [5]),
        ("mutex", "handler", ["\tvar mu sync.RW<em>Mutex</em>"], [5]),
        ("sync.RWMutex", "handler", ["\tvar mu <em>sync</em>.<em>RWMutex</em>"], [5]),
        (
            "getUserById",
            "snake",
            ["def <em>get_user_by_id</em>(id):", "    return <em>GET_USER_BY_ID</em>"],
            [1, 2],
        ),
        (
            "getuserbyid",
            "snake",
            ["def <em>get_user_by_id</em>(id):", "    return <em>GET_USER_BY_ID</em>"],
            [1, 2],
        ),
        ("Prov*", "type", ["\tp <em>Provider</em>"], [10]),
        ("Use*", "handler", ["func get<em>User</em>ById(id int) *<em>User</em> {"], [4]),
        ("Provdier~1", "type", ["\tp <em>Provider</em>"], [10]),
        ("mutxe~1", "handler", ["\tvar mu sync.RW<em>Mutex</em>"], [5]),
        ("error NOT snake", "handler", ["// <em>error</em> handling for AuthHandler"], [3]),
        ("/mu\\w*x/", "handler", ["\tvar mu sync.RW<em>Mutex</em>"], [5]),
        ("中文", "doc", ["über die Größe <em>中文</em>注释"], [2]),
        ("Größe", "doc", ["über die <em>Größe</em> 中文注释"], [2]),
        ('"handling error"~2', "handler", ["// <em>error</em> <em>handling</em> for AuthHandler"], [3]),
        ("tags:docs", "doc", [], []),
    ],
)
def test_highlights_mark_the_matched_terms_in_whole_lines(sample, query, id_, marked, lines):
    answer = sample.search(ExactSearch(query))
    at = [hit.id for hit in answer.hits].index(id_)
    assert (list(answer.highlights[at]), list(answer.highlight_lines[at])) == (marked, lines)


def test_highlights_of_definitions_name_the_lines_of_the_file(sample):
    answer = sample.search(ExactSearch("next", filters=Filters(chunk_types=("definitions",))))
    assert answer.highlights == (("\t<em>next</em> *AuthHandler",),)
    assert answer.highlight_lines == ((9,),)


def test_at_most_three_lines_are_shown_and_those_with_more_terms_are_preferred(tmp_path):
    text = "alpha\nalpha\nalpha\nalpha beta\nalpha\n" + "x" * 900 + " alpha gamma beta"
    answer = open_chunks(tmp_path, [chunk("a", text, line=10)]).search(ExactSearch("alpha beta"))
    assert answer.highlight_lines == ((10, 13, 15),)
    assert len(answer.highlights[0][2]) < 450
    assert "<em>alpha</em> gamma <em>beta</em>" in answer.highlights[0][2]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Providr", "did you mean `Provider`"),
        ("handler zzyzx", "Nothing matches `zzyzx`. Joined by OR the query has 5 matches"),
        ("Provider decorator", "no chunk holds all of them; joined by OR the query has 2 matches"),
        ("handler OR +zzyzx", "Nothing matches `zzyzx`. Joined by OR the query has 5 matches"),
        ("* zzyzx", "Nothing matches `zzyzx`."),
        ("title:zzyzx", "`zzyzx` in title"),
        ("zzyzx language:rust", "Nothing matches `zzyzx`; no file is in language `rust`."),
        (
            "language:rust zzyzx title:qqq",
            "No file is in language `rust`; nothing matches `zzyzx`; nothing matches `qqq` in title.",
        ),
        ('"RWMutex sync"', "Nothing matches"),
        ("mutex NOT sync", "Excluding `sync` removes everything: without that 1 match."),
        ("RWMUTEX case:yes", "as written; ignoring case, one chunk does"),
        ("/RWMutexes/ foo", "No line of code or documentation matches `RWMutexes` (did you mean `RWMutex`?)"),
        ("/RWMutex/ decorator", "no chunk holds all of them"),
        ("/RWMutex/ zzyzx", "Nothing matches `zzyzx`"),
        ("tags:nothing", "`nothing` in tags"),
        ("/qqq+/", "No line of code"),
    ],
)
def test_an_empty_answer_gives_the_reason(sample, query, reason):
    answer = sample.search(ExactSearch(query))
    assert (answer.total_found, answer.hits) == (0, ())
    assert reason in answer.suggestion


def test_a_short_word_has_no_suggestion_of_another_length(tmp_path):
    """`a` is two edits from `api`, which is nearly all of it."""
    opened = open_chunks(tmp_path, [chunk("a", "def pay(a): ...")])
    assert "did you mean" not in opened.search(ExactSearch("/api/v1/nothing")).suggestion
    assert "did you mean `pay`" in opened.search(ExactSearch("pays")).suggestion


@pytest.mark.parametrize(
    ("query", "match_type", "expected"),
    [
        ("get.*Id", "regex", {"handler", "snake"}),
        ("(?-i)get.*ById", "regex", {"handler"}),
        ("^func", "regex", {"handler", "test"}),
        (r"\}$", "regex", {"handler", "type", "test"}),
        ("[^x]->", "regex", set()),
        ("}\n\n", "substring", {"type"}),
        (r"\}\ntype", "regex", {"handler"}),
        (r"(?s)RWMutex.*AuthHandler struct", "regex", {"handler"}),
        ("->", "substring", {"type"}),
        ("(ID)", "substring", {"handler", "snake"}),
        ("文注", "substring", {"doc"}),
        ("GRÖSSE", "substring", set()),
        ("größe", "substring", {"doc"}),
        ("a", "substring", {"handler", "type", "include", "test"}),
        ("/get.*Id/ tags:python", None, {"snake"}),
        ("get NOT /RWMutex/", None, {"snake", "test"}),
        (r"NOT /\}\ntype/ tags:go", None, {"type", "test"}),
        ("getUserById case:yes", None, {"handler"}),
        ("NOT getUserById case:yes file_path:handler.go", None, {"type"}),
        ("getUser* case:yes", None, {"handler"}),
        ("mutex word:yes", None, set()),
        ("rwmutex word:yes", None, {"handler"}),
        ("rwmutex word:yes case:yes", None, set()),
        ("Get word:yes", None, set()),
        ("get* word:yes case:yes", None, {"handler", "snake"}),
        ("/rwmut|handler/ word:yes", None, {"type", "test"}),
        ("/->next/ word:yes", None, {"type"}),
        ("/>nex/ word:yes", None, set()),
        ("größe word:yes", None, {"doc"}),
        ("NOT mutex word:yes file_path:handler.go", None, {"handler", "type"}),
    ],
)
def test_expressions_and_substrings_find(sample, query, match_type, expected):
    answer = sample.search(ExactSearch(query, match_type))
    assert {hit.id for hit in answer.hits} == expected
    assert answer.total_found == len(expected)


def test_a_match_over_two_chunks_is_found_once_and_marked_where_it_begins(sample):
    answer = sample.search(ExactSearch(r"return foo\(id\)\n\}\ntype Auth", "regex"))
    assert [hit.id for hit in answer.hits] == ["handler"]
    assert answer.highlights[0] == ("\t<em>return foo(id)</em>",)
    assert answer.highlight_lines == ((6,),)


@pytest.mark.parametrize("pattern", ["(a", "(?=a)", r"(a)\1", "a**", "[z-a]", "(a{1000}){1000}"])
def test_an_expression_that_re2_refuses_is_a_bad_request(sample, pattern):
    with pytest.raises(BadRequest, match="position 1 is not valid"):
        sample.search(ExactSearch(pattern, "regex"))


def test_an_expression_inside_or_is_a_bad_request(sample):
    with pytest.raises(BadRequest, match="only by AND"):
        sample.search(ExactSearch("a OR /b/"))


def test_catastrophic_expressions_end(tmp_path):
    snapshot = open_chunks(tmp_path, [chunk("a", "a" * 20_000 + "b")])
    assert snapshot.search(ExactSearch("(a+)+$", "regex")).total_found == 0
    assert snapshot.search(ExactSearch("(a|aa)+b", "regex")).total_found == 1


def test_the_answer_is_cut_to_its_detail_and_bytes(sample):
    full = sample.search(ExactSearch("handler OR id"))
    assert not full.truncated
    assert all("text" in orjson.loads(raw) for raw in full.chunks)
    short = sample.search(ExactSearch("handler OR id", max_bytes=500))
    assert short.truncated
    assert len(short.hits) == len(full.hits)
    bare = sample.search(ExactSearch("handler OR id", detail="location"))
    assert not any("text" in orjson.loads(raw) for raw in bare.chunks)
    assert bare.highlights == full.highlights


def test_a_snippet_holds_the_lines_that_match_with_their_number(tmp_path):
    lines = [
        "# same origin, def same",
        *(f"filler {at}" for at in range(1, 20)),
        "def same_origin(url):",
        "  end",
    ]
    snapshot = open_chunks(tmp_path, [chunk("a", "\n".join(lines), line=100)])
    for query, match_type in (
        ("def same_origin", "substring"),
        ("same_ori.in", "regex"),
    ):
        snippet = orjson.loads(snapshot.search(ExactSearch(query, match_type, detail="snippet")).chunks[0])
        first = snippet["metadata"]["snippet_start_line"]
        assert snippet["text"].split("\n")[120 - first] == "def same_origin(url):", query
        assert snippet["text"].count("\n") == 9


def test_the_scope_of_a_chunk_ranks_it_but_does_not_match(tmp_path):
    inner = chunk(
        "inner",
        "return total",
        path="shop/cart.py",
        line=9,
        scope="Basket.checkout",
        signature="def pay(self)",
    )
    other = chunk("other", "return total", path="shop/cart.py", line=20)
    snapshot = open_chunks(tmp_path, [inner, other])
    for words in ("basket checkout", "pay"):
        signals = snapshot.signals(TextSignals(words, 10))
        assert [hit.id for hit in signals.hits if hit] == ["inner"], words
        assert not snapshot.search(ExactSearch(words, 10)).hits
    assert {hit.id for hit in snapshot.signals(TextSignals("cart", 10)).hits} == {"inner", "other"}


def test_signals_hold_the_best_chunks_of_each_lane_aligned(sample):
    signals = sample.signals(TextSignals("how to get the user by id", 10))
    extra_names = ("references", "file_references", "foreign")
    assert signals.names == ("body", "path", "defs", "comments", "defx", *extra_names)
    assert signals.values.shape == (8, len(signals.hits))
    by_id = {hit.id: signals.values[:, at] for at, hit in enumerate(signals.hits)}
    assert by_id["handler"][0] > 0 < by_id["handler"][2]
    assert signals.stats["body_max"] == pytest.approx(signals.values[0].max())
    assert {hit.chunk_type for hit in signals.hits} <= {"code", "documentation"}


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("AuthHandler", {"type": 1.0}),
        ("auth_handler", {"type": 0.7}),
        ("auth.AuthHandler", {"type": 1.0}),
        ("getUserById()", {"handler": 0.5, "snake": 0.35}),
        ("the AuthHandler", {}),
    ],
)
def test_defx_is_for_questions_of_one_identifier(sample, question, values):
    signals = sample.signals(TextSignals(question, 10))
    defined = {hit.id: signals.values[4, at] for at, hit in enumerate(signals.hits) if signals.values[4, at]}
    assert defined == pytest.approx(values)


def test_a_lane_holds_no_more_than_its_limit(tmp_path):
    snapshot = open_chunks(tmp_path, [chunk(f"c{n}", f"alpha {n}", path=f"a/{n}.go") for n in range(50)])
    assert len(snapshot.signals(TextSignals("alpha", 7)).hits) == 7
    some = Filters(exclude_paths=("1*", "2*"))
    assert len(snapshot.signals(TextSignals("alpha", 7, filters=some)).hits) == 7


def test_stop_words_are_dropped_unless_nothing_else_is_left(sample):
    assert not sample.signals(TextSignals("where is it zzyzx", 10)).hits
    assert sample.signals(TextSignals("the", 10)).values.shape == (8, 0)
    assert sample.signals(TextSignals("for", 10)).hits  # the "for" of a comment; the query has no other word


def test_nothing_published_answers_nothing(tmp_path):
    empty = assemble(0, "", 4, (), np.zeros(0, "<u8"))
    snapshot = open_text(tmp_path / "text", empty)
    for query, match_type in (("a", None), ("a", "regex"), ("a*", None), ("a\\nb", "regex")):
        assert snapshot.search(ExactSearch(query, match_type)).total_found == 0
    assert snapshot.signals(TextSignals("a", 5)).hits == ()


def test_a_missing_or_damaged_generation_is_named(tmp_path, sample):
    rows = assemble(1, "m", 4, (open_segment(write_one(tmp_path)),), np.zeros(0, "<u8"))
    with pytest.raises(NotFound):
        open_text(tmp_path / "none", rows)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "meta.json").write_text("{}")
    with pytest.raises(Damaged):
        open_text(tmp_path / "bad", rows)


def write_one(folder):
    write_rows(folder / "one.seg", [Row(1, chunk("a", "a"), "f", bytes(16), None, "m")], 4)
    return folder / "one.seg"


PIECES = st.sampled_from(
    ["get", "User", "_", " ", "AND", "OR", "NOT", "(", ")", '"', "+", "-", "~1", "~2", "^2", "*", "?", "/", "\\", "\\n",
     "text:", "start_line:", "case:yes", "[1 TO 5]", ".", "[", "]", "{2}", "|", "中", "é", "\n", "^", "$", "\\w", "İ"]
)  # fmt: skip


@settings(
    max_examples=scaled(250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    query=st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=10).map("".join)),
    match_type=st.sampled_from([None, "exact", "phrase", "prefix", "fuzzy", "regex", "substring"]),
)
def test_any_input_gets_an_answer_or_a_bad_request(sample, query, match_type):
    try:
        answer = sample.search(ExactSearch(query, match_type))
    except BadRequest as error:
        assert str(error)  # noqa: PT017
        return
    assert answer.total_found >= len(answer.hits)
    assert answer.hits or answer.suggestion
    for chunk_bytes, fragments in zip(answer.chunks, answer.highlights, strict=True):
        lines = orjson.loads(chunk_bytes)["text"].split("\n")
        for fragment in fragments:
            assert re.sub("</?em>", "", fragment) in [line.rstrip("\r") for line in lines]


def test_hits_are_the_same_without_chunks(sample):
    request = ExactSearch("handler OR id", detail="location")
    full, bare = sample.search(request), sample.search(structs.replace(request, bare=True))
    assert len(full.chunks) == len(full.hits) > 0
    assert bare == structs.replace(full, chunks=())


def search_lines(tmp_path, text, query, path="src/a.py"):
    hits = open_chunks(tmp_path, [chunk("a", text, path=path)]).search(ExactSearch(query, lines=True))
    return [orjson.loads(raw)["metadata"]["start_line"] for raw in hits.chunks], hits.suggestion


@pytest.mark.parametrize("query", ["\u0130stanbul", "\u0130STANBUL", "istanbul", "istanbul sunucusu"])
def test_a_letter_that_is_longer_in_lower_case_is_shown_on_its_line(tmp_path, query):
    text = "# first\n# second\n\nx = 1\n# \u0130stanbul sunucusu\n"
    assert search_lines(tmp_path, text, query)[0] == [5]


@pytest.mark.parametrize(
    ("query", "lines"),
    [("->", [2]), ("=>", [3]), ("&&", [3]), (":=", [4]), ("<<", [4]), ("\U0001f680", [5]), ('"->"', [2])],
)
def test_punctuation_alone_is_sought_as_it_stands(tmp_path, query, lines):
    text = "x = 1\na->b\nf = x => x && y\nz := 1 << 2\nrocket = '\U0001f680'\n"
    assert search_lines(tmp_path, text, query)[0] == lines


@pytest.mark.parametrize(
    "query",
    [r"App\Http\Controller", r"\App\Http\Controller", r"App\Http\Controller->handle", r"App\Http\Controller::handle",
     "App::Http::Controller", "App.Http.Controller", r"src\Http\Controller.php", "src/Http/Controller.php"],
)  # fmt: skip
def test_a_qualified_name_that_no_line_holds_is_found_by_its_words(tmp_path, query):
    text = "<?php\nnamespace App\\Http;\nclass Controller { function handle() {} }\n"
    lines, suggestion = search_lines(tmp_path, text, query, "src/Http/Controller.php")
    assert lines
    assert suggestion.startswith(f"No line holds the literal text `{query}`; these hold its words.")


@pytest.mark.parametrize("query", ["caf\u00e9", "cafe\u0301"])
@pytest.mark.parametrize("text", ["x = 'caf\u00e9'", "x = 'cafe\u0301'"])
@pytest.mark.parametrize("match_type", [None, "substring"])
def test_composed_and_decomposed_letters_are_found_by_each_other(tmp_path, query, text, match_type):
    hits = open_chunks(tmp_path, [chunk("a", text)]).search(ExactSearch(query, match_type=match_type))
    assert hits.total_found == 1


@pytest.mark.parametrize("forms", [("NFC", "NFC"), ("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
@pytest.mark.parametrize(
    ("query", "match_type", "total"),
    [
        ('"gr\u00f6\u00dfe der \u00f6ffnung"', None, 1),
        ("gr\u00f6\u00dfe der", "phrase", 1),
        ('"der gr\u00f6\u00dfe"', None, 0),
        ("gr\u00f6*", None, 1),
        ("\u00f6ff*", None, 1),
        ("\u00f6ffnung_w*", None, 1),
        ("gr\u00f6", "prefix", 1),
        ("gr\u00f6* AND \u00f6ff*", None, 1),
        ('die NOT "gr\u00f6\u00dfe der"', None, 0),
    ],
)
def test_phrases_and_prefixes_are_found_in_the_other_composition(tmp_path, query, match_type, total, forms):
    text = unicodedata.normalize(
        forms[0], "die gr\u00f6\u00dfe der \u00f6ffnung\n\u00f6ffnung_w\u00e4hlen = 1"
    )
    query = unicodedata.normalize(forms[1], query)
    hits = open_chunks(tmp_path, [chunk("a", text)]).search(ExactSearch(query, match_type=match_type))
    assert hits.total_found == total


def test_a_switch_leaves_the_lines_with_other_spellings_out(tmp_path):
    text = "mutex = 1\nRWMutex = 2\nMutex = 3\n" + "x = 0\n" * 3
    snapshot = open_chunks(tmp_path, [chunk("a", text, line=1)])
    for query, numbers in (
        ("mutex word:yes", (1, 3)),
        ("Mutex case:yes", (2, 3)),
        ("Mutex case:yes word:yes", (3,)),
        ("mutex", (1, 2, 3)),
    ):
        for lines in (0, 20):
            answer = snapshot.search(ExactSearch(query, lines=lines))
            assert sorted(n for shown in answer.highlight_lines for n in shown) == sorted(numbers), (
                query,
                lines,
            )


def test_facets_count_every_hit_by_language_and_below_the_shared_folder(tmp_path):
    def at(number, path, language):
        return chunk(f"c{number}", f"needle = {number}", path=path, language=language)

    places = [
        ("src/web/a.go", "go"),
        ("src/web/b.go", "go"),
        ("src/auth/in/c.py", "python"),
        ("src/d.py", "python"),
    ]
    snapshot = open_chunks(tmp_path, [at(number, *place) for number, place in enumerate(places)])
    expected = {
        "languages": {"go": 2, "python": 2},
        "folders": {"src/web/": 2, "src/auth/": 1, "src/d.py": 1},
    }
    for query in ("needle", "/needle/", "needl*"):
        answer = snapshot.search(ExactSearch(query, limit=1, facets=True))
        assert (len(answer.hits), answer.total_found, answer.facets) == (1, 4, expected), query
    deeper = snapshot.search(ExactSearch("needle", facets=True, filters=Filters(paths=("src/web/",)))).facets
    assert deeper == {"languages": {"go": 2}, "folders": {"src/web/a.go": 1, "src/web/b.go": 1}}
    assert snapshot.search(ExactSearch("nothing", facets=True)).facets == {"languages": {}, "folders": {}}
    assert snapshot.search(ExactSearch("needle")).facets == {}
