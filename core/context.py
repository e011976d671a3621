"""What every page of the console needs in its template context."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

THEME_COOKIE = "theme"
THEMES = ("light", "dark", "auto")


@dataclass(frozen=True)
class NavItem:
    """A place in the navigation. `key` follows `g` on the keyboard; an empty permission is for everybody.

    `more` are how other addresses begin that belong to it.
    """

    title: str
    url_name: str
    icon: str
    key: str
    permission: str = ""
    more: tuple[str, ...] = ()


NAVIGATION = (
    NavItem("Overview", "overview", "home", "o", more=("/overview/",)),
    NavItem("Tools", "tools", "tools", "t", "registry.view_tool", more=("/sharing/tool/",)),
    NavItem(
        "Packages",
        "packages",
        "package",
        "k",
        "registry.view_package",
        more=("/install/", "/installations/", "/sharing/package/"),
    ),
    NavItem(
        "Collections",
        "collections",
        "list",
        "c",
        "registry.view_collection",
        more=("/sharing/collection/",),
    ),
    NavItem(
        "Personas",
        "personas",
        "robot",
        "p",
        "security.view_persona",
        more=("/simulator/", "/sharing/persona/"),
    ),
    NavItem("Policy", "policy", "lock", "u", "policy.view_restriction"),
    NavItem("Runs", "runs", "player-play", "r", "execution.view_run"),
    NavItem("Sessions", "sessions", "list-details", "n", "memory.view_session"),
    NavItem("Approvals", "approvals", "user", "v", "execution.approve_run"),
    NavItem("Schedules", "schedules", "clock", "s", "execution.view_schedule"),
    NavItem("Audit", "events", "shield-check", "a", "audit.view_event"),
)
SETTINGS_PLACE = NavItem("Settings", "settings", "settings", "e", more=("/people/", "/teams/"))


@dataclass(frozen=True)
class Page:
    """A page that a person goes to without an object in mind, and the place in whose midst it stands."""

    title: str
    url_name: str
    place: str
    permission: str = ""


# What the palette finds beside the places of the navigation and of the settings.
PAGES = (
    Page("Install a package", "install", "Packages", "registry.add_release"),
    Page("Installations", "installations", "Packages", "registry.add_release"),
    Page("New collection", "collection_new", "Collections", "registry.add_collection"),
    Page("New persona", "persona_new", "Personas", "security.add_persona"),
    Page("Simulator", "simulator", "Personas", "security.view_persona"),
    Page("Limits", "limits", "Policy", "policy.view_limit"),
    Page("Tiers", "tiers", "Policy", "policy.view_tier"),
    Page("Feature flags", "flags", "Policy", "policy.view_flag"),
    Page("Capabilities", "capabilities", "Policy", "policy.view_capability"),
    Page("Matrix of personas and capabilities", "matrix", "Policy", "policy.view_capability"),
    Page("New restriction", "restriction_new", "Policy", "policy.add_restriction"),
    Page("New pause", "pause_new", "Policy", "policy.add_restriction"),
    Page("New limit", "limit_new", "Policy", "policy.add_limit"),
    Page("New schedule", "schedule_new", "Schedules", "execution.add_schedule"),
    Page("Invite somebody", "person_invite", "People", "security.add_user"),
    Page("New team", "team_new", "Teams", "security.change_user"),
    Page("Calls over time", "series", "Overview", "execution.view_run"),
    Page("API", "api_docs", "For callers"),
    Page("Error codes", "error_codes", "For callers"),
    Page("Your account", "own", "You"),
)


@dataclass(frozen=True)
class SettingsItem:
    """A place that the settings page leads to, and what a person does there."""

    title: str
    url_name: str
    icon: str
    what: str
    permission: str


SETTINGS = (
    SettingsItem("People", "people", "users", "Who signs in, with which roles.", "security.view_user"),
    SettingsItem(
        "Teams", "teams", "users", "Who works together, and what belongs to them.", "security.view_user"
    ),
    SettingsItem(
        "Secrets", "secrets", "key", "Credentials and keys for git servers, sealed.", "security.view_secret"
    ),
    SettingsItem(
        "Output filters",
        "output_patterns",
        "filter",
        "Patterns that are taken out of what tools say.",
        "security.view_outputpattern",
    ),
    SettingsItem(
        "Resources",
        "resources",
        "activity",
        "Servers that tools depend on, and whether they answer.",
        "preconditions.view_resource",
    ),
    SettingsItem(
        "Signing in",
        "sign_in_settings",
        "user",
        "By passwords or at a provider, with invitations by mail, and whether both servers answer.",
        "security.view_user",
    ),
    SettingsItem(
        "Duties",
        "duties",
        "clock",
        "Standing duties of the steward, and rows that failed.",
        "duties.view_failedrow",
    ),
    SettingsItem(
        "Sandbox",
        "sandbox",
        "shield-lock",
        "What this machine holds code from outside with, proved anew.",
        "security.view_user",
    ),
)


def console(request: HttpRequest) -> dict[str, Any]:
    """`version`, `theme` (light, dark or auto), `navigation` with what is current, `public_url`."""
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    return {
        "version": settings.VERSION,
        "public_url": settings.PUBLIC_URL.rstrip("/"),
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "navigation": _navigation(request),
        "base": "components/part.html" if getattr(request, "htmx", None) else "base.html",
    }


def _navigation(request: HttpRequest) -> list[dict[str, Any]]:
    # An error can stop a request before the session was read.
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return []
    return [_place(request, item) for item in places_of(user)]


def _place(request: HttpRequest, item: NavItem) -> dict[str, Any]:
    url = reverse(item.url_name)
    within = item.more if url == "/" else (url, *item.more)
    current = request.path == url or request.path.startswith(within)
    return {"item": item, "url": url, "current": current}


def places_of(user: Any) -> list[NavItem]:
    """Where in the console a person may go; the settings are there for who may see one of them."""
    allowed = [item for item in NAVIGATION if not item.permission or user.holds(item.permission)]
    return [*allowed, SETTINGS_PLACE] if settings_of(user) else allowed


def pages_of(user: Any) -> list[Page]:
    """Which of the other pages a person may go to."""
    return [page for page in PAGES if not page.permission or user.holds(page.permission)]


def settings_of(user: Any) -> list[SettingsItem]:
    """Which settings a person may see."""
    return [item for item in SETTINGS if user.has_perm(item.permission)]
