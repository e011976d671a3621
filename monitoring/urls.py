"""Addresses for machines."""

from django.urls import path

from monitoring.views import healthz, metrics, readyz

urlpatterns = [
    path("livez", healthz, name="livez"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
