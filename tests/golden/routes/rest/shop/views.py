from rest_framework import generics, mixins, viewsets
from rest_framework.decorators import action
from rest_framework.views import APIView
from shop.base import Shared


class Orders(Shared):
    def create(self, request): ...

    @action(methods=["post"], detail=True)
    def ship(self, request, pk): ...

    def destroy(self, request, pk): ...


class Items(mixins.ListModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet):
    def retrieve(self, request, pk): ...


class Tags(viewsets.ViewSet):
    def list(self, request): ...


class Bills(generics.ListCreateAPIView):
    def post(self, request): ...


class Bill(generics.RetrieveUpdateDestroyAPIView): ...


class Status(APIView):
    def get(self, request): ...


class Stocks(viewsets.ViewSet):
    def list(self, request): ...

    def replace_all(self, request): ...
