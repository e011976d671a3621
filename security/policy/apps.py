"""The app's registration with Django."""

from django.apps import AppConfig


class PolicyConfig(AppConfig):
    name = "security.policy"
    label = "policy"
