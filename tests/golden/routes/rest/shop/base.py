from rest_framework.decorators import action
from rest_framework.viewsets import ModelViewSet


class Shared(ModelViewSet):
    @action(detail=False, methods=["get", "delete"], url_path="all-of-them")
    def everything(self, request): ...

    @action(detail=True)
    def history(self, request, pk): ...
