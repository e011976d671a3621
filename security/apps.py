"""The app's registration with Django."""

from django.apps import AppConfig


class SecurityConfig(AppConfig):
    name = "security"
