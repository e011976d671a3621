"""Pages of installations: give a source, watch the steps, review, publish."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.errors import NotFound, ToolHubError
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from registry.installations.forms import InstallForm, ReviewForm
from registry.installations.models import STEPS, Installation, Staged, Status
from registry.installations.selectors import installation_lines, installations_page
from registry.installations.services import (
    installation_approve,
    installation_cancel,
    installation_get,
    installation_retry,
    installation_start,
)
from registry.models import Package
from registry.parameters import parameters_of
from registry.releases.affected import affected_by
from security.people import person_of

_WORDS = {
    "fetch": "Fetch",
    "verify": "Verify",
    "inspect": "Inspect",
    "review": "Review",
    "prepare": "Prepare",
    "self_test": "Self-test",
    "publish": "Publish",
}


class InstallationsList(ListView[Installation]):
    """Every installation, newest first."""

    permission = "registry.add_release"
    template = "registry/installations_list.html"
    heading, noun, search = "Installations", "installation", "Package or source"
    filters, linked = ("q", "status"), ("package",)
    live = True

    def rows(self, params: Mapping[str, str]) -> QuerySet[Installation]:
        """Narrowed by `q`, `status` and `package`."""
        return installations_page(params)

    def more(self, page: Any) -> dict[str, Any]:
        """The states to choose from."""
        return {"states": [("open", "open"), *Status.choices]}


class InstallPage(ConsoleView):
    """Asks for a source, and starts."""

    permission = "registry.add_release"
    template = "registry/install.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form; `?type=` and `?location=` fill it in."""
        given = {
            name: request.GET[name] for name in ("type", "location", "ref", "path") if name in request.GET
        }
        return self.show({"form": InstallForm(initial=given)})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Starts, or shows what is wrong."""
        form = InstallForm(request.POST, request.FILES)
        one = form.attempt(lambda: self._start(request, form))
        if one is None:
            return self.show({"form": form}, status=422)
        return redirect("installation", pk=one.pk)

    def _start(self, request: HttpRequest, form: InstallForm) -> Installation:
        source, content = form.source()
        return installation_start(by=person_of(request), source=source, content=content)


class InstallationPage(ConsoleView):
    """One installation: its steps and log as they come, then the review, then what came of it."""

    permission = "registry.add_release"
    template = "registry/installation.html"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The page, or its live part."""
        one = installation_get(str(pk))
        return self.show(page_context(one, _offset(request.GET.get("tools", ""))))

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The review's answer."""
        one = installation_get(str(pk))
        form = _review_form(one, request.POST)
        done = form.attempt(
            lambda: installation_approve(
                by=person_of(request),
                installation=one,
                digest=form.cleaned_data["digest"],
                activate=form.cleaned_data["activate"],
                reviewed=form.cleaned_data["reviewed"],
                names=form.chosen_names(),
            )
        )
        if done is None:
            return self.show({**page_context(one), "form": form}, status=422)
        return redirect("installation", pk=one.pk)


def _offset(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def page_context(one: Installation, first: int = 0) -> dict[str, Any]:
    """What the installation's page shows; of its tools TOOLS_SHOWN from the first on."""
    known = {step["name"]: step for step in one.steps}
    package = Package.objects.filter(name=one.package).first() if one.package else None
    return {
        "one": one,
        "following": one.status in {Status.QUEUED, Status.RUNNING},
        "reviewing": one.status == Status.AWAITING_REVIEW,
        "words": [{"name": name, "title": _WORDS[name], "step": known.get(name)} for name in STEPS],
        "lines": installation_lines(one),
        "form": _review_form(one) if one.status == Status.AWAITING_REVIEW else None,
        "tools": [
            {
                **tool,
                "summary": _summary(tool),
                "inputs": parameters_of(tool["inputSchema"]),
                "outputs": parameters_of(tool["outputSchema"]) if tool["outputSchema"] else [],
            }
            for tool in one.report.get("tools", [])[first : first + TOOLS_SHOWN]
        ],
        "tools_next": first + TOOLS_SHOWN if len(one.report.get("tools", [])) > first + TOOLS_SHOWN else None,
        "tools_back": max(0, first - TOOLS_SHOWN) if first else None,
        "careful": [change for change in one.report.get("difference", []) if change["careful"]],
        "calm": [change for change in one.report.get("difference", []) if not change["careful"]],
        "affected": affected_by(package).in_words()
        if package and one.status == Status.AWAITING_REVIEW
        else [],
    }


TOOLS_SHOWN = 50


def _summary(tool: Mapping[str, Any]) -> str:
    parts = ["pure" if tool["pure"] else "impure"]
    parts += [f"needs {', '.join(tool['capabilities'])}"] if tool["capabilities"] else []
    parts += [f"network {', '.join(tool['network'])}"] if tool["network"] else []
    return ", ".join(parts)


def _review_form(one: Installation, data: Any = None) -> ReviewForm:
    clashes = [tool["name"] for tool in one.report.get("tools", []) if tool["clash"]]
    return ReviewForm(data, clashes=clashes, initial={"digest": one.digest, "activate": True})


class InstallationZip(ConsoleView):
    """What was fetched, to be read before it is published."""

    permission = "registry.add_release"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The download. Raises NotFound when the installation has ended."""
        one = installation_get(str(pk))
        staged = Staged.objects.filter(pk=one.pk).first()
        if staged is None:
            raise NotFound("Nothing is staged any more.")
        response = HttpResponse(bytes(staged.content), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{one.package or "package"}.zip"'
        return response


class InstallationCancel(QuestionView):
    """Asks, then cancels."""

    permission = "registry.add_release"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The question."""
        one = installation_get(str(pk))
        touched = ["What was fetched is removed; nothing of it was published.", "Its log stays."]
        back = reverse("installation", args=[one.pk])
        return self.ask(
            Question(f"Cancel the installation of {one}?", touched, "Cancel it", back, leave="Go on")
        )

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The act."""
        one = installation_get(str(pk))
        try:
            installation_cancel(by=person_of(request), installation=one)
        except ToolHubError as error:
            messages.error(request, error.message)
        return redirect("installation", pk=one.pk)


class InstallationRetry(ConsoleView):
    """Tries the failed step again."""

    permission = "registry.add_release"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The act."""
        one = installation_get(str(pk))
        try:
            installation_retry(by=person_of(request), installation=one)
        except ToolHubError as error:
            messages.error(request, error.message)
        return redirect("installation", pk=one.pk)
