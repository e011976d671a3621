"""The pages of limits."""

from collections.abc import Callable

import pytest
from django.test import Client

from security.models import Persona
from security.policy.models import Limit

FORM = {"kind": "quota", "measure": "calls", "amount": "10", "window_s": "86400"}


def test_a_limit_is_made_shown_and_deleted_after_a_question(
    eyes: Client, persona: Persona, published: None
) -> None:
    assert (
        eyes.post("/policy/limits/new/", {**FORM, "persona": "researcher", "tool": "echo"}).status_code == 302
    )
    row = Limit.objects.get()
    assert "10 calls a day" in eyes.get("/policy/limits/").content.decode()
    assert "0 of 10 calls" in eyes.get("/personas/researcher/").content.decode()
    address = f"/policy/limits/{row.pk}/delete/"
    assert "Delete the limit of 10 calls a day?" in eyes.get(address).content.decode()
    assert Limit.objects.exists()
    assert eyes.post(address).status_code == 302
    assert not Limit.objects.exists()


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({}, "tool"),
        ({"persona": "nobody"}, "persona"),
        ({"tool": "echo", "amount": "0"}, "amount"),
        ({"tool": "echo", "kind": "rate", "measure": "seconds"}, "measure"),
    ],
)
def test_a_limit_that_does_not_fit_is_told_at_its_field(
    eyes: Client, published: None, form: dict[str, str], field: str
) -> None:
    answer = eyes.post("/policy/limits/new/", {**FORM, **form})
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Limit.objects.exists()


def test_who_may_look_may_not_change(eyes_with: Callable[..., Client], published: None) -> None:
    looks = eyes_with("policy.view_limit")
    assert looks.get("/policy/limits/").status_code == 200
    assert looks.post("/policy/limits/new/", {**FORM, "tool": "echo"}).status_code == 404
    assert not Limit.objects.exists()
