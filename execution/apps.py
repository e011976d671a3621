"""The app's registration with Django."""

from django.apps import AppConfig


class ExecutionConfig(AppConfig):
    name = "execution"
