"""What is taken out of C and C++ before it is parsed. Conditions of the preprocessor: those between
whole things stay, those in the middle of something go with all but one branch. Annotations: no line
moves, and what is called like one stays.
"""

from __future__ import annotations

import pytest

from cortex.graph.facts.conditionals import straighten
from cortex.graph.facts.macros import unmark

WHOLE = """\
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


def test_conditions_around_whole_things_stay_as_they_are():
    assert straighten(WHOLE.splitlines()) == WHOLE.splitlines()


@pytest.mark.parametrize("begun", ["namespace", "constexpr"])
def test_a_condition_of_which_a_branch_only_begins_something_is_inside_of_it(begun):
    text = [
        "namespace" if begun == "namespace" else "",
        "#ifdef NEW",
        "std" if begun == "namespace" else begun,
    ]
    text += ["#else", "fmt"] if begun == "namespace" else []
    text += ["#endif", "{ }" if begun == "namespace" else "static int x;"]
    assert [line for line in straighten(text) if line.startswith("#") or line == "fmt"] == []


def test_of_a_condition_inside_of_something_one_branch_stays_and_no_line_moves():
    kept = straighten(HALVES.splitlines())
    assert len(kept) == len(HALVES.splitlines())
    assert [line.strip() for line in kept if line] == [
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


def test_a_condition_without_an_end_is_left_alone():
    lines = ["int x =", "#if A", "1;", "#else"]
    assert straighten(lines) == lines


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


def test_remarks_and_directives_that_go_on_over_lines_are_no_code():
    assert straighten(SIDES.splitlines()) == SIDES.splitlines()


def test_a_directive_that_goes_with_its_condition_goes_with_all_its_lines():
    kept = straighten(["int x =", "#if A && \\", "  B", "1", "#else", "2", "#endif", ";"])
    assert kept == ["int x =", "", "", "1", "", "", "", ";"]


ANNOTATED = """\
void save(int a)
    REQUIRES(lock)
    EXCLUDES(other)
{
}
int size GUARDED_BY(lock) = 0;
void hint() const NO_ANALYSIS;
"""


def test_what_annotations_leave_are_as_many_lines_of_the_same_length():
    plain = unmark(ANNOTATED).splitlines()
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
    assert unmark(text) == text
