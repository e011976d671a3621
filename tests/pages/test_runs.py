"""The pages of runs."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit.models import Event
from execution.engine.states import transition
from execution.models import Run, Status
from security.models import Persona

Call = Callable[..., Any]


@pytest.fixture
def calls(persona: Persona, assign: Callable[[str], None], call: Call) -> Call:
    """Calls of a persona that sees the built-in data tools."""
    assign("toolhub-data")
    return call


@pytest.fixture
def waiting(calls: Call) -> Run:
    """A run that waits for a worker."""
    calls("echo", {"text": "later"}, HTTP_PREFER="respond-async")
    return Run.objects.get()


def shown(eyes: Client, query: str) -> list[Run]:
    """The runs that the list shows."""
    return list(eyes.get(f"/runs/{query}").context["page"].rows)


def test_the_list_is_newest_first_and_links_each_run(eyes: Client, calls: Call) -> None:
    calls("echo", {"text": "first"})
    calls("hash", {"text": "second"})
    assert [run.tool for run in shown(eyes, "")] == ["hash", "echo"]
    assert f'href="/runs/{Run.objects.latest("pk").pk}/"' in eyes.get("/runs/").content.decode()


def test_the_list_is_narrowed_by_tool_persona_status_and_text(eyes: Client, calls: Call) -> None:
    calls("echo", {"text": "fine"})
    calls("json_parse", {"text": "{"})
    assert [run.tool for run in shown(eyes, "?tool=echo")] == ["echo"]
    assert [run.tool for run in shown(eyes, "?status=failed")] == ["json_parse"]
    assert [run.tool for run in shown(eyes, "?status=unsuccessful&since=24")] == ["json_parse"]
    assert len(shown(eyes, "?persona=researcher")) == 2
    assert shown(eyes, "?persona=nobody") == []
    assert [run.tool for run in shown(eyes, "?q=pars")] == ["json_parse"]
    one = Run.objects.latest("pk")
    assert shown(eyes, f"?q={one.pk}") == [one]


@pytest.mark.parametrize(
    "query", ["?status=nonsense", "?since=soon", "?after=nonsense", "?before=1", "?since=99999999"]
)
def test_a_filter_that_makes_no_sense_is_left_aside(eyes: Client, calls: Call, query: str) -> None:
    calls("echo", {"text": "one"})
    assert len(shown(eyes, query)) == 1


def test_paging_shows_every_run_once_forwards_and_back(eyes: Client, calls: Call) -> None:
    for number in range(60):
        calls("echo", {"text": str(number)})
    seen: list[Run] = []
    page = eyes.get("/runs/?tool=echo").context["page"]
    while True:
        seen += page.rows
        if page.after is None:
            break
        page = eyes.get(f"/runs/?tool=echo&after={page.after}").context["page"]
    assert seen == list(Run.objects.order_by("-pk"))
    back = eyes.get(f"/runs/?tool=echo&before={page.before}").context["page"]
    assert back.rows == seen[25:50]
    first = eyes.get(f"/runs/?tool=echo&before={back.before}").context["page"]
    assert first.rows == seen[:25]
    assert first.before is None


def test_links_of_pages_keep_the_filters(eyes: Client, calls: Call) -> None:
    for number in range(26):
        calls("echo", {"text": str(number)})
    page = eyes.get("/runs/?tool=echo&status=completed&q=")
    assert (
        f'href="?tool=echo&amp;status=completed&amp;after={page.context["page"].after}"'
        in page.content.decode()
    )


def test_a_run_shows_arguments_result_hashes_and_its_record(eyes: Client, calls: Call) -> None:
    calls("echo", {"text": "Grüße <b>"})
    run = Run.objects.get()
    body = eyes.get(f"/runs/{run.pk}/").content.decode()
    assert "Grüße &lt;b&gt;" in body
    assert bytes(run.arguments_hash).hex() in body
    assert run.result_hash is not None
    assert bytes(run.result_hash).hex() in body
    for event in Event.objects.filter(run_id=run.pk):
        assert bytes(event.leaf).hex() in body
        assert f'href="/audit/{event.pk}/"' in body


def test_a_failed_run_shows_the_error_and_what_to_do(eyes: Client, calls: Call) -> None:
    calls("json_parse", {"text": "{"})
    run = Run.objects.get()
    assert run.error
    body = eyes.get(f"/runs/{run.pk}/").content.decode()
    assert run.error["code"] in body
    assert run.error["suggestions"][0] in body


def test_who_may_not_see_the_audit_sees_no_leaf_events(eyes_with: Callable[..., Client], calls: Call) -> None:
    calls("echo", {"text": "one"})
    body = eyes_with("execution.view_run").get(f"/runs/{Run.objects.get().pk}/").content.decode()
    assert "/audit/" not in body


def test_an_open_run_refreshes_itself_and_a_finished_one_does_not(
    eyes: Client, waiting: Run, calls: Call
) -> None:
    assert "data-live" in eyes.get(f"/runs/{waiting.pk}/").content.decode()
    calls("echo", {"text": "quick"})
    done = Run.objects.get(status=Status.COMPLETED)
    assert "data-live" not in eyes.get(f"/runs/{done.pk}/").content.decode()


def test_cancelling_is_asked_first_and_then_done(eyes: Client, waiting: Run) -> None:
    address = f"/runs/{waiting.pk}/cancel/"
    assert "Cancel this run?" in eyes.get(address).content.decode()
    waiting.refresh_from_db()
    assert waiting.status == Status.PENDING
    assert eyes.post(address)["Location"] == f"/runs/{waiting.pk}/"
    waiting.refresh_from_db()
    assert waiting.status == Status.CANCELLED
    assert Event.objects.get(kind="run.cancel_asked").actor_name == "admin"


def test_cancelling_a_finished_run_changes_nothing(eyes: Client, calls: Call) -> None:
    calls("echo", {"text": "one"})
    run = Run.objects.get()
    events = Event.objects.count()
    assert "had its outcome already" in eyes.post(f"/runs/{run.pk}/cancel/", follow=True).content.decode()
    run.refresh_from_db()
    assert run.status == Status.COMPLETED
    assert Event.objects.count() == events


def test_who_may_only_look_cannot_cancel(eyes_with: Callable[..., Client], waiting: Run) -> None:
    viewer = eyes_with("execution.view_run")
    assert viewer.post(f"/runs/{waiting.pk}/cancel/").status_code == 404
    assert "/cancel/" not in viewer.get(f"/runs/{waiting.pk}/").content.decode()
    waiting.refresh_from_db()
    assert (waiting.status, waiting.cancel_asked_at) == (Status.PENDING, None)


def test_an_unknown_outcome_asks_for_a_look(eyes: Client, waiting: Run) -> None:
    here = Run.objects.filter(pk=waiting.pk)
    transition(here, source=Status.PENDING, target=Status.RUNNING, who="claim")
    transition(here, source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper")
    assert "Look at what the tool did" in eyes.get(f"/runs/{waiting.pk}/").content.decode()
    assert shown(eyes, "?status=outcome_unknown") == [waiting]


def test_a_run_that_does_not_exist_is_not_found(eyes: Client) -> None:
    assert eyes.get(f"/runs/{uuid4()}/").status_code == 404
    assert eyes.post(f"/runs/{uuid4()}/cancel/").status_code == 404


def test_large_arguments_do_not_make_a_large_page(eyes: Client, calls: Call) -> None:
    calls("echo", {"text": "x" * 500_000})
    answer = eyes.get(f"/runs/{Run.objects.get().pk}/")
    assert len(answer.content) < 100_000
    assert "more characters" in answer.content.decode()
