"""Addresses of the pages of runs."""

from django.urls import path

from execution.entry.decisions.views import Simulator, SimulatorOptions, ToolCallers
from execution.entry.schedules.views import (
    ScheduleDelete,
    ScheduleNew,
    ScheduleOptions,
    SchedulesList,
    ScheduleSwitch,
)
from execution.entry.tries.views import ToolTry, TryPersonas
from execution.features.approvals.views import (
    ApprovalApprove,
    ApprovalDelegate,
    ApprovalDeny,
    ApprovalPage,
    Approvals,
    FourEyesSwitch,
)
from execution.features.artefacts.views import RunArtefact
from execution.features.callbacks.views import RunRedeliver
from execution.features.preconditions.views import ResourceRemove, Resources, ResourceSwitch
from execution.memory.views import SessionDetail, SessionEnd, SessionsList
from execution.runs.views import RunCancel, RunDetail, RunsCancel, RunsCancelAll, RunsList
from execution.runs.views_again import RunReplay, RunResolve, RunRetry

urlpatterns = [
    path("tools/<str:name>/try/", ToolTry.as_view(), name="tool_try"),
    path("tools/<str:name>/try/personas/", TryPersonas.as_view(), name="tool_try_personas"),
    path("approvals/", Approvals.as_view(), name="approvals"),
    path("approvals/four-eyes/", FourEyesSwitch.as_view(), name="four_eyes_switch"),
    path("approvals/<uuid:pk>/", ApprovalPage.as_view(), name="approval"),
    path("approvals/<uuid:pk>/approve/", ApprovalApprove.as_view(), name="approval_approve"),
    path("approvals/<uuid:pk>/deny/", ApprovalDeny.as_view(), name="approval_deny"),
    path("approvals/<uuid:pk>/delegate/", ApprovalDelegate.as_view(), name="approval_delegate"),
    path("runs/", RunsList.as_view(), name="runs"),
    path("runs/cancel/", RunsCancel.as_view(), name="runs_cancel"),
    path("runs/cancel/all/", RunsCancelAll.as_view(), name="runs_cancel_all"),
    path("runs/<uuid:run_id>/", RunDetail.as_view(), name="run"),
    path("runs/<uuid:run_id>/artefacts/<str:name>", RunArtefact.as_view(), name="run_artefact"),
    path("runs/<uuid:run_id>/cancel/", RunCancel.as_view(), name="run_cancel"),
    path("runs/<uuid:run_id>/resolve/", RunResolve.as_view(), name="run_resolve"),
    path("runs/<uuid:run_id>/retry/", RunRetry.as_view(), name="run_retry"),
    path("runs/<uuid:run_id>/replay/", RunReplay.as_view(), name="run_replay"),
    path("runs/<uuid:run_id>/redeliver/", RunRedeliver.as_view(), name="run_redeliver"),
    path("simulator/", Simulator.as_view(), name="simulator"),
    path("simulator/options/<str:field>/", SimulatorOptions.as_view(), name="simulator_options"),
    path("tools/<str:name>/callers/", ToolCallers.as_view(), name="tool_callers"),
    path("sessions/", SessionsList.as_view(), name="sessions"),
    path("sessions/<int:pk>/", SessionDetail.as_view(), name="session"),
    path("sessions/<int:pk>/end/", SessionEnd.as_view(), name="session_end"),
    path("settings/resources/", Resources.as_view(), name="resources"),
    path("settings/resources/<int:row>/switch/", ResourceSwitch.as_view(), name="resource_switch"),
    path("settings/resources/<int:row>/remove/", ResourceRemove.as_view(), name="resource_remove"),
    path("schedules/", SchedulesList.as_view(), name="schedules"),
    path("schedules/options/<str:field>/", ScheduleOptions.as_view(), name="schedule_options"),
    path("schedules/new/", ScheduleNew.as_view(), name="schedule_new"),
    path("schedules/<int:row>/switch/", ScheduleSwitch.as_view(), name="schedule_switch"),
    path("schedules/<int:row>/delete/", ScheduleDelete.as_view(), name="schedule_delete"),
]
