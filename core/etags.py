"""Versions of editable things in the API: ETag and If-Match (RFC 9110 §8.8.3 and §13.1.1)."""

from typing import Any

from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from core.edits import ANY, Edited


def if_match(request: Request) -> tuple[str, ...] | None:
    """The versions in If-Match, for `editing`; None without the header.

    A weak tag matches nothing, nor does what is no entity tag.
    """
    header = request.headers.get("If-Match")
    if header is None:
        return None
    if header.strip() == ANY:
        return (ANY,)
    tags = [tag.strip('"') for tag in parse_etags(header) if not tag.startswith("W/")]
    return tuple(tag for tag in tags if tag != ANY)


def tagged(response: Response, thing: Edited[Any]) -> Response:
    """The answer with the thing's version as a strong ETag."""
    response["ETag"] = f'"{thing.version}"'
    return response
