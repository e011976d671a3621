"""Addresses of the pages of settings that belong to security."""

from django.urls import path

from security.views_patterns import OutputPatternRemove, OutputPatterns
from security.views_sandbox import Sandbox

urlpatterns = [
    path("settings/sandbox/", Sandbox.as_view(), name="sandbox"),
    path("settings/filters/", OutputPatterns.as_view(), name="output_patterns"),
    path("settings/filters/<int:row>/remove/", OutputPatternRemove.as_view(), name="output_pattern_remove"),
]
