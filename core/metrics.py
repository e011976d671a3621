"""The hub's own counters, declared once; /metrics shows them (monitoring)."""

from prometheus_client import Counter, Histogram

RUNS = Counter("toolhub_runs_accepted_total", "Calls accepted, by where they are carried out.", ["where"])
REQUESTS = Counter("toolhub_http_requests_total", "HTTP requests answered.", ["view", "method", "status"])
LATENCY = Histogram(
    "toolhub_http_request_seconds",
    "Time to answer an HTTP request.",
    ["view"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)
