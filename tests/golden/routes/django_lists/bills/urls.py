from .paid import urlpatterns as paid_urls
from .unpaid import urlpatterns as unpaid_urls

urlpatterns = [*paid_urls, *unpaid_urls]
