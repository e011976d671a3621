"""When a message is tried again, and when no more."""

import random
from datetime import timedelta

# Seconds between a try that failed and the next: eight tries in some fifteen hours.
WAITS_S = (5, 30, 120, 600, 3600, 3 * 3600, 10 * 3600)
TRIES_MAX = len(WAITS_S) + 1
# So long a sender may be silent before it counts as lost; above SEND_S, which bounds a request.
CLAIM_S = 60
SEND_S = 15.0
# How many messages of one owner are sent at the same time by all senders.
OWNER_MAX = 2


def wait_after(attempt: int) -> timedelta | None:
    """How long to wait after that many tries, spread by a tenth; None when that was the last."""
    if attempt >= TRIES_MAX:
        return None
    # Chance for spreading only.
    return timedelta(seconds=WAITS_S[attempt - 1] * random.uniform(1.0, 1.1))  # noqa: S311
