"""The app's registration with Django."""

from django.apps import AppConfig


class DutiesConfig(AppConfig):
    name = "core.duties"
    label = "duties"
