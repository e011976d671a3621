"""The pages on which a person resolves, retries or replays a run."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from audit.models import Event
from execution.engine.perform import queue_work
from execution.engine.states import transition
from execution.models import Run, Status
from security.models import Persona, User

Call = Callable[..., Any]


@pytest.fixture
def run(persona: Persona, assign: Callable[[str], None], call: Call) -> Run:
    """A finished run of echo."""
    assign("toolhub-data")
    call("echo", {"text": "hello"})
    return Run.objects.get()


@pytest.fixture
def unknown(run: Run, call: Call) -> Run:
    """A run whose worker died in its midst, as the reaper leaves it."""
    call("echo", {"text": "lost"}, HTTP_PREFER="respond-async")
    rows = Run.objects.filter(status=Status.PENDING)
    lost = rows.get()
    here = Run.objects.filter(pk=lost.pk)
    transition(here, source=Status.PENDING, target=Status.RUNNING, who="claim", attempt=1)
    transition(here, source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper")
    return Run.objects.get(pk=lost.pk)


def resolve(eyes: Client, run: Run, **fields: str) -> Any:
    return eyes.post(f"/runs/{run.pk}/resolve/", {"result": "", "reason": "I looked", **fields})


def test_the_runs_page_leads_to_the_form_and_the_form_says_what_follows(eyes: Client, unknown: Run) -> None:
    assert f'href="/runs/{unknown.pk}/resolve/"' in eyes.get(f"/runs/{unknown.pk}/").content.decode()
    body = eyes.get(f"/runs/{unknown.pk}/resolve/").content.decode()
    for words in ("becomes completed", "becomes failed with the code NOT_DONE", "it is done twice"):
        assert words in body


def test_a_run_with_nothing_left_to_stop_offers_no_cancelling(eyes: Client, unknown: Run) -> None:
    assert "/cancel/" not in eyes.get(f"/runs/{unknown.pk}/").content.decode()


def test_done_is_written_with_result_and_reason(eyes: Client, unknown: Run) -> None:
    answer = resolve(eyes, unknown, verdict="done", result='{"text": "lost"}')
    assert answer["Location"] == f"/runs/{unknown.pk}/"
    run = Run.objects.get(pk=unknown.pk)
    assert (run.status, run.result) == (Status.COMPLETED, {"text": "lost"})
    assert '"reason":"I looked"' in Event.objects.get(kind="run.resolved").canonical
    page = eyes.get(f"/runs/{unknown.pk}/").content.decode()
    assert "admin found that the work was done." in page
    assert "/resolve/" not in page


def test_run_anew_leads_to_the_new_run_which_links_the_old(eyes: Client, unknown: Run) -> None:
    answer = resolve(eyes, unknown, verdict="anew")
    new = Run.objects.get(origin=unknown)
    assert answer["Location"] == f"/runs/{new.pk}/"
    assert f'href="/runs/{unknown.pk}/"' in eyes.get(f"/runs/{new.pk}/").content.decode()
    assert f'href="/runs/{new.pk}/"' in eyes.get(f"/runs/{unknown.pk}/").content.decode()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "This field is required."),
        ({"verdict": "perhaps"}, "Select a valid choice"),
        ({"verdict": "done", "result": "{"}, "This is no JSON"),
        ({"verdict": "done", "result": "1"}, "It does not fit the tool&#x27;s schema"),
        ({"verdict": "not_done", "reason": ""}, "This field is required."),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_changes_nothing(
    eyes: Client, unknown: Run, fields: dict[str, str], said: str
) -> None:
    answer = resolve(eyes, unknown, **fields)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Run.objects.get(pk=unknown.pk).status == Status.OUTCOME_UNKNOWN


def test_there_is_nothing_to_resolve_in_a_finished_run(eyes: Client, run: Run) -> None:
    assert eyes.get(f"/runs/{run.pk}/resolve/").status_code == 302
    answer = resolve(eyes, run, verdict="not_done")
    assert (answer.status_code, Run.objects.get(pk=run.pk).status) == (422, Status.COMPLETED)


def test_a_retry_is_a_new_run_on_the_persons_responsibility(eyes: Client, admin: User, run: Run) -> None:
    assert "with the same arguments" in eyes.get(f"/runs/{run.pk}/retry/").content.decode()
    answer = eyes.post(f"/runs/{run.pk}/retry/")
    new = Run.objects.get(origin=run)
    assert answer["Location"] == f"/runs/{new.pk}/"
    assert (new.token_id, new.responsible_id, new.arguments) == (None, admin.pk, {"text": "hello"})
    assert Event.objects.get(kind="run.retried").actor_name == "admin"


def test_a_replay_is_compared_on_its_page(
    eyes: Client, run: Run, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    eyes.post(f"/runs/{run.pk}/replay/")
    new = Run.objects.get(origin=run)
    assert "Compared with" not in eyes.get(f"/runs/{new.pk}/").content.decode()
    assert queue_work("default") == 1
    with django_assert_max_num_queries(15):
        body = eyes.get(f"/runs/{new.pk}/").content.decode()
    assert "The same as" in " ".join(body.split())


def test_what_is_refused_is_said_on_the_runs_page(eyes: Client, run: Run, persona: Persona) -> None:
    persona.assignments.all().delete()  # type: ignore[attr-defined]
    answer = eyes.post(f"/runs/{run.pk}/retry/", follow=True)
    assert "Not run again: No tool named" in answer.content.decode()
    assert Run.objects.count() == 1


def test_an_expired_payload_is_told_and_cannot_be_repeated(eyes: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(payload_expired_at=timezone.now(), result=None, arguments={})
    body = eyes.get(f"/runs/{run.pk}/").content.decode()
    assert body.count("Expired.") == 2
    assert "/retry/" not in body
    answer = eyes.post(f"/runs/{run.pk}/retry/", follow=True)
    assert "payload was removed" in answer.content.decode()


@pytest.mark.parametrize(
    ("act", "permission"), [("retry", "add_run"), ("replay", "add_run"), ("resolve", "resolve_run")]
)
def test_an_act_without_its_permission_does_not_exist(
    unknown: Run, eyes_with: Callable[..., Client], act: str, permission: str
) -> None:
    page = f"/runs/{unknown.pk}/{act}/"
    assert eyes_with("execution.view_run").get(page).status_code == 404
    assert eyes_with(f"execution.{permission}").get(page).status_code == 200
