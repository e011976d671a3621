"""A zip at an address: by the guarded client, held to its digest."""

import hashlib
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from django.utils import timezone

from audit.models import Event
from core.actors import SYSTEM
from core.errors import ToolHubError
from registry.installations.answers import installation_view
from registry.installations.approval import installation_approve
from registry.installations.care import installations_tidy
from registry.installations.models import Installation
from registry.installations.services import (
    installation_cancel,
    installation_get,
    installation_retry,
    installation_start,
)
from registry.installations.source_form import Source
from registry.installations.worker import installations_work
from registry.models import Release
from security.models import User
from tests.installations import packages
from tests.receiver import Receiver, receiver, status

__all__ = ["receiver"]
pytestmark = pytest.mark.django_db(transaction=True)
DIGEST = hashlib.sha256(packages.zipped()).hexdigest()
Fetch = Callable[..., Installation]


@pytest.fixture
def fetch_url(admin: User, settings: Any) -> Fetch:
    settings.HTTP_ALLOW = ["127.0.0.1"]

    def act(location: str, digest: str = DIGEST) -> Installation:
        one = installation_start(by=admin, source=Source("url", location, digest=digest))
        installations_work()
        return installation_get(str(one.pk))

    return act


def gives(content: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def test_the_zip_of_the_digest_comes_in(fetch_url: Fetch, receiver: Receiver) -> None:
    receiver.answers = [gives(packages.zipped())]
    one = fetch_url(receiver.url)
    assert one.status == "awaiting_review", one.error
    assert one.report["fetched_sha256"] == DIGEST


def test_the_query_of_an_address_is_used_and_stands_nowhere(fetch_url: Fetch, receiver: Receiver) -> None:
    receiver.answers = [gives(packages.zipped())]
    one = fetch_url(f"{receiver.url}?signature=swordfish-7&x=1")
    assert one.status == "awaiting_review", one.error
    assert receiver.got[0].path.endswith("?signature=swordfish-7&x=1")
    assert one.location == f"{receiver.url}?…"
    assert one.sealed_location == ""
    installation_approve(by=SYSTEM, installation=one, digest=one.digest)
    installations_work()
    release = Release.objects.get(package__name="greetings")
    assert release.origin["location"] == f"{receiver.url}?…"
    told = [str(event.canonical) for event in Event.objects.all()]
    told += [line.text for line in one.lines.all()] + [str(row) for row in Installation.objects.values()]
    assert not [text for text in told if "swordfish" in text]


def test_a_failed_fetch_keeps_the_query_sealed_for_a_day_and_then_forgets_it(
    fetch_url: Fetch, receiver: Receiver, admin: User
) -> None:
    receiver.answers = [status(500), gives(packages.zipped())]
    one = fetch_url(f"{receiver.url}?signature=swordfish-7")
    assert one.status == "failed"
    assert one.sealed_location
    assert "swordfish" not in one.sealed_location + str(installation_view(one))
    installation_retry(by=admin, installation=one)
    installations_work()
    assert installation_get(str(one.pk)).status == "awaiting_review"
    receiver.answers = [status(500)]
    other = fetch_url(f"{receiver.url}?signature=swordfish-7")
    Installation.objects.filter(pk=other.pk).update(finished_at=timezone.now() - timedelta(days=2))
    assert installations_tidy() == 1
    assert installation_get(str(other.pk)).sealed_location == ""
    with pytest.raises(ToolHubError) as refused:
        installation_retry(by=admin, installation=other)
    assert refused.value.code == "WRONG_STEP"


def test_an_address_whose_key_is_gone_is_told(admin: User, settings: Any) -> None:
    source = Source("url", "https://example.org/p.zip?signature=x", digest=DIGEST)
    one = installation_start(by=admin, source=source)
    settings.VAULT_KEYS = [Fernet.generate_key()]
    installations_work()
    one = installation_get(str(one.pk))
    assert (one.status, one.error["code"]) == ("failed", "SOURCE_FAILED")
    assert "TOOLHUB_VAULT_KEYS" in one.error["message"]


def test_a_cancel_is_heard_while_a_server_is_silent(
    fetch_url: Fetch, receiver: Receiver, admin: User
) -> None:
    asked, go = threading.Event(), threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        go.wait(60)

    def cancel() -> None:
        asked.wait(60)
        installation_cancel(by=admin, installation=Installation.objects.get())
        connection.close()

    receiver.answers = [silent]
    threading.Thread(target=cancel).start()
    began = time.monotonic()
    one = fetch_url(receiver.url)
    go.set()
    assert (one.status, one.sealed_location) == ("cancelled", "")
    assert time.monotonic() - began < 15


def test_another_zip_than_the_digests_is_refused(fetch_url: Fetch, receiver: Receiver) -> None:
    receiver.answers = [gives(packages.zipped("1.0.1"))]
    one = fetch_url(receiver.url)
    assert (one.status, one.error["code"]) == ("failed", "DIGEST_MISMATCH")


def test_a_redirect_is_followed_to_where_one_may_go_and_nowhere_else(
    fetch_url: Fetch, receiver: Receiver, settings: Any
) -> None:
    receiver.answers = [status(302, Location="/other"), gives(packages.zipped())]
    assert fetch_url(receiver.url).status == "awaiting_review"
    receiver.answers = [status(302, Location="http://169.254.169.254/latest")]
    assert fetch_url(receiver.url).error["code"] == "SOURCE_REFUSED"
    receiver.answers = [status(302, Location=receiver.url)]
    assert fetch_url(receiver.url).error["code"] == "SOURCE_FAILED"


@pytest.mark.parametrize("code", [404, 500])
def test_an_address_without_a_zip_fails_with_its_status(
    fetch_url: Fetch, receiver: Receiver, code: int
) -> None:
    receiver.answers = [status(code)]
    one = fetch_url(receiver.url)
    assert one.error["code"] == "SOURCE_FAILED"
    assert str(code) in one.error["message"]


def test_an_inside_address_is_refused(fetch_url: Fetch, receiver: Receiver, settings: Any) -> None:
    settings.HTTP_ALLOW = []
    assert fetch_url(receiver.url).error["code"] == "SOURCE_REFUSED"
    assert receiver.got == []


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://example.org/p.zip", "https://u:p@example.org/p"]
)
def test_what_is_no_such_address_is_refused_at_once(fetch_url: Fetch, location: str) -> None:
    with pytest.raises(ToolHubError) as refused:
        fetch_url(location)
    assert refused.value.code == "SOURCE_REFUSED"
