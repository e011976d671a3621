"""The hub's addresses, and the floors among the API's so that nothing favours either."""

from django.urls import include, path

from bench.calls import BARE, FLOOR
from bench.floor import bare, floor

urlpatterns = [
    path(FLOOR.removeprefix("/"), floor, name="floor"),
    path(BARE.removeprefix("/"), bare, name="bare"),
    path("", include("toolhub.urls")),
]
