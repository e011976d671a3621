"""Which form bodies and answers take: JSON, unless the caller names something else that the view offers."""

from collections.abc import Sequence

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JSONUnlessAsked(BaseContentNegotiation):
    """The renderer whose media type the Accept header names, else the first.

    Agents send all kinds of Accept headers; a JSON answer serves them better than a 406
    (RFC 9110 §12.5.1 allows either).
    """

    def select_parser(self, request: Request, parsers: Sequence[BaseParser]) -> BaseParser | None:  # type: ignore[override]
        given = str(request.content_type).partition(";")[0].strip().lower()
        return next((one for one in parsers[1:] if one.media_type == given), parsers[0])

    def select_renderer(  # type: ignore[override]
        self, request: Request, renderers: Sequence[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        accepted = request.headers.get("Accept", "")
        chosen = next((one for one in renderers[1:] if str(one.media_type) in accepted), renderers[0])
        return chosen, str(chosen.media_type)
