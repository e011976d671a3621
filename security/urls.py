"""Addresses of the pages of settings that belong to security."""

from django.urls import path

from security.views_sandbox import Sandbox

urlpatterns = [path("settings/sandbox/", Sandbox.as_view(), name="sandbox")]
