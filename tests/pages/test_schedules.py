"""The pages of schedules."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from execution.entry.schedules.fire import schedules_fire
from execution.entry.schedules.services import schedule_create
from execution.models import Run, Schedule
from security.models import Persona, User

GOOD = {
    "name": "Morning greeting",
    "persona": "researcher",
    "tool": "echo",
    "version": "",
    "arguments": '{"text": "good morning"}',
    "cron": "0 9 * * 1-5",
    "time_zone": "Asia/Kathmandu",
}


@pytest.fixture
def ready(persona: Persona, assign: Callable[[str], None]) -> Persona:
    assign("toolhub-data")
    return persona


@pytest.fixture
def schedule(ready: Persona, admin: User) -> Schedule:
    wishes = {**GOOD, "persona": ready, "arguments": {"text": "hi"}}
    return schedule_create(by=admin, **wishes)  # type: ignore[arg-type]


def test_an_empty_list_says_what_to_do(eyes: Client, db: None) -> None:
    assert "/schedules/new/" in eyes.get("/schedules/").content.decode()


def test_a_schedule_is_made_and_listed_in_words(eyes: Client, ready: Persona) -> None:
    answer = eyes.post("/schedules/new/", GOOD, follow=True)
    body = answer.content.decode()
    assert "Morning greeting is scheduled." in body
    assert "At 09:00 on Monday through Friday, Asia/Kathmandu" in body
    assert Schedule.objects.get().arguments == {"text": "good morning"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"persona": "nobody"}, "There is no persona &#x27;nobody&#x27;."),
        ({"tool": "nothing"}, "No tool named &quot;nothing&quot; is available to you."),
        ({"arguments": "{"}, "This is no JSON"),
        ({"arguments": '{"text": 1}'}, "The arguments do not fit echo"),
        ({"arguments": "[]"}, "This must be a JSON object."),
        ({"arguments": '{"text": "a", "text": "b"}'}, "This is no JSON"),
        ({"cron": "every day"}, "This is no cron expression"),
        ({"time_zone": "Nowhere"}, "is no time zone"),
        ({"name": ""}, "This field is required."),
    ],
    ids=str,
)
def test_what_is_wrong_stands_at_its_field(
    eyes: Client, ready: Persona, changes: dict[str, str], said: str
) -> None:
    answer = eyes.post("/schedules/new/", {**GOOD, **changes})
    assert answer.status_code == 422
    body = answer.content.decode()
    assert said in body
    [field] = changes
    assert f'id="id_{field}_error"' in body
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    ("field", "typed", "proposed", "left_out"),
    [
        ("persona", "search", "researcher", "echo"),
        ("tool", "ec", "echo", "researcher"),
        ("time_zone", "kathm", "Asia/Kathmandu", "Europe/Berlin"),
        ("time_zone", "los ang", "America/Los_Angeles", "Europe/Berlin"),
    ],
)
def test_pickers_propose_what_holds_the_text(
    eyes: Client, ready: Persona, field: str, typed: str, proposed: str, left_out: str
) -> None:
    body = eyes.get(f"/schedules/options/{field}/", {field: typed}).content.decode()
    assert f'value="{proposed}"' in body
    assert f'value="{left_out}"' not in body


def test_a_picker_nobody_has_proposes_nothing(eyes: Client, ready: Persona) -> None:
    assert "<option" not in eyes.get("/schedules/options/name/").content.decode()


def test_the_reader_is_led_to_the_first_field_that_is_wrong(eyes: Client, ready: Persona) -> None:
    body = eyes.post("/schedules/new/", {**GOOD, "cron": "every day", "tool": "nothing"}).content.decode()
    assert [tag for tag in re.findall(r"<[^>]*\bautofocus\b[^>]*>", body) if "<input" in tag] == [
        re.search(r'<input[^>]*name="cron"[^>]*>', body).group()  # type: ignore[union-attr]
    ]


def test_the_list_links_the_last_run_and_tells_a_refusal(eyes: Client, schedule: Schedule) -> None:
    assert schedule.next_at is not None
    schedules_fire(schedule.next_at)
    assert f'href="/runs/{Run.objects.get().pk}/"' in eyes.get("/schedules/").content.decode()
    Schedule.objects.update(last_error="TOOL_NOT_FOUND: gone")
    assert "TOOL_NOT_FOUND: gone" in eyes.get("/schedules/?q=greeting").content.decode()
    assert "No schedule fits" in eyes.get("/schedules/?q=other").content.decode()


def test_it_is_switched_and_deleted_after_a_question(eyes: Client, schedule: Schedule) -> None:
    here = f"/schedules/{schedule.pk}"
    assert "is not made up for" in eyes.get(f"{here}/switch/").content.decode()
    eyes.post(f"{here}/switch/", {"on": "no"})
    assert Schedule.objects.get().enabled is False
    assert "from its next due time on" in eyes.get(f"{here}/switch/").content.decode()
    eyes.post(f"{here}/switch/", {"on": "yes"})
    assert Schedule.objects.get().enabled is True
    assert "its runs and its audit stay" in eyes.get(f"{here}/delete/").content.decode()
    assert Schedule.objects.exists()
    eyes.post(f"{here}/delete/")
    assert not Schedule.objects.exists()
    assert eyes.get(f"{here}/delete/").status_code == 404


@pytest.mark.parametrize(
    ("act", "permission"), [("switch", "change_schedule"), ("delete", "delete_schedule")]
)
def test_an_act_without_its_permission_does_not_exist(
    schedule: Schedule, eyes_with: Callable[..., Client], act: str, permission: str
) -> None:
    other = eyes_with("execution.view_schedule")
    assert other.get(f"/schedules/{schedule.pk}/{act}/").status_code == 404
    assert other.post(f"/schedules/{schedule.pk}/{act}/").status_code == 404
    assert f"/{act}/" not in other.get("/schedules/").content.decode()
    assert eyes_with(f"execution.{permission}").get(f"/schedules/{schedule.pk}/{act}/").status_code == 200
