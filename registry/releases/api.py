"""REST for packages, their releases, and what people add to tools."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.edits import editing
from core.etags import if_match, tagged
from core.keyset import page_after
from core.openapi import tagged_read, versioned
from core.query import TRUE
from registry.bodies import body_check
from registry.edits import OVERLAY_EMPTY, RELEASE, TOOL_SETTINGS
from registry.models import Package, Release
from registry.releases import openapi
from registry.releases.activation import release_activate
from registry.releases.lifecycle import (
    release_deprecate,
    release_quarantine,
    release_restore,
    release_yank,
)
from registry.releases.overlay import tool_overlay_edit
from registry.releases.selectors import (
    dependencies_graph,
    package_get,
    packages_page,
    release_get,
    release_named,
    releases_of,
)
from registry.releases.sight import SEE, changes_told, manifest_told, zip_told
from registry.releases.uninstall import package_uninstall
from registry.schemas import validator_build
from registry.selectors import tool_detail
from registry.versions import relation
from security.acting import person_answering, reading
from security.loosening import setters_view
from security.principals import caller
from security.sharing.reach import within

VIEW = "registry.view_package"
PAGE = 50
_REASON, _OVERLAY = validator_build(openapi.REASON), validator_build(openapi.OVERLAY)


def package_view(package: Package) -> dict[str, Any]:
    """A package without its releases."""
    return {
        "name": package.name,
        "title": package.title,
        "description": package.description,
        "version": package.active.version if package.active else None,
        "installed": package.uninstalled_at is None,
    }


def release_view(release: Release, state: str, reason: str, active: Release | None) -> dict[str, Any]:
    """A release without its manifest; `active` is the package's release in use."""
    return {
        "id": release.pk,
        "package": release.package.name,
        "version": release.version,
        "digest": release.digest,
        "state": state,
        "reason": reason,
        "active": active is not None and release.pk == active.pk,
        "relation": relation(release.version, active.version) if active else None,
        "reviewed": release.is_reviewed,
        "runner": release.runner,
        "origin": release.origin,
        "published_at": release.published_at.isoformat(),
    }


def _release_now(release: Release) -> dict[str, Any]:
    states = set(release.tool_versions.values_list("state", "state_reason"))
    state, reason = states.pop() if len(states) == 1 else ("quarantined", "")
    return release_view(release, state, reason, release.package.active)


def _package(request: Request, name: str) -> Package:
    return package_get(name, reading(caller(request), VIEW))


def _release(request: Request, pk: int) -> Release:
    return release_get(pk, reading(caller(request), VIEW))


class Packages(APIView):
    """GET packages."""

    @extend_schema(**openapi.LIST)
    def get(self, request: Request) -> Response:
        by = reading(caller(request), VIEW)
        params = request.query_params
        rows, more = page_after(packages_page(params, by), params, key="name", descending=False, count=PAGE)
        return Response({"packages": [package_view(one) for one in rows], "next": more})


class PackageDetail(APIView):
    """GET and DELETE packages/{name}."""

    @extend_schema(**openapi.READ)
    def get(self, request: Request, name: str) -> Response:
        package = _package(request, name)
        rows = releases_of(package)
        for row in rows:
            row["release"].package = package
        releases = [release_view(row["release"], row["state"], row["reason"], package.active) for row in rows]
        tools = within(reading(caller(request), VIEW), package.tools.filter(active__isnull=False), SEE)
        names = list(tools.order_by("name").values_list("name", flat=True))
        return Response({**package_view(package), "tools": names, "releases": releases})

    @extend_schema(**openapi.UNINSTALL)
    def delete(self, request: Request, name: str) -> Response:
        force = request.query_params.get("force", "").lower() in TRUE
        package_uninstall(by=caller(request), package=_package(request, name), force=force)
        return Response(status=204)


class PackageDependencies(APIView):
    """GET packages/{name}/dependencies."""

    @extend_schema(**openapi.DEPENDENCIES)
    def get(self, request: Request, name: str) -> Response:
        package = _package(request, name)
        return Response(dependencies_graph(package, person_answering(caller(request))))


class PackageCompare(APIView):
    """GET packages/{name}/compare."""

    @extend_schema(**openapi.COMPARE)
    def get(self, request: Request, name: str) -> Response:
        package = _package(request, name)
        before = release_named(package, request.query_params.get("from", ""))
        after = release_named(package, request.query_params.get("to", ""))
        changes = changes_told(before, after, reading(caller(request), VIEW))
        return Response({"changes": [change.as_dict() for change in changes]})


class ReleaseDetail(APIView):
    """GET releases/{id}."""

    @extend_schema(**tagged_read(openapi.RELEASE_READ))
    def get(self, request: Request, pk: int) -> Response:
        release = _release(request, pk)
        manifest = manifest_told(release, reading(caller(request), VIEW))
        return tagged(Response({**_release_now(release), "manifest": manifest}), RELEASE.of(release))


class ReleasePackage(APIView):
    """GET releases/{id}/package."""

    @extend_schema(**openapi.DOWNLOAD)
    def get(self, request: Request, pk: int) -> HttpResponse:
        release = _release(request, pk)
        response = HttpResponse(
            zip_told(release, reading(caller(request), VIEW)), content_type="application/zip"
        )
        name = f"{release.package.name}-{release.version}.zip"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


def _act(request: Request, pk: int, change: Callable[[Release], object]) -> Response:
    release = _release(request, pk)
    with editing(RELEASE.of(release), if_match(request)):
        change(release)
    return _tagged(_release(request, pk))


def _tagged(release: Release) -> Response:
    return tagged(Response(_release_now(release)), RELEASE.of(release))


class ReleaseActivate(APIView):
    """POST releases/{id}/activate."""

    @extend_schema(**versioned(openapi.act("release_activate", "Put a release in use, forward or back")))
    def post(self, request: Request, pk: int) -> Response:
        return _act(request, pk, lambda release: release_activate(by=caller(request), release=release))


class ReleaseDeprecate(APIView):
    """POST releases/{id}/deprecate."""

    @extend_schema(**versioned(openapi.act("release_deprecate", "Warn who calls a release", openapi.REASON)))
    def post(self, request: Request, pk: int) -> Response:
        body_check(_REASON, request.data)
        reason = request.data["reason"]
        return _act(
            request, pk, lambda one: release_deprecate(by=caller(request), release=one, reason=reason)
        )


class ReleaseYank(APIView):
    """POST releases/{id}/yank."""

    @extend_schema(**versioned(openapi.act("release_yank", "Refuse every call of a release", openapi.REASON)))
    def post(self, request: Request, pk: int) -> Response:
        body_check(_REASON, request.data)
        reason = request.data["reason"]
        return _act(request, pk, lambda one: release_yank(by=caller(request), release=one, reason=reason))


class ReleaseQuarantine(APIView):
    """POST releases/{id}/quarantine."""

    @extend_schema(
        **versioned(
            openapi.act("release_quarantine", "Refuse every call until a person reviewed it", openapi.REASON)
        )
    )
    def post(self, request: Request, pk: int) -> Response:
        body_check(_REASON, request.data)
        reason = request.data["reason"]
        return _act(
            request, pk, lambda one: release_quarantine(by=caller(request), release=one, reason=reason)
        )


class ReleaseRestore(APIView):
    """POST releases/{id}/restore."""

    @extend_schema(**versioned(openapi.act("release_restore", "Take a deprecation or withdrawal back")))
    def post(self, request: Request, pk: int) -> Response:
        return _act(request, pk, lambda release: release_restore(by=caller(request), release=release))


class ToolOverlay(APIView):
    """GET and PUT tools/{name}/overlay."""

    @extend_schema(**tagged_read(openapi.OVERLAY_READ))
    def get(self, request: Request, name: str) -> Response:
        tool = tool_detail(name, reading(caller(request), VIEW))
        shown = {**tool.overlay, "set_by": setters_view(("tool", tool.name), "tool", "tool_flag")}
        return tagged(Response(shown), TOOL_SETTINGS.of(tool))

    @extend_schema(**versioned(openapi.EDIT))
    def put(self, request: Request, name: str) -> Response:
        body_check(_OVERLAY, request.data)
        tool = tool_detail(name, reading(caller(request), VIEW))
        thing = TOOL_SETTINGS.of(tool)
        with editing(thing, if_match(request), {**OVERLAY_EMPTY, **request.data}):
            edited = tool_overlay_edit(by=caller(request), tool=tool, overlay=request.data)
        return tagged(Response(edited.overlay), TOOL_SETTINGS.of(edited))
