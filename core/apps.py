"""The app's registration with Django."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"
