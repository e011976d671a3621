"""Figures that are read from the database when somebody asks, never on the execute path."""

from collections.abc import Iterator

from django.db.models import Count
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from execution.engine.states import FINAL
from execution.models import Run


class RunGauges(Collector):
    """`toolhub_runs_open{queue,status}`: runs without an outcome."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        gauge = GaugeMetricFamily("toolhub_runs_open", "Runs without an outcome.", labels=["queue", "status"])
        rows = (
            Run.objects.exclude(status__in=FINAL).order_by().values("queue", "status").annotate(n=Count("pk"))
        )
        for row in rows:
            gauge.add_metric([row["queue"], row["status"]], row["n"])
        yield gauge
