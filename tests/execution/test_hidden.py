"""A secret is planted, and a tool tells it in every way: it stands nowhere afterwards.

The whole database, logs, pages, the API, the audit and the metrics are searched for it.
"""

import base64
import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from execution.engine.perform import queue_work
from execution.memory.models import Item
from execution.models import Run
from registry.config.services import config_change
from registry.models import Package, Release
from registry.services import assignment_create
from security.models import OutputPattern, Persona, User
from security.patterns import patterns_forget
from security.redaction import MARK
from tests.sandbox.packages import publish
from tests.sandbox.test_secrets import manifest

SECRET = "hunter2/pa+ss=wörd"
# The fixture takes ASCII only.
ASCII = "hunter2/pa+ss=w~rd"
DIGITS = "9471830265"
WAYS = ("return", "fail", "emit", "log", "crash")
FORMS = ("plain", "base64", "inner", "url", "key")
PYTHON = '''
import base64
import sys
from typing import Any
from urllib.parse import quote

from toolhub_sdk import ToolContext, ToolError, tool

@tool(name="leaky")
def leak(ctx: ToolContext, way: str) -> Any:
    """Tells its secret."""
    secret = ctx.secrets["api_key"]
    forms = [secret, base64.b64encode(secret.encode()).decode(), quote(secret, safe="")]
    print("printed", forms, file=sys.stderr, flush=True)
    ctx.log(secret, key=secret)
    ctx.emit(forms)
    ctx.memory.write(f"told {secret[:5]}", forms, "long-term")
    if way == "fail":
        raise ToolError("LEAK", secret, details={"forms": forms}, suggestions=[forms[1]])
    if way == "crash":
        raise RuntimeError(secret)
    return forms
'''


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    patterns_forget()
    yield
    patterns_forget()


def written(secret: str) -> list[str]:
    """The forms in which it must not be found, made here and not by what is tested."""
    raw = secret.encode()
    return [
        secret,
        base64.b64encode(raw).decode().rstrip("="),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        quote(secret, safe=""),
        secret.encode("unicode_escape").decode(),
    ]


def database() -> str:
    """Every field of every row."""
    told = []
    for model in apps.get_models():
        for row in model._default_manager.all():
            values = (getattr(row, field.attname) for field in row._meta.concrete_fields)
            told += [
                bytes(v).decode("latin-1") if isinstance(v, (bytes, memoryview)) else str(v) for v in values
            ]
    return "\n".join(told)


def everywhere(eyes: Client, headers: dict[str, str], caplog: pytest.LogCaptureFixture) -> str:
    """All that anybody can read after the runs."""
    told = [database(), caplog.text, *(str(vars(record)) for record in caplog.records)]
    pages = ["/", "/runs/", "/audit/", "/packages/", "/settings/secrets/", "/tools/", "/metrics"]
    for run in Run.objects.all():
        pages.append(f"/runs/{run.pk}/")
        for part in ("", "/events"):
            answer = eyes.get(f"/api/v1/runs/{run.pk}{part}", **headers)  # type: ignore[arg-type]
            assert answer.status_code == 200
            told.append(answer.content.decode())
    for page in pages:
        answer = eyes.get(page)
        assert answer.status_code == 200, page
        told.append(answer.content.decode())
    return "\n".join(told)


@pytest.fixture
def seeing(admin: User, token_text: str) -> tuple[Client, dict[str, str]]:
    eyes = Client()
    eyes.force_login(admin)
    return eyes, {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}


@pytest.mark.django_db(transaction=True)
def test_a_planted_secret_stands_nowhere(
    keeper: Package, admin: User, call: Any, seeing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    config_change(by=admin, package=keeper, changes={"unit": "C", "api_key": ASCII})
    answers = [
        call("fx_leak", {"way": way, "form": form}, **prefer).content.decode()
        for way in WAYS
        for form in FORMS
        for prefer in ({}, {"HTTP_PREFER": "respond-async"})
    ]
    queue_work("default")
    assert Run.objects.exclude(status__in=["completed", "failed"]).count() == 0
    assert Run.objects.count() == 2 * len(WAYS) * len(FORMS)
    told = "\n".join(answers) + everywhere(*seeing, caplog)
    for form in written(ASCII):
        assert form not in told
    assert told.count(MARK) > 50


@pytest.mark.django_db(transaction=True)
def test_a_secret_of_digits_is_no_number_either(
    keeper: Package, admin: User, call: Any, seeing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    config_change(by=admin, package=keeper, changes={"unit": "C", "api_key": DIGITS})
    answer = call("fx_leak", {"way": "return", "form": "number"}).json()
    assert answer["data"] == {"deep": [MARK, f"x{MARK}y"]}
    assert answer["metadata"]["warnings"] == ["Something that must not be told was taken out."]
    assert DIGITS not in everywhere(*seeing, caplog)


@pytest.mark.django_db(transaction=True)
@pytest.mark.sandbox
def test_a_secret_that_a_tool_in_the_sandbox_tells_stands_nowhere(
    admin: User, persona: Persona, call: Any, seeing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = manifest("leaky", {"type": "python", "entry": "leaky"}, "leaky", "leak")
    made["tools"][0]["_meta"]["io.toolhub/contract"]["memory"] = {"long-term": ["told*"]}
    release: Release = publish(made, {"leaky.py": PYTHON.encode()})
    assignment_create(by=admin, persona=persona, package=release.package)
    config_change(by=admin, package=release.package, changes={"api_key": SECRET})
    for way in ("return", "fail", "crash"):
        assert call("leaky", {"way": way}, HTTP_PREFER="respond-async").status_code == 202
    queue_work("sandbox")
    told = everywhere(*seeing, caplog)
    statuses = list(Run.objects.order_by("pk").values_list("status", flat=True))
    assert statuses == ["completed", "failed", "failed"]
    assert MARK in json.dumps(Item.objects.get().value)
    assert "printed" in caplog.text
    assert "RuntimeError" in caplog.text
    for form in written(SECRET):
        assert form not in told
    assert told.count(MARK) > 10


@pytest.mark.django_db(transaction=True)
def test_a_pattern_takes_out_what_it_matches(fx: Package, admin: User, call: Any, seeing: Any) -> None:
    OutputPattern.objects.create(name="bills", pattern=r"bill_[0-9a-f]{8}", created_by=admin)
    patterns_forget()
    answer = call("fx_refuse", {"details": {"key": "x bill_0123abcd"}}).json()
    assert answer["error"]["code"] == "FX_REFUSED"
    assert answer["error"]["details"] == {"given": {"key": f"x {MARK}"}}
    assert call("fx_echo", {"value": "bill_0123abcd"}).json()["data"] == MARK


@pytest.mark.django_db
def test_a_tool_without_secrets_costs_nothing_more(fx: Package, call: Any) -> None:
    call("fx_echo", {"value": 1})
    with CaptureQueriesContext(connection) as queries:
        call("fx_echo", {"value": 1})
    texts = [query["sql"] for query in queries.captured_queries]
    assert not [text for text in texts if "outputpattern" in text or "security_secret" in text]
