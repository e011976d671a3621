"""The app's registration with Django."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "core.submissions"
    label = "submissions"
