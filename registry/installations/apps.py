"""The app's registration with Django."""

from django.apps import AppConfig


class InstallationsConfig(AppConfig):
    name = "registry.installations"
    label = "installations"
