"""The app's registration with Django."""

from django.apps import AppConfig


class PreconditionsConfig(AppConfig):
    name = "execution.features.preconditions"
    label = "preconditions"
