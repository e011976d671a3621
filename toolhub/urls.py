"""Every address of the hub: machines' ones, the API, and the console's pages."""

from allauth.account.views import LoginView, LogoutView, PasswordChangeView
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated

# Imported for what it registers; here, because only web processes and the description need it.
import security.openapi  # noqa: F401
from core.views_console import error_codes, theme_set
from core.views_settings import SettingsPage
from core.views_style import StylePage
from monitoring.views_overview import Overview
from monitoring.views_search import SearchPage
from monitoring.views_series import SeriesPage
from registry.views_schemas import manifest_schema
from security.authentication import TokenAuthentication
from toolhub.api_docs import ApiDocs, ApiOperation

# For agents and for signed-in people.
_description = SpectacularAPIView.as_view(
    authentication_classes=[TokenAuthentication, SessionAuthentication], permission_classes=[IsAuthenticated]
)

urlpatterns = [
    path("", include("monitoring.urls")),
    path("api/v1/", include("toolhub.api_urls")),
    path("api/openapi.yaml", _description, name="openapi"),
    path("schemas/toolhub.schema.json", manifest_schema, name="manifest_schema"),
    path("api/docs", ApiDocs.as_view(), name="api_docs"),
    path("api/docs/errors", error_codes, name="error_codes"),
    path("api/docs/<slug:name>", ApiOperation.as_view(), name="api_operation"),
    # Of allauth only this: nobody signs up, and admins set forgotten passwords anew.
    path("sign-in/", LoginView.as_view(), name="account_login"),
    path("sign-out/", LogoutView.as_view(), name="account_logout"),
    path("account/password/", PasswordChangeView.as_view(), name="account_change_password"),
    path("account/theme/", theme_set, name="theme_set"),
    path("settings/", SettingsPage.as_view(), name="settings"),
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
handler500 = "core.views_errors.server_error"
