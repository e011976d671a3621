"""The hub's API and health, and the floor among the API's addresses so that nothing favours either."""

from django.urls import include, path

from bench.floor import floor

urlpatterns = [
    path("api/v1/floor", floor, name="floor"),
    path("api/v1/", include("toolhub.api_urls")),
    path("", include("monitoring.urls")),
]
