"""Floor B: what Celery itself carries. A task that notes that it ran, early acknowledgement, no results."""

import os

from celery import Celery

app = Celery("bench", broker=os.environ["BENCH_BROKER_URL"])
app.conf.update(
    task_ignore_result=True,
    task_default_queue=os.environ["BENCH_QUEUE"],
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
)


@app.task(name="bench.noted")
def noted() -> None:
    """Adds one byte to BENCH_FILE, so that what ran is counted outside Celery."""
    file = os.open(os.environ["BENCH_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, b".")
    os.close(file)
