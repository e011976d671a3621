"""docs/callbacks.md: what it tells receivers to do accepts what the hub sends, and nothing else."""

import re
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings as django_settings

from core.outbox.signing import secret_key as key_of
from core.outbox.signing import secret_text, signed_headers
from core.outbox.tries import SEND_S, TRIES_MAX, WAITS_S

PAGE = (django_settings.ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")


def check() -> Callable[[str, dict[str, str], bytes], bool]:
    """The page's own function."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    found: Callable[[str, dict[str, str], bytes], bool] = names["is_from_toolhub"]
    return found


def test_the_pages_function_takes_what_is_signed_and_refuses_what_was_changed() -> None:
    accepts, secret, body = check(), secret_text(), b'{"success":true}'
    now = int(time.time())
    headers = signed_headers("id", now, body, [key_of(secret_text()), key_of(secret)])
    assert accepts(secret, headers, body)
    assert not accepts(secret, headers, body + b" ")
    assert not accepts(secret_text(), headers, body)
    assert not accepts(secret, {**headers, "webhook-id": "other"}, body)
    assert not accepts(secret, {**headers, "webhook-timestamp": str(now + 1)}, body)
    assert not accepts(secret, signed_headers("id", now - 3600, body, [key_of(secret)]), body)


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    """The vector of the Standard Webhooks reference libraries."""
    made = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        [key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
    )
    assert made["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_page_has_the_figures_in_force() -> None:
    words = {5: "5 s", 30: "30 s", 120: "2 min", 600: "10 min", 3600: "1 h", 10_800: "3 h", 36_000: "10 h"}
    told = [words[wait] for wait in WAITS_S]
    text = " ".join(PAGE.split())
    assert f"after {', '.join(told[:-1])} and {told[-1]}" in text
    assert TRIES_MAX == 8
    assert "eight tries" in text
    assert f"within {SEND_S:g} s" in text
