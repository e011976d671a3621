"""The addresses of the REST API, `/api/v1/`."""

from django.urls import path, re_path

from core.problems import api_not_found
from execution.callbacks.api import RunRedeliver
from execution.operations.api import Execute
from execution.runs.api import RunCancel, RunDetail, RunEvents, ToolExecute
from execution.runs.api_again import RunCleanup, RunReplay, RunRetry
from registry.api import ToolDetail, ToolList

urlpatterns = [
    path("execute", Execute.as_view(), name="api_execute"),
    path("tools", ToolList.as_view(), name="api_tools"),
    path("tools/<str:name>", ToolDetail.as_view(), name="api_tool"),
    path("tools/<str:name>/execute", ToolExecute.as_view(), name="api_tool_execute"),
    path("runs/<uuid:run_id>", RunDetail.as_view(), name="api_run"),
    path("runs/<uuid:run_id>/events", RunEvents.as_view(), name="api_run_events"),
    path("runs/<uuid:run_id>/cancel", RunCancel.as_view(), name="api_run_cancel"),
    path("runs/<uuid:run_id>/retry", RunRetry.as_view(), name="api_run_retry"),
    path("runs/<uuid:run_id>/replay", RunReplay.as_view(), name="api_run_replay"),
    path("runs/<uuid:run_id>/cleanup", RunCleanup.as_view(), name="api_run_cleanup"),
    path("runs/<uuid:run_id>/redeliver", RunRedeliver.as_view(), name="api_run_redeliver"),
    re_path(r"^(?P<rest>.*)$", api_not_found),
]
