"""The routes that a view class has by its methods and bases: Django REST framework's."""

from __future__ import annotations

from collections.abc import Iterator

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

    def actions(self, view: Ref) -> Iterator[tuple[str, str, str]]:
        """Yield (method, parameter, handler) of each route that a router makes of a class."""
        outer = {name for base in self._outer_bases(view) for name in _MIXINS.get(base, ())}
        class_id = self._project.id_of(view)
        for name, (method, parameter) in _ACTIONS.items():
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
        """Return the methods of a class of API views; () for another class."""
        bases = [base for base in self._outer_bases(view) if base.endswith("APIView")]
        methods = {
            method for base in bases for word, row in _GENERICS.items() if word in base for method in row
        }
        methods |= set(self.members(view))
        return tuple(method for method in METHODS if bases and method in methods)

    def members(self, view: Ref) -> tuple[str, ...]:
        """Return the methods for which a class has a function: `def post(self)`."""
        return tuple(method for method in METHODS if any(self._members(view, method.lower())))
