"""DRF's way out: orjson, and canonical fragments passed through byte for byte."""

from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer


class JSONRenderer(BaseRenderer):
    """Renders with orjson; orjson.Fragment goes out as it is, so that hashes fit the bytes."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class EventStreamRenderer(BaseRenderer):
    """Lets a caller ask for server-sent events by `Accept: text/event-stream`; problems stay JSON."""

    media_type = "text/event-stream"
    format = "events"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data)
