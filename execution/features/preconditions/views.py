"""The page of resources that preconditions name."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from core.edits import Edited
from core.forms import ConsoleForm
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from execution.features.preconditions.edits import RESOURCE
from execution.features.preconditions.models import Resource
from execution.features.preconditions.resources import (
    NAME_MAX,
    resource_add,
    resource_remove,
    resource_switch,
)
from security.people import person_of


class ResourceForm(ConsoleForm):
    """A new resource."""

    name = forms.CharField(
        max_length=NAME_MAX, help_text="As the preconditions of tools name it, such as browser."
    )
    url = forms.CharField(
        label="Address",
        max_length=2000,
        required=False,
        help_text="It is up while a GET answers 2xx. Leave it empty to say by hand how it is.",
    )


class Resources(ConsoleView):
    """All resources, by name."""

    permission = "preconditions.view_resource"
    template = "execution/resources.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        return self._show(ResourceForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        """Adds one, or shows what is wrong."""
        form = ResourceForm(request.POST)
        by = person_of(request)
        row = form.attempt(lambda: resource_add(by=by, **form.cleaned_data))
        if row is None:
            return self._show(form, status=422)
        messages.success(request, f"{row.name} is added.")
        return redirect("resources")

    def _show(self, form: ResourceForm, status: int = 200) -> HttpResponse:
        rows = Resource.objects.select_related("created_by")
        return self.show({"form": form, "rows": rows}, status=status)


class ResourceSwitch(QuestionView):
    """Asks, then says that a resource is down, or up again."""

    permission = "preconditions.change_resource"

    def about(self, row: int) -> Edited[Any] | None:
        """The resource."""
        return RESOURCE.of(get_object_or_404(Resource, pk=row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        resource = get_object_or_404(Resource, pk=row)
        what = "up" if not resource.is_up else "down"
        touched = [
            "Tools that require it are refused with PRECONDITION_FAILED, those that prefer it run degraded."
            if resource.is_up
            else "Tools that need it run again."
        ]
        asked = Question(f"Is {resource.name} {what}?", touched, f"It is {what}", reverse("resources"))
        return self.ask(asked)

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        resource = get_object_or_404(Resource, pk=row)
        by, is_up = person_of(request), not resource.is_up
        reason = "" if is_up else f"{by.get_username()} said so."
        resource_switch(by=by, resource=resource, is_up=is_up, reason=reason)
        messages.success(request, f"{resource.name} counts as {'up' if is_up else 'down'}.")
        return redirect("resources")


class ResourceRemove(QuestionView):
    """Asks, then takes a resource away."""

    permission = "preconditions.delete_resource"

    def about(self, row: int) -> Edited[Any] | None:
        """The resource."""
        return RESOURCE.of(get_object_or_404(Resource, pk=row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        resource = get_object_or_404(Resource, pk=row)
        touched = ["Preconditions that name it fail from now on."]
        return self.ask(
            Question(f"Take {resource.name} away?", touched, "Take it away", reverse("resources"))
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        resource = get_object_or_404(Resource, pk=row)
        resource_remove(by=person_of(request), resource=resource)
        messages.success(request, f"{resource.name} is taken away.")
        return redirect("resources")
