"""Every address of the hub: machines' ones, the API, and the console's pages."""

from collections.abc import Callable
from typing import Any

from allauth.account.views import LogoutView, ReauthenticateView
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import include, path
from django.utils.module_loading import import_string
from django.views.generic import RedirectView

# Imported for what it registers; here, because only the description needs it.
import security.openapi  # noqa: F401
from core.views_console import error_codes, theme_set
from core.views_settings import SettingsPage
from core.views_style import StylePage
from execution.entry.mcp.api import mcp
from monitoring.views_duties import DutiesPage, RowRetry
from monitoring.views_overview import Overview
from monitoring.views_search import SearchPage
from monitoring.views_series import SeriesPage
from registry.views_schemas import manifest_schema
from security.oidc.views import SignIn
from security.views_password import PasswordChange
from toolhub.api_docs import ApiDescription, ApiDocs, ApiOperation


def _later(view: str) -> Callable[..., HttpResponseBase]:
    """A view of allauth's second factor, loaded when somebody comes: 10 MB of a process."""

    def go(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        found: Callable[..., HttpResponseBase] = import_string(f"allauth.mfa.{view}")
        return found(request, **arguments)

    return go


def _codes(view: str) -> Callable[..., HttpResponseBase]:
    return _later(f"recovery_codes.views.{view}")


urlpatterns = [
    path("", include("monitoring.urls")),
    path("api/v1/", include("toolhub.api_urls")),
    path("mcp", mcp, name="mcp"),
    path("mcp/<str:collection>", mcp, name="mcp_collection"),
    path("api/openapi.json", ApiDescription.as_view(), name="openapi"),
    path("schemas/toolhub.schema.json", manifest_schema, name="manifest_schema"),
    path("api/docs", ApiDocs.as_view(), name="api_docs"),
    path("api/docs/errors", error_codes, name="error_codes"),
    path("api/docs/<slug:name>", ApiOperation.as_view(), name="api_operation"),
    # Of allauth only this: nobody signs up, and admins set forgotten passwords anew.
    path("sign-in/", SignIn.as_view(), name="account_login"),
    path("sign-out/", LogoutView.as_view(), name="account_logout"),
    path("account/password/", PasswordChange.as_view(), name="account_change_password"),
    path("account/again/", ReauthenticateView.as_view(), name="account_reauthenticate"),
    path("account/code/", _later("base.views.authenticate"), name="mfa_authenticate"),
    path("account/code/again/", _later("base.views.reauthenticate"), name="mfa_reauthenticate"),
    path("account/factor/", RedirectView.as_view(pattern_name="own"), name="mfa_index"),
    path("account/factor/add/", _later("totp.views.activate_totp"), name="mfa_activate_totp"),
    path("account/factor/remove/", _later("totp.views.deactivate_totp"), name="mfa_deactivate_totp"),
    path(
        "account/factor/codes/",
        _codes("view_recovery_codes"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/factor/codes/new/",
        _codes("generate_recovery_codes"),
        name="mfa_generate_recovery_codes",
    ),
    path("account/theme/", theme_set, name="theme_set"),
    path("settings/", SettingsPage.as_view(), name="settings"),
    path("settings/duties/", DutiesPage.as_view(), name="duties"),
    path("settings/duties/<int:failed>/retry/", RowRetry.as_view(), name="duty_row_retry"),
    path("style/", StylePage.as_view(), name="style"),
    path("", Overview.as_view(), name="overview"),
    path("overview/charts/", SeriesPage.as_view(), name="series"),
    path("search/", SearchPage.as_view(), name="search"),
    path("", include("registry.urls")),
    path("", include("execution.urls")),
    path("", include("security.urls")),
    path("", include("audit.urls")),
]

handler400 = "core.views_errors.bad_request"
handler403 = "core.views_errors.permission_denied"
handler404 = "core.views_errors.not_found"
handler429 = "core.views_errors.too_many"
handler500 = "core.views_errors.server_error"
