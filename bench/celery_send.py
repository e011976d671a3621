"""`python -m bench.celery_send N`: says when it begins, by the monotonic clock, and sends N tasks."""

import sys
import time

from bench.celery_floor import app, noted


def main() -> None:
    with app.producer_or_acquire() as producer:
        producer.connection.ensure_connection(max_retries=3)
        print(time.monotonic(), flush=True)
        for _ in range(int(sys.argv[1])):
            noted.apply_async(producer=producer)


if __name__ == "__main__":
    main()
