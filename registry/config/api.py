"""REST for the settings of packages."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.errors import InvalidRequest
from core.etags import if_match, tagged
from core.openapi import tagged_read, versioned
from core.parsers import empty_check
from registry.config import openapi
from registry.config.schema import schema_of
from registry.config.secret_test import config_test
from registry.config.selectors import settings_shown
from registry.config.services import config_change
from registry.edits import PACKAGE_CONFIG
from registry.models import Package
from registry.releases.selectors import package_get
from security.acting import reading
from security.principals import caller

VIEW = "registry.view_package"


def config_view(package: Package) -> dict[str, Any]:
    """Settings by name; of secrets only when they were set, and by whom."""
    shown = settings_shown(package)
    return {
        "package": package.name,
        "schema": dict(schema_of(package).schema),
        "values": {one.name: one.value for one in shown if not one.secret and one.value is not None},
        "secrets": {
            one.name: {"set_at": one.row.set_at.isoformat(), "set_by": one.row.set_by}
            for one in shown
            if one.row is not None
        },
        "missing": [one.name for one in shown if one.missing],
    }


class PackageConfig(APIView):
    """GET and PATCH packages/{name}/config."""

    @extend_schema(**tagged_read(openapi.READ))
    def get(self, request: Request, name: str) -> Response:
        return _config(package_get(name, reading(caller(request), VIEW)))

    @extend_schema(**versioned(openapi.CHANGE))
    def patch(self, request: Request, name: str) -> Response:
        by = reading(caller(request), VIEW)
        if not isinstance(request.data, dict):
            raise InvalidRequest("The body must be an object of settings by name.")
        package = package_get(name, by)
        with editing(PACKAGE_CONFIG.of(package), if_match(request), request.data):
            package = config_change(by=caller(request), package=package, changes=request.data)
        return _config(package)


class PackageConfigTest(APIView):
    """POST packages/{name}/config/test."""

    @extend_schema(**openapi.TEST)
    def post(self, request: Request, name: str) -> Response:
        empty_check(request.stream)
        package = package_get(name, reading(caller(request), VIEW))
        report = config_test(by=caller(request), package=package).carry_out()
        return Response({"package": package.name, **asdict(report)})


def _config(package: Package) -> Response:
    return tagged(Response(config_view(package)), PACKAGE_CONFIG.of(package))
