"""The same form sent twice: one thing is made, and the second answer leads to it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from core.submissions.models import Submission
from core.submissions.services import submissions_expire
from execution.models import Run, Schedule
from registry.installations.models import Installation
from security.models import Persona, SigningSecret, Token, User
from security.policy.models import Limit
from tests.forms import KEY, PageForm, form_on, forms_read
from tests.installations import packages

LIMIT = {"tool": "echo", "kind": "quota", "measure": "calls", "amount": "10", "window_s": "86400"}


def twice(eyes: Client, form: PageForm, **fields: Any) -> tuple[Any, Any]:
    return form.send(eyes, **fields), form.send(eyes, **fields)


def test_a_limit(eyes: Client, published: None) -> None:
    first, second = twice(eyes, form_on(eyes, "/policy/limits/new/"), **LIMIT)
    assert Limit.objects.count() == 1
    assert (second.status_code, second["Location"]) == (302, first["Location"])
    assert "You sent this form twice" in eyes.get(second["Location"]).content.decode()


def test_a_schedule(eyes: Client, persona: Persona, assign: Callable[[str], None]) -> None:
    assign("toolhub-data")
    wishes = {"name": "a", "persona": "researcher", "tool": "echo", "arguments": '{"text": "a"}'}
    form = form_on(eyes, "/schedules/new/")
    first, second = twice(eyes, form, **wishes, cron="0 9 * * *", time_zone="UTC")
    assert Schedule.objects.count() == 1
    assert second["Location"] == first["Location"]


def test_a_token_leads_to_its_row_and_says_where_its_text_was(eyes: Client, persona: Persona) -> None:
    form = form_on(eyes, "/personas/researcher/", "/personas/researcher/tokens/")
    first, second = twice(eyes, form, name="laptop", days="9")
    token = Token.objects.get()
    assert token.prefix in first.content.decode()
    assert second["Location"] == f"/personas/researcher/#token-{token.pk}"
    page = eyes.get("/personas/researcher/").content.decode()
    assert f"It made one token, {token.prefix}…" in page
    assert f'id="token-{token.pk}"' in page
    assert not Submission.objects.filter(notice__contains=first.context["text"]).exists()


def test_a_signing_secret(eyes: Client, persona: Persona) -> None:
    _, second = twice(eyes, form_on(eyes, "/personas/researcher/signing/"))
    assert SigningSecret.objects.count() == 1
    assert second["Location"].startswith("/personas/researcher/")


def test_a_run_that_is_tried(eyes: Client, persona: Persona, assign: Callable[[str], None]) -> None:
    assign("echo")
    form = form_on(eyes, "/tools/echo/try/")
    wishes = {"persona": "researcher", "arguments": '{"text": "a"}', "act": "run"}
    first, second = twice(eyes, form, **wishes)
    run = Run.objects.get()
    assert first["Location"] == second["Location"] == f"/tools/echo/try/?run={run.pk}"


def test_a_run_that_is_tried_by_htmx(eyes: Client, persona: Persona, assign: Callable[[str], None]) -> None:
    assign("echo")
    form = form_on(eyes, "/tools/echo/try/")
    sent = form.filled(persona="researcher", arguments='{"text": "a"}', act="run")
    answers = [eyes.post(form.action, sent, HTTP_HX_REQUEST="true") for _ in range(2)]
    run = Run.objects.get()
    assert str(run.pk) in answers[0].content.decode()
    assert answers[1]["Location"].endswith(f"?run={run.pk}")


def test_an_uploaded_package(eyes: Client, db: None) -> None:
    content = packages.zipped("1.0.0", name="quotes", tools=[packages.tool("quote")])
    form = form_on(eyes, "/install/")
    for _ in range(2):
        file = SimpleUploadedFile("quotes.zip", content)
        answer = form.send(eyes, type="upload", file=file)
        assert answer["Location"] == f"/installations/{Installation.objects.get().pk}/"


def test_an_edit_is_led_on_and_not_called_stale(eyes: Client, published: None) -> None:
    first, second = twice(eyes, form_on(eyes, "/tools/echo/edit/"), notes="a")
    assert (second.status_code, second["Location"]) == (302, first["Location"])


def test_a_refused_form_does_not_use_its_key_up(eyes: Client, published: None) -> None:
    form = form_on(eyes, "/policy/limits/new/")
    refused = form.send(eyes, **{**LIMIT, "amount": "0"})
    assert refused.status_code == 422
    (again,) = [one for one in forms_read(refused.content.decode(), form.action) if one.action == form.action]
    assert again.send(eyes, **LIMIT).status_code == 302
    assert Limit.objects.count() == 1


def test_the_same_key_with_other_content_is_another_form(eyes: Client, published: None) -> None:
    form = form_on(eyes, "/policy/limits/new/")
    form.send(eyes, **LIMIT)
    form.send(eyes, **{**LIMIT, "amount": "11"})
    assert Limit.objects.count() == 2


def test_two_forms_make_two_things(eyes: Client, published: None) -> None:
    for _ in range(2):
        form_on(eyes, "/policy/limits/new/").send(eyes, **LIMIT)
    assert Limit.objects.count() == 2


def test_a_key_is_of_one_person(eyes: Client, eyes_with: Callable[..., Client], published: None) -> None:
    form = form_on(eyes, "/policy/limits/new/")
    form.send(eyes, **LIMIT)
    other = eyes_with("policy.add_limit", "policy.view_limit", "registry.view_tool")
    form.send(other, **LIMIT)
    assert Limit.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_at_the_same_time_make_one(admin: User) -> None:
    """The second waits for the first at the key's row, and leads to what that made."""
    eyes = Client()
    eyes.force_login(admin)
    form, start = form_on(eyes, "/personas/new/"), Barrier(2)
    sent = form.filled(name="one", title="", description="")
    cookies = eyes.cookies

    def send() -> str:
        client = Client()
        client.cookies = cookies
        start.wait()
        try:
            return str(client.post(form.action, sent)["Location"])
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        places = [one.result() for one in [pool.submit(send) for _ in range(2)]]
    assert places == ["/personas/one/", "/personas/one/"]
    assert Persona.objects.count() == 1


def test_keys_are_kept_for_a_day(eyes: Client, published: None) -> None:
    form = form_on(eyes, "/policy/limits/new/")
    form.send(eyes, **LIMIT)
    assert submissions_expire() == 0
    Submission.objects.update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    assert submissions_expire() == 1


def test_each_form_has_a_key_of_its_own(eyes: Client, persona: Persona) -> None:
    forms = forms_read(eyes.get("/personas/researcher/").content.decode(), "/personas/researcher/")
    keys = [one.fields[KEY][0] for one in forms if KEY in one.fields]
    assert len(keys) == len(set(keys)) >= 4
