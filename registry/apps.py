"""The app's registration with Django."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"
