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

    `more` are places with addresses of their own that belong to it.
    """

    title: str
    url_name: str
    icon: str
    key: str
    permission: str = ""
    more: tuple[str, ...] = ()


NAVIGATION = (
    NavItem("Overview", "overview", "home", "o"),
    NavItem("Tools", "tools", "tools", "t", "registry.view_tool"),
    NavItem(
        "Packages", "packages", "package", "k", "registry.view_package", more=("install", "installations")
    ),
    NavItem("Personas", "personas", "robot", "p", "security.view_persona"),
    NavItem("Policy", "policy", "lock", "u", "policy.view_restriction"),
    NavItem("Runs", "runs", "player-play", "r", "execution.view_run"),
    NavItem("Approvals", "approvals", "user", "v", "execution.approve_run"),
    NavItem("Schedules", "schedules", "clock", "s", "execution.view_schedule"),
    NavItem("Audit", "events", "shield-check", "a", "audit.view_event"),
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
    items = []
    for item in NAVIGATION:
        if item.permission and not user.has_perm(item.permission):
            continue
        url = reverse(item.url_name)
        places = (url, *map(reverse, item.more))
        current = request.path == url if url == "/" else request.path.startswith(places)
        items.append({"item": item, "url": url, "current": current})
    return items
