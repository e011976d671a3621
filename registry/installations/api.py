"""REST for installations."""

from typing import IO, Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.errors import InvalidRequest, ToolHubError
from core.keyset import page_after
from core.parsers import StrictJSONParser
from registry.bodies import body_check
from registry.installations import openapi
from registry.installations.answers import installation_view, line_view
from registry.installations.approval import installation_approve
from registry.installations.four_eyes import INSTALL
from registry.installations.models import Installation, SourceType
from registry.installations.selectors import installation_lines, installation_seen, installations_page
from registry.installations.services import (
    installation_cancel,
    installation_retry,
    installation_start,
)
from registry.installations.source_form import Source, source_read
from registry.schemas import validator_build
from security.acting import reading
from security.idempotency import creates
from security.principals import caller
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX

PAGE = 50
_APPROVAL = validator_build(openapi.APPROVAL)


class ZipParser(BaseParser):
    """The body is the zip itself."""

    media_type = "application/zip"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises ToolHubError TOO_LARGE."""
        content: bytes = stream.read(ARCHIVE_BYTES_MAX + 1)
        if len(content) > ARCHIVE_BYTES_MAX:
            raise ToolHubError(f"The zip is larger than {ARCHIVE_BYTES_MAX} bytes.", code="TOO_LARGE")
        return content


def _one(request: Request, pk: UUID) -> Installation:
    return installation_seen(str(pk), reading(caller(request), INSTALL))


class Installations(APIView):
    """GET and POST installations."""

    parser_classes = (StrictJSONParser, ZipParser)

    @extend_schema(**openapi.LIST)
    def get(self, request: Request) -> Response:
        rows = installations_page(request.query_params, reading(caller(request), INSTALL))
        found, more = page_after(rows.select_related("release"), request.query_params, count=PAGE)
        shown = [installation_view(one, brief=True) for one in found]
        return Response({"installations": shown, "next": more})

    @creates(openapi.START)
    def post(self, request: Request) -> Response:
        body: Any = request.data
        if isinstance(body, bytes):
            source, content = Source(SourceType.UPLOAD, "package.zip"), body
            team = request.query_params.get("team")
        else:
            body_check(_START, body)
            source, content = source_read(body["source"]), None
            team = (body["team"] or "") if "team" in body else None
        one = installation_start(by=caller(request), source=source, content=content, team=team)
        response = Response(installation_view(one), status=202)
        response["Location"] = f"/api/v1/installations/{one.pk}"
        return response


_START = validator_build(openapi.START_BODY)


class InstallationDetail(APIView):
    """GET installations/{id}."""

    @extend_schema(**openapi.READ)
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(installation_view(_one(request, pk)))


class InstallationLog(APIView):
    """GET installations/{id}/log."""

    @extend_schema(**openapi.LOG)
    def get(self, request: Request, pk: UUID) -> Response:
        after = request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 9:
            message = "after must be the number of a line."
            raise InvalidRequest(message, errors=[{"pointer": "/after", "message": message}])
        one = _one(request, pk)
        return Response({"lines": [line_view(line) for line in installation_lines(one, int(after))]})


class InstallationApprove(APIView):
    """POST installations/{id}/approve."""

    @extend_schema(**openapi.APPROVE)
    def post(self, request: Request, pk: UUID) -> Response:
        body_check(_APPROVAL, request.data)
        one = installation_approve(by=caller(request), installation=_one(request, pk), **request.data)
        return Response(installation_view(one), status=202)


class InstallationCancel(APIView):
    """POST installations/{id}/cancel."""

    @extend_schema(**openapi.CANCEL)
    def post(self, request: Request, pk: UUID) -> Response:
        one = installation_cancel(by=caller(request), installation=_one(request, pk))
        return Response(installation_view(one), status=202)


class InstallationRetry(APIView):
    """POST installations/{id}/retry."""

    @extend_schema(**openapi.RETRY)
    def post(self, request: Request, pk: UUID) -> Response:
        one = installation_retry(by=caller(request), installation=_one(request, pk))
        return Response(installation_view(one), status=202)
