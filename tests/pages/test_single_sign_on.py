"""Signing in at an OpenID Connect provider: who comes in, as whom, and what is never believed."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission
from django.test import Client

from audit.models import Event
from security.accounts.invitations import invitation_show
from security.accounts.services import person_invite
from security.models import Identity, User
from security.oidc.options import Options
from tests.identity_provider import (
    CLIENT,
    KEYS,
    OTHER_KEY,
    SECRET,
    Provider,
    provider,
    signed,
    signed_by_public_key,
)

__all__ = ["provider"]
pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
# Of all tests: to make one reads all certificates of the machine.
BROWSER = httpx.Client()
BO = {
    "sub": "248289",
    "preferred_username": "bo@example.org",
    "email": "bo@example.org",
    "email_verified": True,
}


@pytest.fixture(autouse=True)
def options(provider: Provider, settings: Any) -> Callable[..., None]:
    """Sets the hub's options; at first nobody joins, and addresses link nobody."""
    provider.person = dict(BO)
    settings.HTTP_ALLOW = ["127.0.0.1"]
    settings.PUBLIC_URL = "http://testserver"
    settings.OIDC = Options(provider.issuer, CLIENT, SECRET, label="Example ID")

    def set_(**changes: Any) -> None:
        settings.OIDC = replace(settings.OIDC, **changes)

    return set_


def at_provider(address: str) -> str:
    """The browser goes to the provider, which sends it back: the hub's address there."""
    answer = BROWSER.get(address)
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"


def through(client: Client, begin: str = "/sign-in/provider/") -> Any:
    """The whole way, by the button."""
    return client.get(at_provider(client.get(begin)["Location"]))


def said(client: Client, answer: Any) -> str:
    """What the page says to which the answer leads."""
    page = client.get(answer["Location"])
    return " ".join(str(message) for message in page.context["messages"])


def who(client: Client) -> str:
    """Who is signed in; empty for nobody."""
    answer = client.get("/account/")
    return answer.wsgi_request.user.get_username() if answer.status_code == 200 else ""


def linked(person: User, provider: Provider) -> None:
    Identity.objects.create(person=person, issuer=provider.issuer, subject=BO["sub"])


def test_who_is_linked_comes_in_where_they_wanted_and_it_is_on_record(
    viewer: User, provider: Provider
) -> None:
    linked(viewer, provider)
    client = Client()
    assert "Sign in with Example ID" in client.get("/sign-in/?next=/tools/").content.decode()
    answer = through(client, "/sign-in/provider/?next=/tools/")
    assert (answer.status_code, answer["Location"]) == (302, "/tools/")
    assert "no-store" in answer["Cache-Control"]
    assert who(client) == "viewer"
    data = json.loads(Event.objects.get(kind="person.signed_in").canonical)["data"]
    assert data == {"person": "viewer", "how": ["provider"], "address": "127.0.0.1"}
    assert "Example ID" in client.get("/account/").content.decode()


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_it_leads_nowhere_else(viewer: User, provider: Provider, elsewhere: str) -> None:
    linked(viewer, provider)
    assert through(Client(), f"/sign-in/provider/?next={elsewhere}")["Location"] == "/"


def test_who_is_unknown_is_refused_with_a_reason_on_record(viewer: User) -> None:
    User.objects.filter(pk=viewer.pk).update(email="bo@example.org")
    client = Client()
    assert "Nobody here is linked to you yet. Ask an admin" in said(client, through(client))
    assert who(client) == ""
    assert not Identity.objects.exists()
    event = Event.objects.get(kind="person.sign_in_refused")
    assert "248289" in event.canonical


def test_who_has_left_is_refused_with_a_reason(viewer: User, provider: Provider) -> None:
    linked(viewer, provider)
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    client = Client()
    assert "viewer has left the hub" in said(client, through(client))
    assert who(client) == ""
    assert Event.objects.filter(kind="person.sign_in_refused").exists()


def test_a_second_factor_is_asked_for_here_too(viewer: User, provider: Provider) -> None:
    linked(viewer, provider)
    Authenticator.objects.create(user=viewer, type="totp", data={"secret": "x"})
    client = Client()
    assert through(client)["Location"] == "/account/code/"
    assert who(client) == ""


# What is forged, and a word of what the hub says to it.
FORGED: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], Callable[[dict[str, Any]], str], str]] = {
    "another issuer": (lambda c: {**c, "iss": "https://evil.example"}, signed, "iss"),
    "another audience": (lambda c: {**c, "aud": "other"}, signed, "aud"),
    "several audiences": (lambda c: {**c, "aud": [CLIENT, "other"]}, signed, "somebody else"),
    "another party": (lambda c: {**c, "azp": "other"}, signed, "somebody else"),
    "expired": (lambda c: {**c, "exp": int(time.time()) - 3600}, signed, "does not hold"),
    "no expiry": (lambda c: {k: v for k, v in c.items() if k != "exp"}, signed, "does not hold"),
    "from the future": (lambda c: {**c, "iat": int(time.time()) + 3600}, signed, "does not hold"),
    "another nonce": (lambda c: {**c, "nonce": "x"}, signed, "nonce"),
    "no nonce": (lambda c: {k: v for k, v in c.items() if k != "nonce"}, signed, "does not hold"),
    "no subject": (lambda c: {k: v for k, v in c.items() if k != "sub"}, signed, "does not hold"),
    "another key": (lambda c: c, lambda c: signed(c, OTHER_KEY), "bad_signature"),
    "unsigned": (lambda c: c, lambda c: signed(c, None, "none"), "does not hold"),
    "the public key as a secret": (lambda c: c, signed_by_public_key, "does not hold"),
    "another text": (lambda c: c, lambda c: "no.token.here", "does not hold"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_id_token_lets_nobody_in(viewer: User, provider: Provider, name: str) -> None:
    linked(viewer, provider)
    provider.forge, provider.sign, word = FORGED[name]
    client = Client()
    told = said(client, through(client))
    assert "was not accepted" in told
    assert word in told
    assert who(client) == ""
    assert not Event.objects.filter(kind="person.signed_in").exists()


@pytest.mark.parametrize("algorithm", ["RS512", "PS256", "ES256", "EdDSA"])
def test_tokens_are_read_as_providers_sign_them(viewer: User, provider: Provider, algorithm: str) -> None:
    linked(viewer, provider)
    provider.sign = lambda claims: signed(claims, KEYS[algorithm], algorithm)
    assert through(Client())["Location"] == "/"


def test_a_state_is_good_once_in_its_own_browser_with_its_own_code(viewer: User, provider: Provider) -> None:
    linked(viewer, provider)
    mine, other = Client(), Client()
    back = at_provider(mine.get("/sign-in/provider/")["Location"])
    assert "another browser" in said(other, other.get(back))
    assert who(other) == ""
    assert mine.get(back)["Location"] == "/"
    mine.post("/sign-out/")
    assert "another browser" in said(mine, mine.get(back))
    # A code that somebody else's sign-in gave does not fit this one's verifier.
    stolen = at_provider(other.get("/sign-in/provider/")["Location"])
    begun = at_provider(mine.get("/sign-in/provider/")["Location"])
    mixed = begun.replace(*(address.split("code=")[1].split("&")[0] for address in (begun, stolen)))
    assert "was not accepted" in said(mine, mine.get(mixed))
    assert (who(mine), who(other)) == ("", "")


def test_a_provider_that_is_another_or_away_or_refuses_is_told(provider: Provider, options: Any) -> None:
    client = Client()
    state = at_provider(client.get("/sign-in/provider/")["Location"]).split("state=")[1]
    assert "did not sign you in (access_denied)" in said(
        client, client.get(f"/sign-in/provider/done/?error=access_denied&state={state}")
    )
    provider.says_issuer = "https://evil.example"
    options(scopes=("openid",))
    assert "cannot be reached" in said(client, client.get("/sign-in/provider/"))
    options(issuer="http://127.0.0.1:1")
    assert "cannot be reached" in said(client, client.get("/sign-in/provider/"))


def test_an_address_links_only_where_the_settings_say_so_and_it_is_verified(
    viewer: User, provider: Provider, options: Any
) -> None:
    User.objects.filter(pk=viewer.pk).update(email="BO@example.org")
    options(link_email=True)
    provider.person["email_verified"] = False
    client = Client()
    assert "Nobody here is linked" in said(client, through(client))
    provider.person["email_verified"] = True
    assert through(client)["Location"] == "/"
    assert who(client) == "viewer"
    # Somebody else at the provider who is given the same address later does not become that person.
    provider.person["sub"] = "other"
    other = Client()
    assert "viewer is somebody else at Example ID" in said(other, through(other))
    assert who(other) == ""


def test_an_address_links_nobody_who_could_change_people(admin: User, viewer: User, options: Any) -> None:
    options(link_email=True)
    host = User.objects.create_user("host")
    host.user_permissions.add(Permission.objects.get(codename="add_user"))
    viewer.groups.add(Group.objects.get(name="admin"))
    for person in (admin, viewer, host):
        User.objects.update(email="")
        User.objects.filter(pk=person.pk).update(email="bo@example.org")
        client = Client()
        assert "linked by their own hand only" in said(client, through(client))
        assert who(client) == ""
    assert not Identity.objects.exists()


def test_who_joins_gets_an_account_of_their_own_without_roles_and_without_anybody_elses_name(
    viewer: User, provider: Provider, options: Any
) -> None:
    options(join=True)
    provider.person |= {"preferred_username": "viewer", "groups": ["admin"]}
    client = Client()
    assert through(client)["Location"] == "/"
    assert who(client) == "viewer-2"
    person = User.objects.get(username="viewer-2")
    assert (person.email, person.is_superuser, person.is_staff) == ("bo@example.org", False, False)
    assert not person.groups.exists()
    assert not person.has_usable_password()
    assert Event.objects.filter(kind__in=("person.joined", "person.identity_linked")).count() == 2


def test_groups_give_and_take_the_roles_that_the_settings_name_and_no_others(
    admin: User, provider: Provider, options: Any
) -> None:
    options(join=True, roles=(("staff", "viewer"), ("tool-admins", "admin")))
    client = Client()
    assert "None of your groups" in said(client, through(client))
    # Some providers tell of groups in userinfo alone.
    provider.elsewhere = {"groups": ["staff"]}
    through(client)
    person = User.objects.get(username="bo")
    assert names(person) == ["viewer"]
    person.groups.add(Group.objects.get(name="operator"))
    provider.elsewhere = {"groups": ["tool-admins"]}
    through(client)
    assert names(person) == ["admin", "operator"]
    # The last who may change people keeps that.
    admin.delete()
    provider.elsewhere = {"groups": []}
    through(client)
    assert names(person) == ["admin", "operator"]


def names(person: User) -> list[str]:
    return sorted(person.groups.values_list("name", flat=True))


def test_only_verified_addresses_of_the_named_domains_come_in(
    viewer: User, provider: Provider, options: Any
) -> None:
    linked(viewer, provider)
    options(domains=("example.com",))
    client = Client()
    assert "bo@example.org is not in example.com" in said(client, through(client))
    options(domains=("example.com", "example.org"))
    provider.person["email_verified"] = False
    assert "No verified address" in said(client, through(client))
    provider.person["email_verified"] = True
    assert through(client)["Location"] == "/"


def link_of(client: Client) -> str:
    """The link to the provider on one's own page, for which the password is asked again."""
    asked = client.get("/account/identity/")["Location"]
    assert asked.startswith("/account/again/")
    client.post(asked, {"password": PASSWORD})
    return str(client.get("/account/identity/").context["link"])


def test_a_person_links_their_own_account_after_their_password_and_ends_it(viewer: User, admin: User) -> None:
    client = Client()
    client.post("/sign-in/", {"login": "viewer", "password": PASSWORD})
    back = at_provider(link_of(client))
    # Who answers for somebody else's browser gains nothing: the state is bound to the browser that asked.
    other = Client()
    other.force_login(admin)
    assert "another browser" in said(other, other.get(back))
    assert client.get(back)["Location"] == "/account/"
    assert Identity.objects.get().person == viewer
    fresh = Client()
    through(fresh)
    assert who(fresh) == "viewer"
    # It belongs to one person only.
    other.force_login(admin)
    told = said(other, other.get(at_provider(link_of(other))))
    assert "Somebody else here signs in so" in told
    assert client.post("/account/identity/end/")["Location"] == "/account/"
    assert not Identity.objects.exists()


def test_an_invitation_is_taken_up_at_the_provider_once(admin: User, settings: Any) -> None:
    settings.PASSWORDS = False
    person = person_invite(by=admin, username="bo", email="other@example.org", roles=["viewer"])
    path = urlsplit(invitation_show(by=admin, person=person)).path
    guest = Client()
    page = guest.get(path, follow=True)
    assert page.context["form"]
    assert "new_password1" not in page.content.decode()
    back = at_provider(page.context["link"])
    assert guest.get(back)["Location"] == "/"
    assert who(guest) == "bo"
    assert "used already" in Client().get(path, follow=True).content.decode()
    # Without passwords there is no way left: it cannot be ended by oneself, but by an admin.
    assert "no way to sign in" in said(guest, guest.post("/account/identity/end/"))
    eyes = Client()
    eyes.force_login(admin)
    assert eyes.post("/people/bo/identity/").status_code == 302
    assert not Identity.objects.exists()


def test_without_passwords_only_who_stands_above_all_roles_has_one(
    admin: User, viewer: User, settings: Any
) -> None:
    settings.PASSWORDS = False
    client = Client()
    answer = client.post("/sign-in/", {"login": "viewer", "password": PASSWORD})
    assert "Passwords are switched off here. Sign in with Example ID." in answer.content.decode()
    client.force_login(viewer)
    assert client.get("/account/password/").status_code == 404
    assert "Change the password" not in client.get("/account/").content.decode()
    client = Client()
    assert client.post("/sign-in/", {"login": "admin", "password": PASSWORD})["Location"] == "/"


def test_the_settings_say_how_and_whether_it_answers(eyes: Client, options: Any, provider: Provider) -> None:
    page = eyes.get("/settings/sign-in/").content.decode()
    assert "It answers, and signs with 3 keys; key k9 is not taken: its type is AKP" in page
    assert "http://testserver/sign-in/provider/done/" in page
    assert SECRET not in page
    options(issuer=f"{provider.issuer}/")
    assert "calls itself" in eyes.get("/settings/sign-in/").content.decode()


def test_without_a_provider_there_is_no_button_and_no_way(settings: Any, eyes: Client) -> None:
    settings.OIDC = None
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
    for address in ("/sign-in/provider/", "/sign-in/provider/done/"):
        assert Client().get(address).status_code == 404
    assert eyes.get("/account/identity/").status_code == 404
    assert "None is set up" in eyes.get("/settings/sign-in/").content.decode()
