"""The published JSON Schema of manifests, for editors and for authors' own checks."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from toolhub_sdk.checks.form import published_schema


@require_safe
def manifest_schema(request: HttpRequest) -> HttpResponse:
    """GET /schemas/toolhub.schema.json; open to all, since it says nothing about this hub."""
    return JsonResponse(published_schema(), content_type="application/schema+json")
