"""The kinds of definitions that rooms ask for together; which is which a query file says."""

from __future__ import annotations

#: what can have members; functions inside are methods
TYPE_KINDS = frozenset("class struct interface trait enum type".split())
#: what a search for a name prefers to functions: types, and what other programs call so
NAMED_TYPE_KINDS = TYPE_KINDS | frozenset("union module macro protocol record".split())
#: what can be called
CALLABLE_KINDS = frozenset(("function", "method"))
#: what is counted as a function of its file
FUNCTION_KINDS = CALLABLE_KINDS | {"macro"}
#: what the data chunks show
DATA_KINDS = frozenset(("constant", "variable", "enum"))
#: what is a file or a folder as a whole, not a definition in one
WHOLE_KINDS = frozenset(("module", "package"))
