"""Answers as plain text, for agents and people: one function, for the answer of any tool.

lines.py has the lines, their styles and single values, notes.py notes, parts.py the parts that
several tools share, code.py and memory.py those of one tool, which its form names; memory_lists.py
and memory_reports.py are for people alone. omissions.py lists keys without a line, with the
reasons.
"""

from collections.abc import Mapping
from typing import Any

from cortex.front.form import PLAIN
from cortex.front.text.lines import Page
from cortex.front.text.parts import Drawer
from cortex.front.tools import PEOPLE, TOOLS


def render(tool: str, answer: Mapping[str, Any], *, arguments: Mapping[str, Any] | None = None) -> str:
    """Return the answer of the tool named `tool` as plain text; `arguments` are those of the call.

    A key that no part knows becomes lines `key: value`, so that nothing is lost.
    """
    return draw(tool, answer, arguments=arguments).text()


def draw(
    tool: str,
    answer: Mapping[str, Any],
    *,
    arguments: Mapping[str, Any] | None = None,
    for_person: bool = False,
) -> Page:
    """As `render`, in styled lines. `for_person`: with the words and options of the shell."""
    page = Page(arguments=arguments or {}, for_person=for_person)
    form = next((tools[tool].form for tools in (TOOLS, PEOPLE) if tool in tools), PLAIN)
    if for_person and form.people_text is not None:
        form.people_text(page, answer)
    else:
        (form.text or Drawer()).draw(page, answer)
    return page
