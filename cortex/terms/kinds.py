"""Groups of definition kinds that several packages use; the query files assign the kinds."""

#: kinds with members; functions inside are methods
TYPE_KINDS = frozenset("class struct interface trait enum type".split())
#: kinds that a search by name prefers to functions: types, and names that other languages use for
#: them
NAMED_TYPE_KINDS = TYPE_KINDS | frozenset("union module macro protocol record".split())
#: kinds that can be called
CALLABLE_KINDS = frozenset(("function", "method"))
#: kinds of members that a type implements or overrides
MEMBER_KINDS = frozenset(("method", "property"))
#: kinds that count as functions of a file
FUNCTION_KINDS = CALLABLE_KINDS | {"macro"}
#: kinds in data chunks
DATA_KINDS = frozenset(("constant", "variable", "enum"))
#: ends the path of a mount whose routes no file declares in text
OPEN_END = "…"
#: kinds of nodes that frameworks declare: no definitions
ROUTE_KINDS = frozenset(("route", "router", "mount", "client", "request"))
#: kinds that are a whole file or folder, not a definition inside
WHOLE_KINDS = frozenset(("module", "package"))
