"""The routes that a view class has by its methods and bases: Django REST framework's."""

from collections.abc import Iterable, Iterator

from cortex.graph.frameworks.join import ACTIONS
from cortex.graph.frameworks.tables.framework import METHODS
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref

#: member → (method, parameter) of the route that a router makes of it
_ACTIONS = {
    "list": ("GET", ""),
    "create": ("POST", ""),
    "retrieve": ("GET", "/<pk>"),
    "update": ("PUT", "/<pk>"),
    "partial_update": ("PATCH", "/<pk>"),
    "destroy": ("DELETE", "/<pk>"),
}
#: bases outside of the project → their members
_MIXINS = {
    "ModelViewSet": frozenset(_ACTIONS),
    "ReadOnlyModelViewSet": frozenset({"list", "retrieve"}),
    "CreateModelMixin": frozenset({"create"}),
    "ListModelMixin": frozenset({"list"}),
    "RetrieveModelMixin": frozenset({"retrieve"}),
    "UpdateModelMixin": frozenset({"update", "partial_update"}),
    "DestroyModelMixin": frozenset({"destroy"}),
}
#: bases outside of the project that have no functions for methods
_PLAIN = frozenset({"View", "LoginRequiredMixin", "PermissionRequiredMixin", "UserPassesTestMixin", "object"})
#: words in the names of generic views → their methods
_GENERICS = {
    "List": ("GET",),
    "Create": ("POST",),
    "Retrieve": ("GET",),
    "Update": ("PUT", "PATCH"),
    "Destroy": ("DELETE",),
}


class Views:
    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator

    def _line(self, view: Ref) -> list[Ref]:
        return [view, *self._evaluator.supertypes.of(view).types]

    def _outer_bases(self, view: Ref) -> Iterator[str]:
        """Yield the last names of the bases of a class and its supertypes in the project."""
        for ref in self._line(view):
            for base in self._project.definition(ref).bases:
                yield base.chain.rpartition(".")[2]

    def member(self, view: Ref, name: str) -> str:
        """Return the id of a class's method, of the class itself if a base outside has it."""
        return next(self._members(view, name), "") or self._project.id_of(view)

    def _members(self, view: Ref, name: str) -> Iterator[str]:
        """Yield the ids of a class's method, also of inherited ones, whatever decorates it."""
        for ref in self._line(view):
            home, owner = self._project.home(ref[0]), self._project.definition(ref).qualified
            yield from map(self._project.id_of, self._project.members_of(home, owner).get(name, ()))

    def extended(self, router: Ref) -> Iterator[tuple[str, str]]:
        """Yield (member, method) that a class of routers adds to the path of a list."""
        for path, index in self._line(router):
            key = f"={self._project.definition((path, index)).qualified}{ACTIONS}"
            for fragment in self._project.index(path).facts.fragments:
                if fragment.kind == "maps" and fragment.router == key:
                    yield fragment.target, fragment.methods[0]

    def actions(self, view: Ref, extended: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Yield (method, parameter, handler) of each route that a router makes of a class."""
        outer = {name for base in self._outer_bases(view) for name in _MIXINS.get(base, ())}
        class_id = self._project.id_of(view)
        further = {name: (method, "") for name, method in extended}
        for name, (method, parameter) in (_ACTIONS | further).items():
            handler = self.member(view, name)
            if handler != class_id or name in outer:
                yield method, parameter, handler

    def routers(self, view: Ref) -> Iterator[str]:
        """Yield the routers of a class's further routes, also of inherited ones."""
        for path, index in self._line(view):
            key = f"={self._project.definition((path, index)).qualified}{ACTIONS}"
            if any(fragment.router == key for fragment in self._project.index(path).facts.fragments):
                yield f"{self._project.module_id(path)}:{key[1:]}"

    def methods(self, view: Ref) -> tuple[str, ...]:
        """Return the methods of a class of API views, or of Django's plain one; () for another."""
        bases = [base for base in self._outer_bases(view) if base.endswith("APIView")]
        methods = {
            method for base in bases for word, row in _GENERICS.items() if word in base for method in row
        }
        methods |= set(self.members(view))
        outer = {*self._outer_bases(view)} - {self._project.definition(ref).name for ref in self._line(view)}
        is_plain = "View" in outer and outer <= _PLAIN
        return tuple(method for method in METHODS if (bases or is_plain) and method in methods)

    def members(self, view: Ref) -> tuple[str, ...]:
        """Return the methods for which a class has a function: `def post(self)`."""
        return tuple(method for method in METHODS if any(self._members(view, method.lower())))
