"""Rails' models: their queries, `Story.where(old: false).recent.first`, and the associations that
lead from one model to another.

A query is a `list` of instances: it has the class methods of its model, too.
"""

from cortex.graph.facts.rails import MACRO
from cortex.graph.languages.ruby.blocks import Blocks
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS

#: methods of a model's class and of a query that return a query, and those that return an instance
QUERIES = frozenset(
    "all where not select rewhere order reorder in_order_of includes eager_load preload joins left_joins "
    "left_outer_joins references limit offset distinct unscoped unscope none lock readonly group having merge or and extending "
    "excluding without strict_loading create_with load reload find_each with_attached page per".split()
)
INSTANCES = frozenset(
    "find find_by find_by! find_sole_by first first! last last! second third fourth fifth take take! sole create "
    "create! build new find_or_create_by find_or_create_by! find_or_initialize_by create_or_find_by "
    "create_or_find_by! first_or_create first_or_create! first_or_initialize".split()
)
#: those that a class has without a query, with a meaning of its own
_OF_CLASSES = frozenset({"new"})
#: last name of a model's base
_BASES = ("ApplicationRecord", "ActiveRecord.Base", "Mongoid.Document")


class Models:
    """Which types are models. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._are: dict[Ref, bool] = {}

    def is_model(self, ref: Ref) -> bool:
        """Return True for a class below Rails' class of records."""
        if (is_known := self._are.get(ref)) is None:
            is_known = self._are[ref] = self._is_below_record(ref)
        return is_known

    def _is_below_record(self, ref: Ref) -> bool:
        definition = self._project.definition(ref)
        if definition.kind not in TYPE_KINDS or definition.kind == "trait":
            return False
        parts = self._project.types_named(self._project.home(ref[0]), definition.qualified)
        types = (ref, *parts, *self._evaluator.supertypes.of(ref).types)
        return any(
            base.chain.endswith(_BASES) for part in types for base in self._project.definition(part).bases
        )


def query_of(value: Value) -> Values:
    """Return a query for the instances of a class, or the query itself."""
    if value.tag == "list":
        return (value,)
    return (value._replace(tag="list", depth=1),) if value.tag == "def" else ()


def member_of_model(members: Members, value: Value, name: str) -> Values:
    """Return what a method of Rails' models or queries returns, and a query's class method."""
    if value.tag not in ("def", "list") or value.depth > 1:
        return ()
    is_query = value.tag == "list"
    is_method = name in QUERIES or (name in INSTANCES and (is_query or name not in _OF_CLASSES))
    if not (is_method or is_query) or not members.helper(Models).is_model(value.ref):
        return ()
    if name in QUERIES:
        return query_of(value)
    if is_method:
        return (Value("elem", value.path, value.at, 1),)
    return members.member_of_kind(value.ref, name, static=True)


def bare_query(evaluator: Evaluator, name: str, path: str, scope: int) -> Values:
    """Return what a method of models returns that a class calls on itself: `where(old: false)`."""
    if name not in QUERIES and name not in INSTANCES:
        return ()
    owners = evaluator.helper(Blocks).self_in(path, scope)
    return merge_values(evaluator.attribute(owner, name) for owner in owners if owner.tag == "def")


def without_macros(members: Members, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of one name without those that a macro of Rails would define, beside
    others of the name, or in a type that has a method of the macro's name.
    """
    definition, is_static = members.project.definition, members.is_static
    makers = {ref: maker for ref in refs if (maker := _maker(definition(ref).flags))}
    if not makers:
        return refs
    written = {is_static(ref) for ref in refs if ref not in makers}
    return [
        ref
        for ref in refs
        if ref not in makers
        or (
            is_static(ref) not in written
            and not any(v.tag == "def" for v in members.member_of_kind(owner, makers[ref], static=True))
        )
    ]


def _maker(flags: tuple[str, ...]) -> str:
    return next((flag[len(MACRO) :] for flag in flags if flag.startswith(MACRO)), "")
