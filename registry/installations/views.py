"""Pages of installations: give a source, watch the steps, review, publish."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import NotFound, ToolHubError
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from registry.edits import INSTALLATION
from registry.installations.approval import installation_approve
from registry.installations.forms import InstallForm
from registry.installations.models import Installation, Staged, Status
from registry.installations.ownership import teams_to_choose
from registry.installations.page import page_context, review_form
from registry.installations.selectors import installation_seen, installations_page
from registry.installations.services import (
    installation_cancel,
    installation_retry,
    installation_start,
)
from security.people import person_of
from security.sharing.reach import known


class InstallationsList(ListView[Installation]):
    """Every installation, newest first."""

    permission = "registry.add_release"
    template = "registry/installations_list.html"
    heading, noun, search = "Installations", "installation", "Package or source"
    filters, linked, above = ("q", "status"), ("package", "since"), ("packages", "Packages")
    choices: ClassVar = {"status": ("open", *Status.values)}
    live = True

    def rows(self, params: Mapping[str, str]) -> QuerySet[Installation]:
        """Narrowed by `q`, `status` and `package`."""
        return installations_page(params, person_of(self.request))

    def more(self, page: Any) -> dict[str, Any]:
        """The states to choose from."""
        return {"states": [("open", "open"), *Status.choices]}


class InstallPage(ConsoleView):
    """Asks for a source, and starts."""

    permission = "registry.add_release"
    template = "registry/install.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form; `?type=`, `?location=` and their like fill it in."""
        names = ("type", "location", "ref", "path", "digest")
        given = {name: request.GET[name] for name in names if name in request.GET}
        return self.show({"form": InstallForm(initial=given, **_owners(request))})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Starts, or shows what is wrong."""
        form = InstallForm(request.POST, request.FILES, **_owners(request))
        one = form.attempt(lambda: self._start(request, form))
        if one is None:
            return self.show({"form": form}, status=422)
        return redirect("installation", pk=one.pk)

    def _start(self, request: HttpRequest, form: InstallForm) -> Installation:
        source, content = form.source()
        team = form.cleaned_data.get("team")
        return installation_start(by=person_of(request), source=source, content=content, team=team)


def _owners(request: HttpRequest) -> dict[str, Any]:
    """The teams that the person may choose as the owner, and one of their own to propose."""
    person = person_of(request)
    teams = teams_to_choose(person)
    own = [team.name for team in teams if team.pk in known(person).teams]
    return {"teams": [team.name for team in teams], "owner": own[0] if own else ""}


class InstallationPage(ConsoleView):
    """One installation: its steps and log as they come, then the review, then what came of it."""

    permission = "registry.add_release"
    template = "registry/installation.html"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The page, or its live part."""
        one = installation_seen(str(pk), person_of(request))
        return self.show(page_context(one, person_of(request), _offset(request.GET.get("tools", ""))))

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The review's answer."""
        one = installation_seen(str(pk), person_of(request))
        form = review_form(one, request.POST)
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
            return self.show({**page_context(one, person_of(request)), "form": form}, status=422)
        return redirect("installation", pk=one.pk)


def _offset(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


class InstallationZip(ConsoleView):
    """What was fetched, to be read before it is published."""

    permission = "registry.add_release"

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The download. Raises NotFound when the installation has ended."""
        one = installation_seen(str(pk), person_of(request))
        staged = Staged.objects.filter(pk=one.pk).first()
        if staged is None:
            raise NotFound("Nothing is staged any more.")
        response = HttpResponse(bytes(staged.content), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{one.package or "package"}.zip"'
        return response


class InstallationCancel(QuestionView):
    """Asks, then cancels."""

    permission = "registry.add_release"

    def about(self, pk: UUID) -> Edited[Any] | None:
        """The installation."""
        return INSTALLATION.of(installation_seen(str(pk), person_of(self.request)))

    def get(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The question."""
        one = installation_seen(str(pk), person_of(request))
        touched = ["What was fetched is removed; nothing of it was published.", "Its log stays."]
        back = reverse("installation", args=[one.pk])
        if one.status == Status.AWAITING_REVIEW:
            return self.ask(Question(f"Reject {one}?", touched, "Reject it", back, leave="Decide later"))
        title = f"Stop the installation of {one}?"
        return self.ask(Question(title, touched, "Stop it", back, leave="Let it go on"))

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The act."""
        one = installation_seen(str(pk), person_of(request))
        try:
            installation_cancel(by=person_of(request), installation=one)
        except ToolHubError as error:
            return refused(request, error.message, reverse("installation", args=[one.pk]))
        return redirect("installation", pk=one.pk)


class InstallationRetry(ConsoleView):
    """Tries the failed step again."""

    permission = "registry.add_release"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The act."""
        one = installation_seen(str(pk), person_of(request))
        try:
            installation_retry(by=person_of(request), installation=one)
        except ToolHubError as error:
            return refused(request, error.message, reverse("installation", args=[one.pk]))
        return redirect("installation", pk=one.pk)
