"""The pages on which a token is listed or ended say who made it, and what ends with it."""

import re

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from security.models import Persona, Token, User
from security.services import persona_create, persona_switch, token_create
from security.sharing.services import team_set
from security.sharing.teams import team_create
from security.tokens import token_digest


@pytest.fixture
def manager(admin: User) -> Persona:
    return persona_create(by=admin, name="manager", title="Makes others")


@pytest.fixture
def maker(admin: User, manager: Persona) -> Token:
    return token_create(by=admin, persona=manager, name="nightly")[0]


@pytest.fixture
def made(admin: User, persona: Persona, maker: Token) -> Token:
    return _made(persona, maker, "CI")


def _made(persona: Persona, maker: Token, name: str) -> Token:
    return Token.objects.create(
        persona=persona, responsible=maker.responsible, name=name, prefix=f"thp_{name}",
        digest=token_digest(name), expires_at=maker.expires_at, made_with=maker,
    )  # fmt: skip


def _tokens(eyes: Client, name: str) -> str:
    """The words of the card of tokens on a persona's page."""
    page = eyes.get(f"/personas/{name}/").content.decode()
    card = page[page.index('aria-labelledby="tokens"') :]
    return " ".join(re.sub(r"<[^>]*>", " ", card[: card.index("</ul>")]).split())


def test_who_made_a_token_and_what_ends_with_it_is_told(
    eyes: Client, persona: Persona, maker: Token, made: Token
) -> None:
    _made(persona, made, "far")
    ends = "What agents made with it ends, too: researcher: CI (thp_CI…) researcher: far (thp_far…)"
    assert ends in _tokens(eyes, "manager")
    told = _tokens(eyes, "researcher")
    assert f"Made by an agent of manager and ends with its token {maker.prefix}…" in told
    assert "ends, too: researcher: far (thp_far…)" in told


def test_what_was_revoked_or_has_expired_ends_with_nothing(
    eyes: Client, persona: Persona, maker: Token, made: Token
) -> None:
    _made(persona, maker, "over")
    Token.objects.filter(name="over").update(expires_at=timezone.now())
    Token.objects.filter(pk=made.pk).update(revoked_at=timezone.now())
    assert "ends, too" not in _tokens(eyes, "manager")
    assert "ends with its token" not in _tokens(eyes, "researcher")


def test_many_are_counted(eyes: Client, persona: Persona, maker: Token) -> None:
    for number in range(8):
        _made(persona, maker, f"n{number}")
    assert _tokens(eyes, "manager").count("researcher: n") == 5
    assert " 3 more" in _tokens(eyes, "manager")


def test_a_token_whose_maker_is_off_is_ended_until_that_is_on(
    eyes: Client, admin: User, manager: Persona, made: Token
) -> None:
    persona_switch(by=admin, persona=manager, on=False)
    assert "thp_CI… ended" in _tokens(eyes, "researcher")
    assert "of manager with a token that may not call any more, thp_" in _tokens(eyes, "researcher")
    page = eyes.get("/personas/researcher/").content.decode()
    assert f"/tokens/{made.pk}/rotate/" not in page
    assert f"/tokens/{made.pk}/revoke/" in page
    persona_switch(by=admin, persona=manager, on=True)
    assert "thp_CI… valid" in _tokens(eyes, "researcher")


def test_questions_name_what_ends_with_it(eyes: Client, maker: Token, made: Token) -> None:
    said = "made with it ends, too: researcher: CI (thp_CI…)."
    assert said in eyes.get(f"/personas/manager/tokens/{maker.pk}/revoke/").content.decode()
    assert said in eyes.get(f"/account/tokens/{maker.pk}/revoke/").content.decode()
    assert "ends, too" not in eyes.get(f"/personas/researcher/tokens/{made.pk}/revoke/").content.decode()
    said = "So are calls with what its agents made: researcher: CI (thp_CI…)."
    assert said in eyes.get("/personas/manager/switch/").content.decode()


def test_a_persona_that_a_team_keeps_is_not_named(
    admin: User, persona: Persona, manager: Persona, maker: Token, made: Token
) -> None:
    team_set(by=admin, thing=manager, team=team_create(by=admin, name="others"))
    person = User.objects.create_user("kim")
    person.groups.add(Group.objects.get(name="operator"))
    eyes = Client()
    eyes.force_login(person)
    assert f"Made by an agent and ends with its token {maker.prefix}…" in _tokens(eyes, "researcher")
    assert "manager" not in _tokens(eyes, "researcher")


def test_it_takes_one_query(
    eyes: Client, persona: Persona, manager: Persona, maker: Token, made: Token
) -> None:
    def asked(name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            eyes.get(f"/personas/{name}/")
        return len(captured)

    asked("manager")
    before = asked("manager")
    for number in range(8):
        _made(persona, made, f"n{number}")
    assert asked("manager") == before
