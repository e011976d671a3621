"""Addresses of the pages of the ledger."""

from django.urls import path

from audit.views import EventDetail, EventsList

urlpatterns = [
    path("audit/", EventsList.as_view(), name="events"),
    path("audit/<int:event_id>/", EventDetail.as_view(), name="event"),
]
