"""The pages on which people set packages up, and the page of the vault."""

from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from registry.config.services import config_change
from registry.models import Package
from security.models import Secret, User
from security.vault import secrets_read
from tests.execution.fixtures import fx, keeper

__all__ = ["fx", "keeper"]
HERE = "/packages/keeper/config/"
KEY = "hunter2-hunter2"


def post(eyes: Client, **fields: str) -> Any:
    return eyes.post(HERE, {f"config-{name.replace('__', '-')}": text for name, text in fields.items()})


def test_settings_and_secrets_are_set_in_one_form(keeper: Package, eyes: Client) -> None:
    form = eyes.get(HERE).context["form"]
    assert list(form.fields) == ["api_key", "digits", "spare_key", "unit"]
    answer = post(eyes, unit="F", digits="3", api_key=KEY)
    assert answer["Location"] == "/packages/keeper/"
    keeper.refresh_from_db()
    assert keeper.config == {"unit": "F", "digits": 3}
    assert secrets_read("package:keeper") == {"api_key": KEY}


def test_a_secret_is_never_shown_again(keeper: Package, eyes: Client) -> None:
    post(eyes, unit="F", api_key=KEY)
    shown = [
        eyes.get(page).content.decode()
        for page in (HERE, "/packages/keeper/", "/settings/secrets/", "/audit/")
    ]
    assert all(KEY not in body for body in shown)
    assert all("by admin" in body for body in shown[:3])
    refused = post(eyes, unit="K", api_key="another-secret").content.decode()
    assert "another-secret" not in refused


def test_what_is_left_empty_is_not_set_and_a_secret_stays(keeper: Package, admin: User, eyes: Client) -> None:
    config_change(by=admin, package=keeper, changes={"unit": "C", "digits": 4, "api_key": KEY})
    post(eyes, unit="C", digits="", api_key="")
    keeper.refresh_from_db()
    assert keeper.config == {"unit": "C"}
    assert secrets_read("package:keeper") == {"api_key": KEY}


def test_a_secret_is_removed_by_a_word(keeper: Package, admin: User, eyes: Client) -> None:
    config_change(by=admin, package=keeper, changes={"unit": "C", "api_key": KEY})
    eyes.post(HERE, {"config-unit": "C", "config-remove-api_key": "yes"})
    assert not Secret.objects.exists()
    body = eyes.get("/packages/keeper/").content.decode()
    assert "Its tools refuse calls until these are set: api_key." in body


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"unit": "K"}, "unit"),
        ({"digits": "many"}, "digits"),
        ({"digits": "11"}, "digits"),
        ({"api_key": "short"}, "api_key"),
    ],
)
def test_a_bad_value_is_told_at_its_field(
    keeper: Package, eyes: Client, fields: dict[str, str], field: str
) -> None:
    answer = post(eyes, **fields)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    keeper.refresh_from_db()
    assert keeper.config == {}


def test_a_package_without_settings_has_no_such_page(fx: Package, eyes: Client) -> None:
    assert eyes.get("/packages/fixture/config/").status_code == 404


def test_who_may_not_change_packages_sees_no_form(keeper: Package, eyes_with: Any) -> None:
    eyes = eyes_with("registry.view_package")
    assert eyes.get(HERE).status_code == 404
    assert post(eyes, unit="C").status_code == 404
    assert HERE not in eyes.get("/packages/keeper/").content.decode()


SERVER = {"server": "https://code.example.org/", "user": "hub", "password": "p@ss word:7"}


def test_credentials_of_a_git_server_are_kept_and_forgotten(eyes: Client) -> None:
    assert eyes.post("/settings/secrets/", SERVER)["Location"] == "/settings/secrets/"
    assert secrets_read("git") == {
        "https://code.example.org": "https://hub:p%40ss%20word%3A7@code.example.org"
    }
    row = Secret.objects.get()
    body = eyes.get("/settings/secrets/").content.decode()
    assert "https://code.example.org" in body
    assert "p@ss" not in body
    assert "Forget" in eyes.get(f"/settings/secrets/{row.pk}/remove/").content.decode()
    eyes.post(f"/settings/secrets/{row.pk}/remove/")
    assert not Secret.objects.exists()
    assert list(
        Event.objects.filter(subject_kind="secret").order_by("pk").values_list("kind", flat=True)
    ) == [
        "secret.set",
        "secret.removed",
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"server": "https://code.example.org/path"}, "server"),
        ({"server": "ssh://code.example.org"}, "server"),
        ({"user": "a\nb"}, "user"),
        ({"password": "a\nb"}, "password"),
        ({"password": ""}, "password"),
    ],
)
def test_bad_credentials_are_told_at_the_field(eyes: Client, change: dict[str, str], field: str) -> None:
    answer = eyes.post("/settings/secrets/", SERVER | change)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Secret.objects.exists()


def test_who_may_only_look_sets_nothing(eyes_with: Any) -> None:
    eyes = eyes_with("security.view_secret")
    assert eyes.get("/settings/secrets/").status_code == 200
    assert eyes.post("/settings/secrets/", SERVER).status_code in {404, 422}
    assert not Secret.objects.exists()


def test_a_secret_keeps_its_lines_and_loses_the_break_at_the_end_of_one(
    keeper: Package, admin: User, eyes: Client
) -> None:
    config_change(by=admin, package=keeper, changes={"api_key": f"{KEY}\n"})
    assert secrets_read("package:keeper") == {"api_key": KEY}
    config_change(by=admin, package=keeper, changes={"spare_key": f"{KEY}\nx\n"})
    assert secrets_read("package:keeper")["spare_key"] == f"{KEY}\nx\n"
    post(eyes, unit="F", api_key=f"{KEY}\n")
    assert "Saved without the line breaks around the value: api_key." in eyes.get("/").content.decode()
