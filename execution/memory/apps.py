"""The app's registration with Django."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "execution.memory"
    label = "memory"
