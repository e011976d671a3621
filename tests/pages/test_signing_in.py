"""Signing in and out; what a stranger meets."""

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse

from security.models import User

PASSWORD = "correct horse battery"
PAGES = ("/", "/tools/", "/tools/echo/", "/personas/", "/personas/new/", "/runs/", "/audit/", "/api/docs")


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_is_asked_to_sign_in_and_comes_back(client: Client, page: str) -> None:
    answer = client.get(page)
    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?next={page}"


def test_the_right_password_leads_to_the_page_that_was_asked_for(client: Client, admin: User) -> None:
    answer = client.post("/sign-in/", {"login": "admin", "password": PASSWORD, "next": "/tools/"})
    assert (answer.status_code, answer["Location"]) == (302, "/tools/")
    assert client.get("/tools/").status_code == 200


def test_a_wrong_password_says_so_and_signs_nobody_in(client: Client, admin: User) -> None:
    answer = client.post("/sign-in/", {"login": "admin", "password": "wrong"})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert client.get("/").status_code == 302


@pytest.mark.django_db
def test_an_empty_field_is_named_at_the_field(client: Client) -> None:
    page = client.post("/sign-in/", {"login": "", "password": ""}).content.decode()
    assert 'aria-describedby="id_login_error"' in page
    assert 'aria-describedby="id_password_error"' in page


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)"])
def test_next_never_leads_away_from_the_hub(client: Client, admin: User, elsewhere: str) -> None:
    answer = client.post("/sign-in/", {"login": "admin", "password": PASSWORD, "next": elsewhere})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("name", ["account_signup", "account_reset_password", "account_email"])
def test_nobody_signs_up_or_resets_a_password_by_themselves(name: str) -> None:
    with pytest.raises(NoReverseMatch):
        reverse(name)


def test_signing_out_is_asked_first_and_then_done(eyes: Client) -> None:
    assert "Sign out?" in eyes.get("/sign-out/").content.decode()
    assert eyes.get("/").status_code == 200
    assert eyes.post("/sign-out/").status_code == 302
    assert eyes.get("/").status_code == 302


def test_a_password_is_changed_and_the_old_one_is_needed(eyes: Client, admin: User) -> None:
    new = {"password1": "battery staple horse", "password2": "battery staple horse"}
    refused = eyes.post("/account/password/", {"oldpassword": "wrong", **new})
    assert 'aria-describedby="id_oldpassword_error"' in refused.content.decode()
    assert eyes.post("/account/password/", {"oldpassword": PASSWORD, **new}).status_code == 302
    admin.refresh_from_db()
    assert admin.check_password("battery staple horse")


def test_the_theme_is_kept_without_javascript(eyes: Client) -> None:
    answer = eyes.post("/account/theme/", {"theme": "dark", "next": "/tools/"})
    assert answer["Location"] == "/tools/"
    assert 'data-bs-theme="dark"' in eyes.get("/tools/").content.decode()


def test_the_theme_form_never_leads_away_from_the_hub(eyes: Client) -> None:
    answer = eyes.post("/account/theme/", {"theme": "dark", "next": "//example.org/"})
    assert answer["Location"] == "/"
