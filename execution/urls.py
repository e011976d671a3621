"""Addresses of the pages of runs."""

from django.urls import path

from execution.runs.views import RunCancel, RunDetail, RunsList

urlpatterns = [
    path("runs/", RunsList.as_view(), name="runs"),
    path("runs/<uuid:run_id>/", RunDetail.as_view(), name="run"),
    path("runs/<uuid:run_id>/cancel/", RunCancel.as_view(), name="run_cancel"),
]
