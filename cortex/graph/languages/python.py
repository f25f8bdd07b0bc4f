"""Python."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_python
from cortex.graph.facts.results import python_value
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

PYTHON = Language(
    "python",
    rules=Rules(
        family_of("python"),
        (".py",),
        capital_constants=True,
        self_names=frozenset(),
        fixtures=True,
        first_parameter=True,
    ),
    syntax=Syntax(
        queries=("python",),
        passes_first=True,
        casts_first=True,
        imports=read_python,
        value_of_name=python_value,
        members={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        elements={"subscript": "value"},
        casters={"cast": "first"},
        passes=frozenset(
            "closing contextlib.closing aclosing contextlib.aclosing copy.copy copy.deepcopy deepcopy "
            "asyncio.run asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future "
            ".run_until_complete .create_task".split()
        ),
        wraps={"parenthesized_expression": "", "await": "", "named_expression": "value"},
        either={"conditional_expression": ("0", "2"), "boolean_operator": ("left", "right")},
        literals=frozenset(
            "string concatenated_string integer float list dictionary set tuple true false none "
            "list_comprehension dictionary_comprehension set_comprehension lambda "
            "comparison_operator not_operator generator_expression binary_operator".split()
        ),
        hoisted=True,
    ),
)
