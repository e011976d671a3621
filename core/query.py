"""The query of a request to the API, held to the parameters that the operation's description declares."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rest_framework.permissions import BasePermission

from core.errors import InvalidRequest
from toolhub_sdk.checks.mismatch import given_words, listed, unknown_words

if TYPE_CHECKING:  # the framework's views read the setting that names this module
    from drf_spectacular.utils import OpenApiParameter
    from rest_framework.request import Request
    from rest_framework.views import APIView

QUERY = "query"
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")


class KnownQuery(BasePermission):
    """Refuses a query with a parameter that is unknown, repeated or has a value that it cannot have (422)."""

    def has_permission(self, request: "Request", view: "APIView") -> bool:
        if request.META.get("QUERY_STRING"):
            query_check(view, request.method or "", request.query_params)
        return True


def query_check(view: "APIView", method: str, query: Any) -> None:
    """Hold the query of a request to what the view's method declares. Raises InvalidRequest."""
    handler = getattr(view, method.lower(), None)
    if handler is None:  # answered with 405
        return
    made: Any = type(view)
    declared = _declared(handler.__func__, made)
    errors = list(_errors(declared, query))
    if errors:
        first = f"{errors[0]['pointer'][1:]}: {errors[0]['message']}"
        raise InvalidRequest(f"The query does not fit. {first}", errors=errors)


@functools.cache
def _declared(handler: Any, view: Any) -> "Mapping[str, OpenApiParameter]":
    """The query parameters that `extend_schema` names at a handler."""
    made = getattr(handler, "kwargs", {}).get("schema")
    if made is None:
        return {}
    schema = made()
    schema.view, schema.method = view(request=None, kwargs={}), handler.__name__.upper()
    found = schema.get_override_parameters()
    return {one.name: one for one in found if one.location == QUERY}


def _errors(declared: "Mapping[str, OpenApiParameter]", query: Any) -> Iterator[dict[str, str]]:
    for name in query:
        known = declared.get(name)
        if known is None:
            message = unknown_words(name, list(declared)).replace("member", "parameter", 1)
            yield {"pointer": f"/{name[:80]}", "message": message.replace("members", "parameters")}
            continue
        values = query.getlist(name)
        if len(values) > 1 and not known.many:
            yield {
                "pointer": f"/{name}",
                "message": f"Expected the parameter once; got it {len(values)} times.",
            }
        for index, value in enumerate(values):
            if expected := _expected(known, value):
                place = f"/{name}/{index}" if known.many else f"/{name}"
                yield {"pointer": place, "message": f"Expected {expected}; got {given_words(value)}."}
                break


def _expected(known: "OpenApiParameter", value: str) -> str:
    """What the parameter takes, where the value is none of it; else nothing. Empty values are left out."""
    if not value:
        return ""
    if known.enum and value not in known.enum:
        return f"one of {listed(list(known.enum), len(known.enum))}"
    if known.type is int and not _NUMBER.fullmatch(value):
        return "a whole number from 0 on"
    if known.type is bool and value.lower() not in (*TRUE, *FALSE):
        return "true or false"
    return ""
