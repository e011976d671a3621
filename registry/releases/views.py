"""Pages of packages and their releases."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import ToolHubError
from core.forms import ConsoleForm
from core.lists import ListView
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from core.submissions.pages import refused
from registry.config.selectors import settings_shown
from registry.edits import PACKAGE, RELEASE
from registry.environments import dependencies_of
from registry.installations.models import SourceType
from registry.models import Package, Release, VersionState
from registry.releases.activation import activation_objection, release_activate
from registry.releases.affected import affected_by, tools_told
from registry.releases.forms import ReasonForm
from registry.releases.lifecycle import (
    release_deprecate,
    release_quarantine,
    release_restore,
    release_yank,
)
from registry.releases.selectors import (
    package_get,
    package_tools,
    packages_page,
    release_named,
    releases_of,
)
from registry.releases.sight import changes_told, zip_told
from registry.releases.uninstall import package_uninstall
from registry.rules.reading import stranded_words
from registry.versions import relation, rows_newest_first
from security.models import User
from security.people import person_of
from security.sharing.perms import PermsOn
from toolhub_sdk.runtimes.registry import own_runtime


class PackagesList(ListView[Package]):
    """Every package, by name."""

    permission = "registry.view_package"
    template = "registry/packages_list.html"
    heading, noun, search = "Packages", "package", "Name or description"
    filters = ("q", "state")
    choices: ClassVar = {"state": ("removed",)}
    key, descending, ways = "name", False, ("Back", "More")
    sorts = {"name": "name"}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Package]:
        """Narrowed by `q` and `state`."""
        return packages_page(params, person_of(self.request))

    def more(self, page: Any) -> dict[str, Any]:
        """The states to choose from."""
        return {"states": [("removed", "uninstalled")]}


class PackagePage(ConsoleView):
    """One package: its releases, tools, and where they came from."""

    permission = "registry.view_package"
    template = "registry/package_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        package = package_get(name, person_of(request), self.permission)
        perms = PermsOn(person_of(request), package)
        active = package.active
        is_own = package.releases.filter(runner=own_runtime().name).exists()
        settings = settings_shown(package)
        return self.show(
            {
                "package": package,
                "perms": perms,
                "sharing": perms.summary(),
                "active": active,
                "is_own": is_own,
                "settings": settings,
                "has_secrets": any(one.secret for one in settings),
                "unset": [one.name for one in settings if one.missing],
                "releases": releases_of(package),
                "tools": package_tools(package, person_of(request)),
                "origin": active.origin if active else {},
                "source": dict(SourceType.choices).get(active.origin.get("type", "")) if active else "",
                "dependencies": dependencies_of(active.lock) if active else [],
            }
        )


class ReleaseCompare(ConsoleView):
    """Two releases of a package, field by field."""

    permission = "registry.view_package"
    template = "registry/release_compare.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page: `?from=` and `?to=` name versions; without them the release in use and the newest."""
        package = package_get(name, person_of(request), self.permission)
        versions = [one.version for one in rows_newest_first(package.releases.only("version"), 50)]
        used = package.active.version if package.active else versions[-1] if versions else ""
        before = release_named(package, request.GET.get("from") or used)
        after = release_named(package, request.GET.get("to") or versions[0])
        changes = [change.as_dict() for change in changes_told(before, after, person_of(request))]
        return self.show(
            {
                "package": package,
                "before": before,
                "after": after,
                "befores": [(version, f"Before: {version}") for version in versions],
                "afters": [(version, f"After: {version}") for version in versions],
                "filters": {"from": before.version, "to": after.version},
                "careful": [change for change in changes if change["careful"]],
                "calm": [change for change in changes if not change["careful"]],
            }
        )


class ReleaseZip(ConsoleView):
    """The release as the zip that was installed."""

    permission = "registry.view_package"

    def get(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The download."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        response = HttpResponse(zip_told(release, person_of(request)), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{name}-{release.version}.zip"'
        return response


class ReleaseActivate(QuestionView):
    """Asks, then puts a release in use: forward, or back."""

    permission = "registry.change_release"

    def about(self, name: str, version: str) -> Edited[Any] | None:
        """The release."""
        package = package_get(name, person_of(self.request), self.permission)
        return RELEASE.of(release_named(package, version))

    def get(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The question, with who is affected."""
        package = package_get(name, person_of(request), self.permission)
        release = release_named(package, version)
        kept = set(release.tool_versions.values_list("tool__name", flat=True))
        gone = [
            tool.name
            for tool in package_tools(package, person_of(request))
            if tool.active_id and tool.name not in kept
        ]
        touched = ["Calls that name no version get it from the next one on; running calls end as they began."]
        if gone:
            touched.append(f"{tools_told(gone)} not in it and no longer offered.")
        warned = release.tool_versions.filter(state=VersionState.DEPRECATED).first()
        if warned is not None:
            touched.append(f"It is deprecated, and its callers are warned: {warned.state_reason}")
        told = affected_by(package).in_words(person_of(request))
        touched += [*stranded_words(release, person_of(request)), *told]
        back = reverse("package", args=[name])
        used = package.active
        older = used is not None and relation(release.version, used.version) == "older"
        if objection := activation_objection(release.version, used.version if used else None):
            touched.insert(0, objection)
        act = "Roll back" if older else "Activate"
        title = f"Roll back to {release}?" if older else f"Activate {release}?"
        return self.ask(Question(title, touched, act, back, calm=True))

    def post(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The act."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        return _acted(
            request,
            name,
            lambda: release_activate(by=person_of(request), release=release),
            f"{release} is in use.",
        )


class _Reasoned(ConsoleView):
    """Asks for a reason, then acts."""

    permission = "registry.change_release"
    template = "registry/release_reason.html"
    title, action, effect, done = "", "", "", ""

    def act(self, by: User, release: Release, reason: str) -> None:
        raise NotImplementedError

    def get(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The form."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        return self._page(release, ReasonForm(of=RELEASE.of(release)))

    def post(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The act, or what is wrong."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        form = ReasonForm(request.POST, of=RELEASE.of(release))

        def act() -> bool:
            self.act(person_of(request), release, form.cleaned_data["reason"])
            return True

        if form.attempt(act) is None:
            return self._page(release, form, status=form.status)
        messages.success(request, f"{release} is {self.done}.")
        return redirect("package", name=name)

    def _page(self, release: Release, form: ConsoleForm, status: int = 200) -> HttpResponse:
        context = {
            "form": form,
            "release": release,
            "title": f"{self.title} {release}?",
            "action": self.action,
            "effect": self.effect,
            "affected": affected_by(release.package).in_words(person_of(self.request)),
        }
        return self.show(context, status=status)


class ReleaseDeprecate(_Reasoned):
    """Callers are warned."""

    title, action, done = "Deprecate", "Deprecate it", "deprecated"
    effect = "Its tools go on working; whoever calls them is warned with your reason."

    def act(self, by: User, release: Release, reason: str) -> None:
        """Deprecates."""
        release_deprecate(by=by, release=release, reason=reason)


class ReleaseYank(_Reasoned):
    """Callers are refused."""

    title, action, done = "Withdraw", "Withdraw it", "withdrawn"
    effect = "Every call of this version is refused from now on, with your reason. It can be taken back."

    def act(self, by: User, release: Release, reason: str) -> None:
        """Withdraws."""
        release_yank(by=by, release=release, reason=reason)


class ReleaseQuarantine(_Reasoned):
    """Callers are refused until somebody looked."""

    title, action, done = "Quarantine", "Quarantine it", "in quarantine"
    effect = (
        "Every call of its tools is refused from now on, with your reason, also while it is in use. "
        "A person who has reviewed it restores it."
    )

    def act(self, by: User, release: Release, reason: str) -> None:
        """Sets apart."""
        release_quarantine(by=by, release=release, reason=reason)


class ReleaseRestore(QuestionView):
    """Takes deprecation, withdrawal or quarantine back."""

    permission = "registry.change_release"

    def about(self, name: str, version: str) -> Edited[Any] | None:
        """The release."""
        package = package_get(name, person_of(self.request), self.permission)
        return RELEASE.of(release_named(package, version))

    def get(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The question."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        back = reverse("package", args=[name])
        touched = ["Its tools can be called by its number again, without a warning."]
        return self.ask(Question(f"Restore {release}?", touched, "Restore it", back, calm=True))

    def post(self, request: HttpRequest, name: str, version: str) -> HttpResponse:
        """The act."""
        release = release_named(package_get(name, person_of(request), self.permission), version)
        return _acted(
            request,
            name,
            lambda: release_restore(by=person_of(request), release=release),
            f"{release} is restored.",
        )


class PackageUninstall(QuestionView):
    """Asks, then removes a package."""

    permission = "registry.delete_package"

    def about(self, name: str) -> Edited[Any] | None:
        """The package."""
        return PACKAGE.of(package_get(name, person_of(self.request), self.permission))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question, with what needs it."""
        package = package_get(name, person_of(request), self.permission)
        affected = affected_by(package)
        offered = [tool.name for tool in package_tools(package, person_of(request)) if tool.active_id]
        touched = [
            f"{tools_told(offered)} no longer offered, and calls are refused.",
            "Runs, audit and digests stay. It can be installed again.",
            *affected.in_words(person_of(request)),
        ]
        hidden = {"force": "yes"} if affected.blocks else {}
        act = "Uninstall it all the same" if affected.blocks else "Uninstall it"
        title = f"Uninstall {package.name}?"
        return self.ask(Question(title, touched, act, reverse("package", args=[name]), hidden=hidden))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        package = package_get(name, person_of(request), self.permission)
        force = request.POST.get("force") == "yes"
        return _acted(
            request,
            name,
            lambda: package_uninstall(by=person_of(request), package=package, force=force),
            f"{package.name} is uninstalled.",
        )


def _acted(request: HttpRequest, name: str, act: Callable[[], object], done: str) -> HttpResponse:
    """Acts, and goes back to the package with what came of it."""
    try:
        act()
    except ToolHubError as error:
        return refused(request, error.message, reverse("package", args=[name]))
    messages.success(request, done)
    return redirect("package", name=name)
