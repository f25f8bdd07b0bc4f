"""Conditions of the preprocessor: those between whole things stay, those in the middle of something
go with all but one branch.
"""

from __future__ import annotations

from cortex.graph.facts.conditionals import straighten

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
