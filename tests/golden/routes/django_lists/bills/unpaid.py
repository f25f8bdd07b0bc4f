from django.contrib.auth.mixins import LoginRequiredMixin
from django.urls import path
from django.views import View
from django.views.generic import FormView


class Base(LoginRequiredMixin, View):
    def get(self, request): ...


class Unpaid(Base):
    def post(self, request): ...


class Remind(FormView):
    def get(self, request): ...


urlpatterns = [path("unpaid/", Unpaid.as_view()), path("remind/", Remind.as_view())]
