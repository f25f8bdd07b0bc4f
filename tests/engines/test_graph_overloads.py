"""One overload of a function as a target; all of them are never meant without a word."""

import pytest

from tests.engines.small_graph import ask, serve_files

READER = {
    "java": (
        "Reader.java",
        (
            "import java.io.InputStream;\n\nclass Reader {\n    int read(String text) { return 1; }\n\n"
            "    int read(InputStream in, int limit) { return 2; }\n\n"
            "    int read(InputStream in) { return read(in, 10); }\n}\n\n"
            'class Use {\n    int a(Reader r) { return r.read("x"); }\n\n    int b(Reader r) { return r.read("y"); }\n\n'
            "    int c(Reader r, InputStream in) { return r.read(in, 3); }\n}\n"
        ),
    ),
    "csharp": (
        "Reader.cs",
        (
            "using System.IO;\n\nclass Reader {\n    public int read(string text) { return 1; }\n\n"
            "    public int read(Stream input, int limit) { return 2; }\n\n"
            "    public int read(Stream input) { return read(input, 10); }\n}\n\n"
            'class Use {\n    int a(Reader r) { return r.read("x"); }\n\n    int b(Reader r) { return r.read("y"); }\n\n'
            "    int c(Reader r, Stream input) { return r.read(input, 3); }\n}\n"
        ),
    ),
    "kotlin": (
        "Reader.kt",
        (
            "import java.io.InputStream\n\nclass Reader {\n    fun read(text: String): Int { return 1 }\n\n"
            "    fun read(input: InputStream, limit: Int): Int { return 2 }\n\n"
            "    fun read(input: InputStream): Int { return read(input, 10) }\n}\n\n"
            'class Use {\n    fun a(r: Reader): Int { return r.read("x") }\n\n    fun b(r: Reader): Int { return r.read("y") }\n\n'
            "    fun c(r: Reader, input: InputStream): Int { return r.read(input, 3) }\n}\n"
        ),
    ),
}
SECOND = {"java": "InputStream, int", "csharp": "Stream, int", "kotlin": "InputStream, Int"}
FIRST = {"java": "String", "csharp": "string", "kotlin": "String"}


@pytest.fixture(scope="module", params=READER)
def language(request):
    return request.param


@pytest.fixture(scope="module")
def overloaded(new_config, language):
    return serve_files(new_config(), dict([READER[language]]))


def _callers(worker, target):
    hits, results = ask(worker, "callers", target)
    return hits, [row["node"]["id"].partition(":")[2] for row in results]


def test_a_name_means_all_overloads_and_the_answer_counts_them(overloaded, language):
    file = READER[language][0]
    hits, callers = _callers(overloaded, "Reader.read")
    assert callers == ["Use.a", "Use.b", "Use.c"]
    assert f"3 overloads: {file}:4, 6, 8; ask for one by its parameters" in hits.suggestion


@pytest.mark.parametrize(
    "form", ["Reader.read({})", "Reader#read({})", "Reader.read~2", "read({}) in {file}", "{file}:6"]
)
def test_one_overload_is_meant_by_its_parameters_number_and_place(overloaded, language, form):
    target = form.replace("{}", SECOND[language]).replace("{file}", READER[language][0])
    hits, callers = _callers(overloaded, target)
    assert hits.target.endswith("read~2")
    assert callers == ["Reader.read~3", "Use.c"]


def test_the_first_overload_is_meant_by_its_parameters(overloaded, language):
    hits, callers = _callers(overloaded, f"Reader.read({FIRST[language]})")
    assert callers == ["Use.a", "Use.b"]
    assert "overload" not in hits.suggestion


def test_packages_of_parameters_are_no_part_of_the_choice(overloaded, language):
    parameters = SECOND[language].replace(", ", ",")
    assert _callers(overloaded, f"Reader#read(java.io.{parameters})")[1] == ["Reader.read~3", "Use.c"]


def test_an_overload_that_is_not_there_is_told_apart_from_all(overloaded):
    hits, callers = _callers(overloaded, "Reader.read~7")
    assert (hits.target, callers) == ("", [])
    assert "There is no 'Reader.read~7'; 3 overloads:" in hits.suggestion
    hits, _ = _callers(overloaded, "Reader.read(Nothing, Such)")
    assert "No overload takes these parameters; these are all: 3 overloads" in hits.suggestion
