"""The app's registration with Django."""

from django.apps import AppConfig


class RollupsConfig(AppConfig):
    name = "execution.rollups"
    label = "rollups"
