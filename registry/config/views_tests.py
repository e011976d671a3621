"""Pages on which people test secrets: those of a package, and the credentials of a git server."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from core.errors import Denied, NotFound, ToolHubError
from core.forms import ConsoleForm
from core.pages import ConsoleView
from core.submissions.pages import form_once
from registry.config.schema import scope_of
from registry.config.secret_test import config_test, plan_of
from registry.config.services import CHANGE
from registry.installations.sources.git_credentials import CHANGE as CHANGE_SECRET
from registry.installations.sources.git_credentials import SCOPE, credential_row
from registry.installations.sources.git_test import credential_test, repository_proposed
from registry.releases.selectors import package_get
from security.models import Secret
from security.people import person_of
from security.secret_tests import PreparedTest, past_report


class RepositoryForm(ConsoleForm):
    """Where a git server's credentials are tried."""

    repository = forms.CharField(
        max_length=500,
        required=False,
        help_text="The hub asks for its refs and fetches nothing. Empty: only the form is judged.",
    )


class SecretTestView(ConsoleView):
    """Says what a test can show, makes it, and shows the last one."""

    # The server is asked when nothing is locked any more.
    carries_out_once = False

    def answer(
        self, form: ConsoleForm, prepare: Callable[[], PreparedTest], show: Callable[[int], HttpResponse]
    ) -> HttpResponseBase:
        """Test once, however often the form is sent, and lead to the page; or `show` what was refused."""
        prepared: list[PreparedTest] = []

        def begin() -> HttpResponse:
            if not form.is_valid():
                return show(form.status)
            try:
                prepared.append(prepare())
            except (NotFound, Denied):
                raise
            except ToolHubError as error:
                form.take(error)
                response = show(error.known.status)
                if error.retry_after:
                    response["Retry-After"] = str(error.retry_after)
                return response
            return redirect(self.request.path)

        response = form_once(self.request, begin)
        if prepared:
            prepared[0].carry_out()
        return response


class PackageConfigTest(SecretTestView):
    """Tests the secrets of a package."""

    permission = CHANGE
    template = "registry/package_config_test.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """What a test can show, and the last one."""
        return self._show(name, ConsoleForm(), 200)

    def post(self, request: HttpRequest, name: str) -> HttpResponseBase:
        """Tests, and leads to the result."""
        by, form = person_of(request), ConsoleForm(request.POST)
        package = package_get(name, by, CHANGE)
        return self.answer(
            form, lambda: config_test(by=by, package=package), lambda status: self._show(name, form, status)
        )

    def _show(self, name: str, form: ConsoleForm, status: int) -> HttpResponse:
        package = package_get(name, person_of(self.request), CHANGE)
        context: dict[str, Any] = {"package": package, "plan": plan_of(package), "form": form}
        return self.show({**context, "last": past_report(scope_of(package.name))}, status=status)


class CredentialTest(SecretTestView):
    """Tests the credentials of a git server."""

    permission = CHANGE_SECRET
    template = "registry/credential_test.html"

    def get(self, request: HttpRequest, row: int) -> HttpResponse:
        """The form, and the last test."""
        secret = credential_row(row)
        form = RepositoryForm(initial={"repository": repository_proposed(secret.name)})
        return self._show(secret, form, 200)

    def post(self, request: HttpRequest, row: int) -> HttpResponseBase:
        """Tests, and leads to the result."""
        by, form, secret = person_of(request), RepositoryForm(request.POST), credential_row(row)
        return self.answer(
            form,
            lambda: credential_test(by=by, secret=secret, **form.cleaned_data),
            lambda status: self._show(secret, form, status),
        )

    def _show(self, secret: Secret, form: ConsoleForm, status: int) -> HttpResponse:
        context = {"secret": secret, "form": form, "last": past_report(SCOPE, secret.name)}
        return self.show(context, status=status)
