"""The app's registration with Django."""

from django.apps import AppConfig


class ArtefactsConfig(AppConfig):
    name = "execution.features.artefacts"
    label = "artefacts"
