"""The WSGI application of the measured server: the hub's own, under the bench's settings."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")

from toolhub.wsgi import application

__all__ = ["application"]
