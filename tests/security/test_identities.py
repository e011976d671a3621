"""Names and addresses: one normal form, compared to the letter. Tried on both databases."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as hub_settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group
from django.core.exceptions import FieldError, ValidationError
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest, ToolHubError
from core.identity import NotPlain, address_normal, domain_normal, is_twin, name_normal, unfit_character
from registry.catalogue import catalogue_sync
from registry.collections.services import collection_create
from registry.models import Tool
from security.accounts.services import person_invite
from security.models import Identity, User
from security.oidc.claims import Claims
from security.oidc.options import Options
from security.oidc.people import person_arrive
from security.sharing.teams import team_create
from tests.identity_provider import Provider, provider
from tests.pages.test_single_sign_on import options, said, through, who

__all__ = ["options", "provider"]

PASSWORD = "correct horse battery"
# Each is read as kiss@kisses.example by something that folds, normalises or trims.
LOOK_ALIKES = {
    "dotless i": "k\u0131ss@kisses.example",
    "capital I with a dot": "k\u0130ss@kisses.example",
    "long s": "kis\u017f@kisses.example",
    "sharp s": "ki\u00df@kisses.example",
    "Kelvin sign": "\u212aiss@kisses.example",
    "full-width letter": "\uff4biss@kisses.example",
    "combining dot": "ki\u0307ss@kisses.example",
    "no-break space": "kiss@kisses.example\u00a0",
    "zero-width space": "ki\u200bss@kisses.example",
    "soft hyphen": "ki\u00adss@kisses.example",
    "Cyrillic letter": "k\u0456ss@kisses.example",
    "full-width at": "kiss\uff20kisses.example",
    "dotless i in the domain": "kiss@k\u0131sses.example",
    "long s in the domain": "kiss@ki\u017f\u017fes.example",
    "sharp s in the domain": "kiss@ki\u00dfes.example",
    "Kelvin sign in the domain": "kiss@\u212aisses.example",
    "ideographic dot in the domain": "kiss@kisses\u3002example",
    "NUL": "kiss\0@kisses.example",
    "line end": "kiss@kisses.example\n",
    "tab": "kiss\t@kisses.example",
    "two addresses": "kiss@kisses.example,bo@example.org",
    "quoted": '"kiss"@kisses.example',
    "comment": "kiss(x)@kisses.example",
    "dot at the end": "kiss@kisses.example.",
}
KISS = "kiss@kisses.example"
NAMES = {
    name: address.partition("@")[0]
    for name, address in LOOK_ALIKES.items()
    if not address.startswith(("kiss@", "kiss,", "kiss\t"))
}


@pytest.mark.django_db
def test_a_look_alike_address_becomes_nobody(viewer: User, subtests: Any) -> None:
    User.objects.filter(pk=viewer.pk).update(email=KISS)
    for join in (False, True):
        options = Options("https://id.example", "toolhub", link_email=True, join=join)
        for name, address in LOOK_ALIKES.items():
            with subtests.test(name, join=join):
                claims = Claims("https://id.example", "1", "kiss", "Kiss", address)
                with pytest.raises(Denied, match=r"Your address at .* cannot be used"):
                    person_arrive(claims, options)
    assert not Identity.objects.exists()
    assert User.objects.count() == 1
    assert Event.objects.filter(kind="person.sign_in_refused").count() == 2 * len(LOOK_ALIKES)


@pytest.mark.django_db
@pytest.mark.parametrize("address", [LOOK_ALIKES["dotless i"], LOOK_ALIKES["long s in the domain"]])
def test_at_the_provider_too(viewer: User, provider: Provider, options: Any, address: str) -> None:
    User.objects.filter(pk=viewer.pk).update(email=KISS)
    options(link_email=True)
    provider.person["email"] = address
    client = Client()
    answer = through(client)
    assert who(client) == ""
    assert "expected ASCII only; character" in said(client, answer)
    # The address of somebody who is linked already decides nothing, unless a domain is asked for.
    Identity.objects.create(person=viewer, issuer=provider.issuer, subject=provider.person["sub"])
    assert through(client)["Location"] == "/"
    options(domains=("kisses.example",))
    client = Client()
    assert "cannot be used" in said(client, through(client))


@pytest.mark.django_db
@pytest.mark.parametrize("written", [KISS, "KISS@kisses.example", "Kiss@KISSES.Example"])
def test_capitals_of_ascii_are_the_same_person(viewer: User, written: str) -> None:
    viewer.email = "Kiss@Kisses.EXAMPLE"
    viewer.save()
    assert viewer.email == KISS
    options = Options("https://id.example", "toolhub", link_email=True, domains=("kisses.example",))
    assert person_arrive(Claims("https://id.example", "1", email=written), options) == viewer


@pytest.mark.django_db
def test_names_are_found_in_capitals_and_by_no_look_alike(client: Client, subtests: Any) -> None:
    person = User.objects.create_user("Kiss", password=PASSWORD)
    assert person.username == "kiss"
    for name in ("kiss", "KISS", "Kiss"):
        assert User.objects.get(username=name) == person
        assert User.objects.get_by_natural_key(name) == person
        assert authenticate(username=name, password=PASSWORD) == person
        assert Client().post("/sign-in/", {"login": name, "password": PASSWORD}).status_code == 302
    for case, name in NAMES.items():
        with subtests.test(case):
            assert not User.objects.filter(username=name).exists()
            assert not User.objects.filter(username__in=[name]).exists()
            Client().post("/sign-in/", {"login": name, "password": PASSWORD})
    assert Event.objects.filter(kind="person.signed_in").count() == 3


@pytest.mark.django_db
def test_look_alikes_are_refused_wherever_a_name_or_address_comes_in(admin: User, subtests: Any) -> None:
    doors: dict[str, Callable[[str], object]] = {
        "invitation": lambda name: person_invite(by=admin, username=name),
        "invitation's address": lambda name: person_invite(
            by=admin, username="bo", email=f"{name}@a.example"
        ),
        "model": User.objects.create_user,
        "model's address": lambda name: User.objects.create_user("bo", email=f"{name}@a.example"),
        "in bulk": lambda name: User.objects.bulk_create([User(username=name)]),
        "command": lambda name: call_command(
            "createsuperuser", interactive=False, username=name, email="", verbosity=0
        ),
        "team": lambda name: team_create(by=admin, name=name),
        "collection": lambda name: collection_create(by=admin, name=name),
    }
    for door, act in doors.items():
        for case, name in NAMES.items():
            refusals = (InvalidRequest, ValidationError, CommandError)
            with subtests.test(door, case=case), pytest.raises(refusals), transaction.atomic():
                act(name)
    assert [*User.objects.values_list("username", flat=True)] == ["admin"]


@pytest.mark.django_db
def test_a_name_in_other_capitals_is_taken(admin: User, published: None) -> None:
    assert person_invite(by=admin, username="Bo", email="Bo@Example.ORG").email == "bo@example.org"
    with pytest.raises(Conflict):
        person_invite(by=admin, username="bO")
    Group.objects.create(name="Night")  # made before names had a normal form
    assert team_create(by=admin, name="Day").name == "day"
    for name in ("night", "DAY", "Admin"):
        with pytest.raises(Conflict, match="already"):
            team_create(by=admin, name=name)
    collection_create(by=admin, name="ops")
    with pytest.raises(Conflict, match="other capitals"):
        collection_create(by=admin, name="Ops")
    Tool.objects.filter(name="echo").update(name="FX_Echo")
    with pytest.raises(ToolHubError, match="in other capitals") as caught:
        catalogue_sync("tests.fixture_catalogue")
    assert caught.value.code == "ALREADY_REGISTERED"


@pytest.mark.django_db
def test_the_fields_refuse_lookups_by_which_a_database_folds() -> None:
    for column in ("username", "email"):
        for lookup in ("iexact", "istartswith", "iendswith", "iregex"):
            with pytest.raises(FieldError):
                User.objects.filter(**{f"{column}__{lookup}": "a"}).exists()


# Searches show what somebody may see anyway. Each line compares no identity.
SEARCHES = {"monitoring/search.py": 2}
FOLDING = re.compile(
    r"__(?:iexact|istartswith|iendswith|iregex)\b|\b(?:Lower|Upper|Collate)\(|casefold\(|citext"
)


def test_no_source_lets_a_database_fold_an_identity() -> None:
    found: dict[str, int] = {}
    for package in hub_settings.INSTALLED_APPS:
        folder = Path(hub_settings.ROOT, package.partition(".")[0])
        for file in folder.rglob("*.py") if folder.is_dir() else ():
            place = str(file.relative_to(hub_settings.ROOT))
            lines = [line for line in file.read_text().splitlines() if FOLDING.search(line)]
            if lines and "migrations" not in place:
                found[place] = len(lines)
    assert found == SEARCHES
    # What the hub uses of allauth and Django must not fold, either.
    assert hub_settings.ACCOUNT_PRESERVE_USERNAME_CASING is False
    assert {
        method.value for method in importlib.import_module("allauth.account.app_settings").LOGIN_METHODS
    } == {"username"}


@pytest.mark.django_db
def test_people_of_before_get_a_normal_form_and_nobody_gets_anothers(capsys: Any) -> None:
    with connection.cursor() as cursor:
        made = {}
        for name, email in (
            ("bo", ""),
            ("BO", "BO@example.org"),
            ("Bo", "b\u00f6@example.org"),
            ("J\u00f6rg", ""),
            ("k\u0131ss", ""),
            ("\u5f20", ""),
        ):
            person = User.objects.create_user(f"p{len(made)}")
            cursor.execute(
                "UPDATE security_user SET username = %s, email = %s WHERE id = %s", [name, email, person.pk]
            )
            made[person.pk] = name
    migration = importlib.import_module("security.migrations.0012_names_in_normal_form")
    migration.names_normalise(apps, None)
    now = {made[pk]: name for pk, name in User.objects.values_list("pk", "username")}
    last = max(made)
    assert now == {
        "bo": "bo",
        "BO": "bo-2",
        "Bo": "bo-3",
        "J\u00f6rg": "jorg",
        "k\u0131ss": "kss",
        "\u5f20": f"person-{last}",
    }
    assert User.objects.get(username="bo-2").email == "bo@example.org"
    said = capsys.readouterr().out
    assert "'J\u00f6rg' signs in as 'jorg'" in said
    assert "The address of 'Bo' has other characters than ASCII" in said
    # A row of before with another address is saved without a failure.
    person = User.objects.get(username="bo-3")
    person.set_password(PASSWORD)
    person.save()


def test_the_normal_forms() -> None:
    assert name_normal("Ada.L+1@x") == "ada.l+1@x"
    assert address_normal("Ada+1@XN--EXMPLE-CUA.Example") == "ada+1@xn--exmple-cua.example"
    assert domain_normal("A.Example") == "a.example"
    for text in ("", "a b", "a" * 151, "a\x7f"):
        with pytest.raises(NotPlain):
            name_normal(text)
    for text in ("a", "a@b", "@b.c", "a@", ".a@b.c", "a..b@b.c", "a@-b.c", "a@b_c.d", "a" * 65 + "@b.c"):
        with pytest.raises(NotPlain):
            address_normal(text)
    assert is_twin("Echo", "echo")
    assert not any(is_twin(*pair) for pair in (("a", "a"), ("a", "b"), ("\u212a", "k"), ("\u017f", "s")))
    unfit = ["\0", "\x1b", "\x7f", "\u0085", "\u009b", "\u200b", "\u202e", "\u2028", "\ud800", "\ufeff"]
    assert [unfit_character(f"a{char}") for char in unfit] == [f"U+{ord(char):04X}" for char in unfit]
    assert unfit_character("J\u00f6rg \u5f20 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") == ""


@pytest.mark.django_db
@pytest.mark.parametrize("cookie", ["sessionid", "csrftoken", "device", "messages"])
@pytest.mark.parametrize("page", ["/sign-in/", "/account/", "/api/v1/tools"])
def test_a_nul_in_a_cookie_is_refused(cookie: str, page: str) -> None:
    header = f'{cookie}="\\000{"a" * 31}"'
    assert Client().get(page, HTTP_COOKIE=header).status_code == 422
