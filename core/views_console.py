"""Small pages that belong to no app: the colour theme and the codes of errors."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from core.codes import CODES
from core.context import THEME_COOKIE, THEMES
from core.views_errors import method_not_allowed

YEAR_S = 365 * 24 * 3600


def theme_set(request: HttpRequest) -> HttpResponse:
    """Keeps the theme in a cookie and goes back; for browsers without JavaScript."""
    if request.method != "POST":
        return method_not_allowed(request, ["POST"])
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        back = "/"
    response = redirect(back)
    theme = request.POST.get("theme", "auto")
    if theme in THEMES:
        response.set_cookie(THEME_COOKIE, theme, max_age=YEAR_S, samesite="Lax", secure=request.is_secure())
    return response


@require_safe
def error_codes(request: HttpRequest) -> HttpResponse:
    """Every code that a caller can get; the `type` of a problem leads here, so it is open to all."""
    return render(request, "core/error_codes.html", {"codes": CODES.values(), "base": "base.html"})
