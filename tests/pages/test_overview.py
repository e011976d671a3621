"""The first page."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from execution.engine.states import transition
from execution.entry.schedules.services import schedule_create
from execution.models import Run, Schedule, Status
from monitoring.attention import MOST, WATCHES, Notice
from registry.installations.models import Installation
from security.models import Persona, Token, User

Call = Callable[..., Any]


def figures(eyes: Client) -> dict[str, int]:
    """The numbers by their titles."""
    return {figure.title: figure.count for figure in eyes.get("/").context["figures"]}


def test_a_new_hub_shows_the_way_to_the_first_call(eyes: Client, published: None) -> None:
    steps = eyes.get("/").context["steps"]
    assert [step.done for step in steps] == [True, False, False, False, False]
    assert "/api/v1/tools/echo/execute" in eyes.get("/").content.decode()


def test_the_checklist_comes_first_and_ends_at_a_call_made_here(
    eyes: Client, viewer: User, published: None
) -> None:
    page = eyes.get("/").content.decode()
    assert '<a href="/tools/echo/try/">Try echo</a>' in page
    assert page.index("To the first audited call") < page.index("Completed, 24 h")
    looking = Client()
    looking.force_login(viewer)
    assert "Try echo" not in looking.get("/").content.decode()


def test_the_checklist_follows_what_is_done(
    eyes: Client, persona: Persona, assign: Callable[[str], None], token_text: str
) -> None:
    assign("echo")
    assert [step.done for step in eyes.get("/").context["steps"]] == [True, True, True, True, False]


def test_after_the_first_completed_run_the_checklist_is_gone(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("echo")
    call("echo", {"text": "done"})
    assert "steps" not in eyes.get("/").context


def test_every_number_is_the_length_of_the_list_it_links_to(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("toolhub-data")
    call("echo", {"text": "fine"})
    call("json_parse", {"text": "{"})
    call("json_parse", {"text": "["})
    call("echo", {"text": "later"}, HTTP_PREFER="respond-async")
    assert figures(eyes) == {
        "Outcome unknown": 0,
        "Failed, 24 h": 2,
        "Waiting": 1,
        "Running": 0,
        "Completed, 24 h": 1,
    }
    for figure in eyes.get("/").context["figures"]:
        assert len(eyes.get(f"/runs/?{figure.query}").context["page"].rows) == figure.count


def test_the_busiest_tools_count_runs_and_failures(
    eyes: Client, assign: Callable[[str], None], call: Call
) -> None:
    assign("toolhub-data")
    call("echo", {"text": "fine"})
    call("json_parse", {"text": "{}"})
    call("json_parse", {"text": "{"})
    rows = [(row["tool"], row["total"], row["unsuccessful"]) for row in eyes.get("/").context["busiest"]]
    assert rows == [("json_parse", 2, 1), ("echo", 1, 0)]


def test_the_latest_runs_are_shown(eyes: Client, assign: Callable[[str], None], call: Call) -> None:
    assign("echo")
    call("echo", {"text": "one"})
    assert f'href="/runs/{Run.objects.get().pk}/"' in eyes.get("/").content.decode()


def test_who_may_see_no_runs_is_told_so(eyes_with: Callable[..., Client], published: None) -> None:
    body = eyes_with().get("/").content.decode()
    assert "You may not see runs" in body


def unknown(call: Call) -> None:
    """A run whose outcome nobody knows."""
    call("echo", {"text": "a"}, HTTP_PREFER="respond-async")
    transition(Run.objects.all(), source=Status.PENDING, target=Status.RUNNING, who="claim", attempt=1)
    transition(Run.objects.all(), source=Status.RUNNING, target=Status.OUTCOME_UNKNOWN, who="reaper")


def attention(eyes: Client) -> dict[str, str]:
    """What needs a person, by the page that shows it."""
    return {notice.url: notice.words for notice in eyes.get("/").context["notices"]}


def test_a_quiet_hub_needs_nobody(eyes: Client, published: None) -> None:
    assert attention(eyes) == {}


def test_what_needs_a_person_leads_to_the_list_that_shows_it(
    eyes: Client, persona: Persona, token_text: str, assign: Callable[[str], None], call: Call, admin: User
) -> None:
    assign("toolhub-data")
    unknown(call)
    Token.objects.update(expires_at=timezone.now() + timedelta(days=2))
    schedule = schedule_create(
        by=admin,
        name="Hourly",
        persona=persona,
        tool="echo",
        arguments={"text": "a"},
        cron="0 * * * *",
        time_zone="UTC",
    )
    Schedule.objects.update(last_error="CAPABILITY_MISSING: it lacks one")
    for number in range(2):
        Installation.objects.create(
            source_type="upload", location=f"f{number}.zip", status="failed", asked_by={}
        )
    found = attention(eyes)
    assert found == {
        "/runs/?status=outcome_unknown": "1 run whose outcome nobody knows",
        "/installations/?status=failed&since=168": "2 installations failed in the last 7 days",
        "/schedules/?state=refused": "1 schedule could not make its last call",
        "/personas/?tokens=ending": "1 persona has a token that ends within 7 days",
    }
    for url, words in found.items():
        assert len(eyes.get(url).context["page"].rows) == int(words.split()[0])
    schedule.enabled = False
    schedule.save()
    Token.objects.update(revoked_at=timezone.now())
    assert not {"/schedules/?state=refused", "/personas/?tokens=ending"} & set(attention(eyes))


def test_people_hear_only_of_what_they_may_see(
    eyes_with: Callable[..., Client], assign: Callable[[str], None], call: Call
) -> None:
    assign("echo")
    unknown(call)
    assert attention(eyes_with("security.view_persona")) == {}
    assert attention(eyes_with("execution.view_run")) == {}
    can = eyes_with("execution.view_run", "execution.resolve_run")
    assert list(attention(can)) == ["/runs/?status=outcome_unknown"]


def test_the_charts_have_a_table_and_are_for_who_may_see_runs(
    eyes: Client, eyes_with: Callable[..., Client], assign: Callable[[str], None], call: Call
) -> None:
    assign("echo")
    call("echo", {"text": "a"})
    page = eyes.get("/overview/charts/?hours=1")
    assert sum(step.calls for step in page.context["steps"]) == 1
    assert len(page.context["points"]["at"]) == 60
    assert eyes.get("/overview/charts/?hours=99").context["hours"] == 24
    assert eyes_with("registry.view_tool").get("/overview/charts/").status_code == 404


def test_more_runs_than_are_counted_are_told_as_more() -> None:
    unknown, left, *_ = WATCHES
    assert Notice(unknown, MOST + 1).words == "more than 1000 runs whose outcome nobody knows"
    assert Notice(left, 1).words == "1 failed run waits for a person"
