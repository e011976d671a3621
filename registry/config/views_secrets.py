"""The page of the vault: which secrets there are, who set them, and the credentials of git servers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.forms import ConsoleForm
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from registry.config.schema import scope_of
from registry.installations.sources.git_credentials import (
    CHANGE,
    SCOPE,
    credential_remove,
    credential_row,
    credential_set,
)
from registry.installations.sources.git_keys import key_set
from security.edits import SECRET
from security.models import Secret
from security.people import person_of
from security.sharing.reach import kept_from


class CredentialForm(ConsoleForm):
    """User and password for a git server."""

    server = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"placeholder": "https://code.example.org"}),
        help_text="Only this server gets them.",
    )
    user = forms.CharField(max_length=200, help_text="For a token, what the service says.")
    password = forms.CharField(
        label="Password or token",
        max_length=4000,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text="Kept in the vault; it is not shown again.",
    )


class UnshownArea(forms.Textarea):
    """A text of several lines that a page never gives back, even one that does not fit."""

    def format_value(self, value: Any) -> str:
        """Nothing."""
        return ""


class KeyForm(ConsoleForm):
    """A key for a git server by ssh."""

    prefix = "ssh"
    server = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"placeholder": "ssh://code.example.org"}),
        help_text="Only this server is shown it.",
    )
    key = forms.CharField(
        label="Private key",
        max_length=12_000,
        widget=UnshownArea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"}),
        help_text="Without a passphrase. Kept in the vault; it is not shown again.",
    )
    host_keys = forms.CharField(
        label="The server's public keys",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="A line each, as the server's people publish them: ssh-ed25519 AAAA…",
    )


class Secrets(ConsoleView):
    """All of the vault by place and name."""

    permission = "security.view_secret"
    template = "registry/secrets.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        return self._show(CredentialForm(), KeyForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        """Keeps credentials, or shows what is wrong."""
        by = person_of(request)
        form: CredentialForm | KeyForm
        if "ssh-server" in request.POST:
            form = key = KeyForm(request.POST)
            form.attempt(lambda: key_set(by=by, **key.cleaned_data))
        else:
            form = credential = CredentialForm(request.POST)
            form.attempt(lambda: credential_set(by=by, **credential.cleaned_data))
        if form.errors and isinstance(form, KeyForm):
            return self._show(CredentialForm(), form, status=422)
        if form.errors:
            return self._show(form, KeyForm(), status=422)
        messages.success(request, f"The credentials for {form.cleaned_data['server']} are kept.")
        return redirect("secrets")

    def _show(self, form: ConsoleForm, key_form: ConsoleForm, status: int = 200) -> HttpResponse:
        rows = Secret.objects.defer("sealed").order_by("scope", "name")
        if kept := kept_from(person_of(self.request)):
            names = (name for things in kept["package"] for name in things.values_list("name", flat=True))
            rows = rows.exclude(scope__in=[scope_of(name) for name in names])
        context = {
            "form": form,
            "key_form": key_form,
            "servers": [row for row in rows if row.scope == SCOPE],
            "packages": [
                (row, row.scope.removeprefix("package:")) for row in rows if row.scope.startswith("package:")
            ],
        }
        return self.show(context, status=status)


class CredentialRemove(QuestionView):
    """Asks, then forgets the credentials of a server."""

    permission = CHANGE

    def about(self, row: int) -> Edited[Any] | None:
        """The credentials."""
        return SECRET.of(credential_row(row))

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The question."""
        secret = credential_row(row)
        touched = ["Packages of its private repositories cannot be fetched any more.", "Releases stay."]
        return self.ask(
            Question(f"Forget the credentials for {secret.name}?", touched, "Forget them", reverse("secrets"))
        )

    def post(self, request: HttpRequest, row: int) -> HttpResponse:
        """The act."""
        secret = credential_row(row)
        credential_remove(by=person_of(request), server=secret.name)
        messages.success(request, f"The credentials for {secret.name} are forgotten.")
        return redirect("secrets")
