"""Preprocessor conditions and annotations of C and C++ before the parser. Conditions between whole
constructs stay, those inside a construct go with all but one branch. Annotations go without moving
a line; calls that look like them stay.
"""

from __future__ import annotations

import pytest

from cortex.graph.facts.repairs.conditionals import drop_inner_conditionals
from cortex.indexer.syntax.parse import without_marks
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import LANGUAGES

COMPLETE = """\
public:
#ifdef DEBUG
void check(int n) { puts("("); }
#else
void check(int n) {}
#endif
"""

HALVES = """\
Limiter(int most)
    :
#if !defined(NDEBUG)
      most_(most),
#endif
      left_(most) {
#if 0
  if (most) {
#else
  while (most) {
#endif
  }
}
int both = one +
#ifdef WIDE
  wide();
#else
  narrow();
#endif
"""


def test_conditionals_around_complete_constructs_stay():
    assert drop_inner_conditionals(COMPLETE.splitlines()) == COMPLETE.splitlines()


@pytest.mark.parametrize("begun", ["namespace", "constexpr"])
def test_a_conditional_with_a_branch_that_only_begins_a_construct_is_removed(begun):
    text = [
        "namespace" if begun == "namespace" else "",
        "#ifdef NEW",
        "std" if begun == "namespace" else begun,
    ]
    text += ["#else", "fmt"] if begun == "namespace" else []
    text += ["#endif", "{ }" if begun == "namespace" else "static int x;"]
    assert [line for line in drop_inner_conditionals(text) if line.startswith("#") or line == "fmt"] == []


def test_one_branch_of_an_inner_conditional_stays_and_no_line_moves():
    lines = drop_inner_conditionals(HALVES.splitlines())
    assert len(lines) == len(HALVES.splitlines())
    assert [line.strip() for line in lines if line] == [
        "Limiter(int most)",
        ":",
        "most_(most),",
        "left_(most) {",
        "while (most) {",
        "}",
        "}",
        "int both = one +",
        "wide();",
    ]


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        (
            "#if A\nDisk(int n)\n#else\nDisk(long n)\n#endif\n  : n_(n) {}",
            ["Disk(int n)", ": n_(n) {}"],
        ),
        ("#if A\nint f(int n)\n#else\nint f(long n)\n#endif\n{\n}", ["int f(int n)", "{", "}"]),
        (
            "#if A\nf(1);\n#else\nf(2);\n#endif\n{\n}",
            ["#if A", "f(1);", "#else", "f(2);", "#endif", "{", "}"],
        ),
    ],
)
def test_a_body_behind_a_condition_belongs_to_the_head_in_its_branch(text, remaining):
    assert _without_conditions(text) == remaining


def test_a_conditional_without_an_end_stays():
    lines = ["int x =", "#if A", "1;", "#else"]
    assert drop_inner_conditionals(lines) == lines


SIDES = """\
#if defined(WIDE) && \\
  (defined(MAC) || \\
   defined(PHONE))
/* 1) it is asked (once
   2) it is told { */
void save(int n) {}
#define BOTH(n) do { \\
  save(n); \\
} while (0)
#elif (defined(TALL) /* or (so
  said) */ && \\
  (TALL > 1))
void save(long n) {}
#else /* (of all
 others */
void save(void) {}
#endif
"""


def test_comments_and_multiline_directives_are_no_code():
    assert drop_inner_conditionals(SIDES.splitlines()) == SIDES.splitlines()


def test_a_removed_directive_loses_all_its_lines():
    lines = drop_inner_conditionals(["int x =", "#if A && \\", "  B", "1", "#else", "2", "#endif", ";"])
    assert lines == ["int x =", "", "", "1", "", "", "", ";"]


def _plain(text):
    language = next(language for language in LANGUAGES if language.name == "cpp")
    return "\n".join(without_marks(Source("a.cpp", tuple(text.split("\n"))), language).lines)


ANNOTATED = """\
void save(int a)
    REQUIRES(lock)
    EXCLUDES(other)
{
}
int size GUARDED_BY(lock) = 0;
void hint() const NO_ANALYSIS;
"""


def test_removed_annotations_keep_the_number_and_length_of_lines():
    plain = _plain(ANNOTATED).splitlines()
    assert [len(line) for line in plain] == [len(line) for line in ANNOTATED.splitlines()]
    assert [line.split() for line in plain] == [
        ["void", "save(int", "a)"],
        [],
        [],
        ["{"],
        ["}"],
        ["int", "size", "=", "0;"],
        ["void", "hint()", "const", ";"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "if (bad) TRACE_PRINTF(1);",
        "int f() {\n  if (bad)\n    LOCK_RELEASE(lock);\n  else LOCK_ACQUIRE(lock);\n}",
        "int f() { for (a; b; c) RELEASE(a); }",
        "// let go of it\n  RELEASE(lock);",
        "#endif\n  UNUSED(size);",
        "int f() { return PIXEL_FORMAT; }",
        "static int FORMAT = 3;",
    ],
)
def test_calls_and_names_that_look_like_annotations_stay(text):
    assert _plain(text) == text
    assert _plain(f"{text}\nint f() int;") == f"{text}\nint f() int;"  # beside an error, too


def _without_conditions(text: str, *, csharp: bool = False) -> list[str]:
    lines = drop_inner_conditionals(text.splitlines(), csharp=csharp)
    assert len(lines) == len(text.splitlines())
    return [line.strip() for line in lines if line.strip()]


@pytest.mark.parametrize("csharp", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "if (a) {\n}\n#if X\nelse {\n  b();\n}\n#endif\nc();\n",
        "if (a) {\n}\n#if X\n// a remark\nelse if (b) {\n}\n#endif\nelse {\n  c();\n}\n",
        "#if X\nif (a)\n  b();\nelse\n#endif\n  c();\n",
        "#if X\nif (a) {\n}\n#endif\nelse {\n  c();\n}\n",
        "try {\n}\n#if X\ncatch (E e) {\n}\n#endif\ncatch (F f) {\n}\n",
        "if (a) {\n#if X\n} else {\n#endif\n  c();\n}\n",
    ],
)
def test_a_conditional_before_or_behind_an_else_or_catch_is_removed_and_its_code_stays(text, csharp):
    assert _without_conditions(text, csharp=csharp) == [
        line.strip() for line in text.splitlines() if line[:1] != "#"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "if (a) {\n#if X\n  b();\n#endif\n} else {\n  c();\n}\n",
        "#if X\nvoid a();\n#endif\nvoid elsewhere();\n",
    ],
)
def test_a_conditional_around_whole_statements_beside_an_else_stays(text):
    assert _without_conditions(text) == [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("csharp", [False, True])
def test_of_two_heads_of_one_body_the_first_stays(csharp):
    text = "#if X\nvoid Log(Level? level = null,\n         int line = 0)\n#else\nvoid Log(Level? level = null)\n#endif\n{\n  b();\n}\n"
    assert _without_conditions(text, csharp=csharp) == [
        "void Log(Level? level = null,",
        "int line = 0)",
        "{",
        "b();",
        "}",
    ]
