"""Giving a run's file away: always as a download, never to be shown by a browser as what it says it is."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from core.errors import NotFound
from execution.features.artefacts.models import Artefact
from toolhub_sdk.visible_text import text_seen


def artefact_of(run_id: UUID, name: str) -> Artefact:
    """A file of a run that the asker may see. Raises NotFound."""
    found = Artefact.objects.select_related("content").filter(run_id=run_id, name=name).first()
    if found is None:
        raise NotFound("This run has no such file: it left none of that name, or it was removed.")
    return found


def artefact_response(one: Artefact) -> HttpResponse:
    """The bytes, with their hash as the tag."""
    response = HttpResponse(bytes(one.content.content), content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, text_seen(one.name)) or "attachment"
    response["ETag"] = f'"{one.content_id}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response
