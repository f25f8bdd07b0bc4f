from django.urls import path

from bills.paid import show
from bills.paid import urlpatterns as paid_urls
from bills.unpaid import urlpatterns as unpaid_urls

urlpatterns = paid_urls + unpaid_urls + [path("last/", show)]
