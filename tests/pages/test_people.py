"""People: invited, given roles, gone; and what each sees of their own."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest
from core.outbox.models import Delivery
from execution.entry.schedules.services import schedule_create
from execution.models import Schedule
from security.accounts.belongings import belongings_of
from security.accounts.invitations import invitation_mail, invitation_show
from security.accounts.services import (
    person_invite,
    person_leave,
    person_return,
    person_roles_set,
)
from security.accounts.sessions import device_words
from security.models import Persona, Token, User
from security.second_factor import second_factor_remove
from security.services import token_create
from tests.mail import Post, deliver, post
from tests.receiver import closed_port

__all__ = ["closed_port", "post"]
pytestmark = pytest.mark.django_db
PASSWORD = "a lamp beside the window"


def roles_of(name: str) -> list[str]:
    return sorted(User.objects.get(username=name).groups.values_list("name", flat=True))


def test_somebody_is_invited_and_chooses_a_password_once(eyes: Client) -> None:
    answer = eyes.post("/people/invite/", {"username": "bo", "email": "bo@example.org", "roles": ["viewer"]})
    link = re.search(r"https?://[^\s<\"]+(/invitation/[^\s<\"]+)", answer.content.decode())
    assert link, answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    guest = Client()
    page = guest.get(link[1], follow=True)
    assert "Welcome, bo" in page.content.decode()
    here = page.request["PATH_INFO"]
    refused = guest.post(here, {"new_password1": "short", "new_password2": "short"})
    assert "too short" in refused.content.decode()
    done = guest.post(here, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert done["Location"] == "/sign-in/"
    assert guest.login(username="bo", password=PASSWORD)
    assert guest.get("/tools/").status_code == 200
    assert guest.get("/people/").status_code == 404
    assert "used already" in Client().get(link[1], follow=True).content.decode()
    kinds = Event.objects.filter(subject_kind="person").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["person.invited", "person.link_made", "person.password_chosen"]
    assert not any(link[1].split("/")[-2] in event.canonical for event in Event.objects.all())


@pytest.mark.django_db(transaction=True)
def test_with_mail_the_invitation_is_sent_and_its_address_stands_nowhere(eyes: Client, post: Post) -> None:
    fields = {"username": "bo", "email": "bo@example.org", "roles": ["viewer"]}
    assert eyes.post("/people/invite/", fields)["Location"] == "/people/bo/"
    settings_page = eyes.get("/settings/sign-in/").content.decode()
    assert "go out as hub@example.org: the server answers" in settings_page.replace(
        "ToolHub &lt;", ""
    ).replace("&gt;", "")
    assert "is on its way" in eyes.get("/people/bo/").content.decode()
    assert deliver() == 1
    [(to, mail)] = post.got
    assert to == ["bo@example.org"]
    assert (mail["Subject"], mail["From"]) == ("ToolHub: your way in", "ToolHub <hub@example.org>")
    path = re.search(r"http://[^/]+(/invitation/\S+)", str(mail.get_payload()))
    assert path
    assert "was sent" in eyes.get("/people/bo/").content.decode()
    guest = Client()
    here = guest.get(path[1], follow=True).request["PATH_INFO"]
    assert guest.post(here, {"new_password1": PASSWORD, "new_password2": PASSWORD})["Location"] == "/sign-in/"
    assert guest.login(username="bo", password=PASSWORD)
    token = path[1].split("/")[-2]
    assert not any(token in event.canonical for event in Event.objects.all())
    assert Event.objects.filter(kind="person.link_mailed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_mail_is_sent_anew_and_never_to_who_has_left(admin: User, eyes: Client, post: Post) -> None:
    person = person_invite(by=admin, username="bo", email="bo@example.org")
    assert eyes.post("/people/bo/mail/").status_code == 302
    person_leave(by=admin, person=person, successor=None)
    assert deliver() == 1
    assert post.got == []
    assert "was not sent: the person has left" in eyes.get("/people/bo/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_person_hears_of_each_change_of_the_way_they_sign_in(admin: User, viewer: User, post: Post) -> None:
    User.objects.filter(pk=viewer.pk).update(email="viewer@example.org")
    viewer.refresh_from_db()
    invitation_show(by=admin, person=viewer)
    client = signed_in("viewer")
    new = {"password1": PASSWORD, "password2": PASSWORD}
    client.post("/account/password/", {"oldpassword": "correct horse battery", **new})
    Authenticator.objects.create(user=viewer, type="totp", data={"secret": "x"})
    second_factor_remove(by=admin, person=viewer)
    deliver()
    assert {to for [to], _ in post.got} == {"viewer@example.org"}
    texts = [str(mail.get_payload()) for _, mail in post.got]
    for part in (
        "admin made an address at which your password can be chosen anew",
        "viewer, your password was changed",
        "a second factor was added",
        "admin took the second factor of your account away",
    ):
        assert sum(part in text for text in texts) == 1, part
    assert all("/account/" in text and PASSWORD not in text for text in texts)
    assert Event.objects.filter(kind="person.password_changed").count() == 1


def test_a_mail_server_that_is_away_is_told(eyes: Client, settings: Any, closed_port: int) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.MAIL_FROM, settings.EMAIL_HOST, settings.EMAIL_PORT = "hub@example.org", "127.0.0.1", closed_port
    assert "the server does not take mail" in eyes.get("/settings/sign-in/").content.decode()


def test_without_mail_or_an_address_nothing_is_owed(admin: User, settings: Any) -> None:
    person = person_invite(by=admin, username="bo")
    for sender, why in (("", "sends no mail"), ("hub@example.org", "has no e-mail address")):
        settings.MAIL_FROM = sender
        with pytest.raises(Conflict, match=why):
            invitation_mail(by=admin, person=person)
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"username": "bad name"}, "username"),
        ({"username": "invite"}, "username"),
        ({"username": "admin"}, "username"),
        ({"username": "bo", "email": "nowhere"}, "email"),
        ({"username": "bo", "roles": ["emperor"]}, "roles"),
    ],
)
def test_a_bad_invitation_is_told_at_the_field(eyes: Client, fields: dict[str, Any], field: str) -> None:
    answer = eyes.post("/people/invite/", fields)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert User.objects.count() == 1


def test_roles_hold_at_once_and_are_on_record(eyes: Client, viewer: User) -> None:
    assert eyes.post("/people/viewer/", {"roles": ["approver", "operator"]}).status_code == 302
    assert roles_of("viewer") == ["approver", "operator"]
    assert User.objects.get(pk=viewer.pk).has_perm("execution.approve_run")
    eyes.post("/people/viewer/", {"roles": []})
    assert roles_of("viewer") == []
    assert Event.objects.filter(kind="person.roles_set").count() == 2


def test_other_groups_stay(admin: User, viewer: User) -> None:
    viewer.groups.add(Group.objects.create(name="our own"))
    person_roles_set(by=admin, person=viewer, roles=["viewer"])
    assert roles_of("viewer") == ["our own", "viewer"]


def test_who_has_a_role_does_not_reach_those_above(admin: User, viewer: User) -> None:
    viewer.groups.add(Group.objects.get(name="admin"))
    boss = User.objects.get(pk=viewer.pk)
    for act in (
        lambda: invitation_show(by=boss, person=admin),
        lambda: person_leave(by=boss, person=admin, successor=None),
        lambda: person_roles_set(by=boss, person=admin, roles=[]),
    ):
        with pytest.raises(Denied):
            act()
    with pytest.raises(Denied):
        person_invite(by=User.objects.create_user("cy"), username="dee")


def test_the_last_who_may_change_people_stays(admin: User) -> None:
    with pytest.raises(Conflict, match="the last who may change people"):
        person_leave(by=admin, person=admin, successor=None)
    other = person_invite(by=admin, username="bo", roles=["admin"])
    person_leave(by=User.objects.get(pk=admin.pk), person=other, successor=None)
    assert User.objects.get(pk=admin.pk).is_active


@pytest.fixture
def theirs(admin: User, viewer: User, persona: Persona, assign: Callable[[str], None]) -> User:
    """viewer answers for a token and a schedule."""
    assign("echo")
    boss = User.objects.get(pk=viewer.pk)
    boss.groups.add(Group.objects.get(name="admin"))
    boss = User.objects.get(pk=viewer.pk)
    token_create(by=boss, persona=persona, name="their agent")
    wishes = {"tool": "echo", "arguments": {"text": "a"}, "cron": "0 9 * * *", "time_zone": "UTC"}
    schedule_create(by=boss, name="Daily", persona=persona, **wishes)
    return boss


def test_who_leaves_hands_over(theirs: User, admin: User, eyes: Client) -> None:
    body = eyes.get("/people/viewer/leave/").content.decode()
    assert "researcher: their agent" in body
    assert "Daily (echo)" in body
    assert eyes.post("/people/viewer/leave/", {"successor": "admin"}).status_code == 302
    assert not User.objects.get(pk=theirs.pk).is_active
    assert Token.objects.get().responsible == admin
    assert Token.objects.get().state == "valid"
    schedule = Schedule.objects.get()
    assert (schedule.responsible, schedule.enabled) == (admin, True)
    assert belongings_of(theirs, theirs) == {}


def test_what_nobody_takes_is_stopped(theirs: User, eyes: Client) -> None:
    their = Client()
    their.force_login(theirs)
    assert eyes.post("/people/viewer/leave/", {"successor": ""}).status_code == 302
    assert Token.objects.get().state == "revoked"
    assert not Schedule.objects.get().enabled
    assert their.get("/account/")["Location"].startswith("/sign-in/")
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"person.left", "token.revoked", "schedule.switched_off"} <= kinds
    # Who reads that a person left need not see the persona: its name stands in the token's event alone.
    assert "researcher" not in Event.objects.get(kind="person.left").canonical


def test_a_successor_has_to_be_there(theirs: User, admin: User, eyes: Client) -> None:
    for name in ("nobody", "viewer"):
        answer = eyes.post("/people/viewer/leave/", {"successor": name})
        assert answer.status_code == 422
        assert list(answer.context["form"].errors) == ["successor"]
    gone = User.objects.create_user("gone", is_active=False)
    with pytest.raises(InvalidRequest):
        person_leave(by=admin, person=theirs, successor=gone)
    assert User.objects.get(pk=theirs.pk).is_active


def test_who_comes_back_has_nothing_of_what_was_stopped(theirs: User, admin: User, eyes: Client) -> None:
    person_leave(by=admin, person=theirs, successor=None)
    with pytest.raises(Conflict):
        person_leave(by=admin, person=theirs, successor=None)
    with pytest.raises(Conflict):
        invitation_show(by=admin, person=User.objects.get(pk=theirs.pk))
    assert eyes.post("/people/viewer/return/").status_code == 302
    person_return(by=admin, person=theirs)
    assert User.objects.get(pk=theirs.pk).is_active
    assert Token.objects.get().state == "revoked"
    assert Event.objects.filter(kind="person.returned").count() == 1


def test_a_role_brings_nobody_back_who_stands_above_all_roles(theirs: User, admin: User) -> None:
    theirs.groups.set(Group.objects.filter(name="admin"))
    above = User.objects.create_superuser("above", is_active=False)
    with pytest.raises(Denied):
        person_return(by=User.objects.get(pk=theirs.pk), person=above)
    assert not User.objects.get(pk=above.pk).is_active
    person_return(by=admin, person=above)
    assert User.objects.get(pk=above.pk).is_active


def test_everybody_sees_and_revokes_their_own_tokens(theirs: User, admin: User, persona: Persona) -> None:
    token_create(by=admin, persona=persona, name="somebody else's")
    theirs.groups.clear()
    client = Client()
    client.force_login(User.objects.get(pk=theirs.pk))
    body = client.get("/account/").content.decode()
    assert "their agent" in body
    assert "somebody else" not in body
    mine, other = Token.objects.get(name="their agent"), Token.objects.get(responsible=admin)
    assert client.post(f"/account/tokens/{other.pk}/revoke/").status_code == 404
    assert client.post(f"/account/tokens/{mine.pk}/revoke/")["Location"] == "/account/"
    assert Token.objects.get(pk=mine.pk).state == "revoked"


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


def signed_in(name: str, agent: str = FIREFOX) -> Client:
    client = Client(HTTP_USER_AGENT=agent)
    answer = client.post("/sign-in/", {"login": name, "password": "correct horse battery"})
    assert answer.status_code == 302, answer.content
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_everybody_sees_and_ends_their_own_sessions(admin: User, viewer: User) -> None:
    first, second, third, other = (
        signed_in("admin"),
        signed_in("admin", "curl/8"),
        Client(),
        signed_in("viewer"),
    )
    third.force_login(admin)  # A session that no list knows is ended, too.
    body = first.get("/account/").content.decode()
    for words in ("Firefox on Linux", "curl/8", "this one", "End all others"):
        assert words in body
    row = re.search(r"/account/sessions/(\d+)/end/", body)
    assert row
    assert other.post(row[0]).status_code == 404
    assert is_in(second)
    assert first.post(row[0])["Location"] == "/account/"
    assert (is_in(first), is_in(second)) == (True, False)
    second = signed_in("admin")
    assert first.post("/account/sessions/end/")["Location"] == "/account/"
    assert [is_in(client) for client in (first, second, third, other)] == [True, False, False, True]
    assert "End all others" not in first.get("/account/").content.decode()
    assert Event.objects.filter(kind="person.sessions_ended").count() == 2


def test_another_password_ends_the_other_sessions(viewer: User) -> None:
    first, second = signed_in("viewer"), signed_in("viewer")
    new = {"password1": PASSWORD, "password2": PASSWORD}
    first.post("/account/password/", {"oldpassword": "correct horse battery", **new})
    assert (is_in(first), is_in(second)) == (True, False)


def test_the_last_use_of_a_session_is_noted_now_and_then(admin: User) -> None:
    client = signed_in("admin")
    then = timezone.now() - timedelta(hours=1)
    rows = UserSession.objects.filter(user=admin)
    rows.update(last_seen_at=then)
    client.get("/account/")
    assert rows.get().last_seen_at == then
    session = client.session
    session["seen"] -= 301
    session.save()
    client.get("/account/", REMOTE_ADDR="192.0.2.7")
    assert rows.get().last_seen_at > then
    assert rows.get().ip == "192.0.2.7"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/140.0 Safari/537.36", "Chrome on macOS"),
        ("curl/8.5", "curl/8.5"),
        ("", "Unknown browser"),
    ],
)
def test_a_device_is_named_as_people_know_it(agent: str, words: str) -> None:
    assert device_words(agent) == words


def test_people_are_for_who_may_see_them(viewer: User, eyes_with: Callable[..., Client]) -> None:
    eyes = eyes_with("security.view_user")
    assert "viewer" in eyes.get("/people/?q=view").content.decode()
    assert eyes.get("/people/viewer/").status_code == 200
    for page in (
        "/people/invite/",
        "/people/viewer/link/",
        "/people/viewer/leave/",
        "/people/viewer/return/",
    ):
        assert eyes.get(page).status_code == 404
    assert eyes.post("/people/viewer/", {"roles": ["admin"]}).status_code in {404, 422}
    assert roles_of("viewer") == []
    assert eyes_with().get("/people/").status_code == 404
