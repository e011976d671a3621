"""The WSGI application of the measured server: the hub's own, and beside it the bare floor."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")

from django.core.handlers.wsgi import WSGIHandler
from django.test.utils import override_settings

from bench.calls import BARE
from core.lanes import LANE, lane_of
from toolhub.wsgi import application as hub

with override_settings(MIDDLEWARE=[]):
    bare = WSGIHandler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
    """Answers as the hub does, but for one address."""
    if environ.get("PATH_INFO") != BARE:
        return hub(environ, start_response)
    LANE.set(lane_of(BARE))
    return bare(environ, start_response)
