"""Local variables with the name of their definition: no uses of it."""

import asyncio

import pytest

from cortex.ask.lines.declared_names import find_local_lines
from cortex.ask.references.uses import UsesQuestion, uses

STORY = """class Story < ApplicationRecord
  scope :fresh, ->(user, fresh) {
    base(user).where(age: fresh)
  }

  def plain
    plain = base(1)
    plain + self.plain
  end

  def other
    plain
  end
end
"""


@pytest.mark.parametrize(
    ("path", "text", "local_lines"),
    [
        ("a.rb", "scope :top, ->(user) {\n  top = base(user)\n  top.order(1)\n  self.top\n}", {2, 3}),
        ("a.rb", "def top(user)\n  top + 1\n  top == 2\nend", set()),
        ("a.rb", "def top(top: 1)\n  top + 1\n  top(2)\nend", {2}),
        ("a.py", "def top(a,\n        top=None):\n    return top\n", {2, 3}),
        ("a.py", "def top(n):\n    return top(n - 1) or call(key=n)\n", set()),
        ("a.go", "func top(n int) int {\n\ttop := n\n\treturn top\n}", {2, 3}),
        ("a.ts", "function top(n) {\n  const top = n\n  return this.top + top\n}", {2}),
    ],
)
def test_lines_are_local_if_the_definition_binds_its_name(path, text, local_lines):
    lines = dict(enumerate(text.split("\n"), 1))
    assert find_local_lines(path, lines, "top") == local_lines


@pytest.mark.parametrize(("symbol", "lines"), [("Story.fresh", []), ("Story.plain", [8, 12])])
def test_a_variable_of_the_name_is_no_use(tmp_path, serve, symbol, lines):
    (tmp_path / "story.rb").write_text(STORY)
    answer = asyncio.run(uses(serve(tmp_path).context(), UsesQuestion(symbol)))
    assert [site["line"] for file in answer["sites"][0].get("files", ()) for site in file["sites"]] == lines
