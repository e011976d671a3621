"""The page on which people set what a package needs."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.errors import NotFound
from core.pages import ConsoleView
from registry.config.forms import ConfigForm
from registry.config.selectors import settings_shown
from registry.config.services import CHANGE, config_change, is_pasted
from registry.edits import PACKAGE_CONFIG
from registry.models import Package
from registry.releases.selectors import package_get
from security.models import User
from security.people import person_of


class PackageConfig(ConsoleView):
    """A package's settings and secrets."""

    permission = CHANGE
    template = "registry/package_config.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The form with what is set; secrets only with who set them."""
        package = _configurable(name, person_of(request))
        form = ConfigForm(settings_shown(package), of=PACKAGE_CONFIG.of(package))
        return self.show({"package": package, "form": form})

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Keeps it, or shows at each field what is wrong."""
        package = _configurable(name, person_of(request))
        form = ConfigForm(settings_shown(package), request.POST, of=PACKAGE_CONFIG.of(package))
        if (
            form.attempt(
                lambda: config_change(by=person_of(request), package=package, changes=form.changes())
            )
            is None
        ):
            return self.show({"package": package, "form": form}, status=form.status)
        if pasted := [name for name, value in form.changes().items() if is_pasted(value)]:
            messages.info(request, f"Saved without the line breaks around the value: {', '.join(pasted)}.")
        messages.success(request, f"The settings of {package.name} are kept; the next call has them.")
        return redirect("package", name=package.name)


def _configurable(name: str, by: User) -> Package:
    package = package_get(name, by, CHANGE)
    if not settings_shown(package):
        raise NotFound(f"{package.name} has no settings.")
    return package
