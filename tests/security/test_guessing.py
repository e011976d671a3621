"""Each limit against guessing fires, holds against everybody else's traffic, and locks nobody out.

The database's clock stands still unless a test moves it.
"""

import base64
import hashlib
import hmac
import struct
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from django.db import connection, connections
from django.db.models import DateTimeField, Value
from django.test import Client

from execution.steward import duties
from registry.installations.sources.git_credentials import SCOPE as GIT
from security.guessing import counters
from security.guessing.counters import tries_expire, tries_return, tries_take, tries_wait
from security.guessing.guard import address_of
from security.guessing.limits import LIMITS, PASSWORD_HERE, Limit
from security.models import Secret, Tries, User
from security.oidc.options import Options
from security.second_factor import SealedAdapter
from toolhub.management.commands.docs_write import PAGES

pytestmark = pytest.mark.django_db
PASSWORD, NEW = "correct horse battery", "battery staple horse"
KEY = base64.b32encode(b"12345678901234567890").decode()


class Clock:
    """What the database's clock says to the counters."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> Value:
        return Value(self.now, DateTimeField())

    def on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stands = Clock()
    monkeypatch.setattr(counters, "Now", stands)
    return stands


def sign_in(client: Client, name: str, password: str = "wrong", address: str = "192.0.2.1") -> Any:
    return client.post("/sign-in/", {"login": name, "password": password}, REMOTE_ADDR=address)


def is_in(answer: Any) -> bool:
    return answer.status_code == 302 and answer["Location"] == "/"


def waits(answer: Any) -> int:
    """The seconds that the answer asks for; 0 where the try was looked at."""
    return int(answer["Retry-After"]) if answer.status_code == 429 else 0


def until_it_waits(act: Callable[[int], Any], most: int = 200) -> int:
    """How many tries were looked at before one had to wait."""
    for number in range(most):
        if waits(act(number)):
            return number
    raise AssertionError(f"{most} tries, and none had to wait")


def code_now() -> str:
    """RFC 6238: HMAC-SHA1 over the half minute, six digits."""
    mac = hmac.digest(base64.b32decode(KEY), struct.pack(">Q", int(time.time()) // 30), hashlib.sha1)
    at = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[at : at + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def with_factor(person: User) -> None:
    data = {"secret": SealedAdapter().encrypt(KEY)}
    Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data=data)


def known(name: str) -> Client:
    """A browser in which the person signed in and out again."""
    client = Client()
    assert is_in(sign_in(client, name, PASSWORD, "203.0.113.1"))
    client.post("/sign-out/")
    assert client.cookies["device"]["httponly"]
    return client


# --- each limit of the table, by requests alone ---------------------------------------------------


def _sign_ins(viewer: User, settings: Any) -> int:
    return until_it_waits(lambda _: sign_in(Client(), "viewer", PASSWORD))


def _passwords_here(viewer: User, settings: Any) -> int:
    return until_it_waits(lambda _: sign_in(Client(), "viewer"))


def _passwords_of_an_address(viewer: User, settings: Any) -> int:
    return until_it_waits(lambda number: sign_in(Client(), f"name-{number}"))


def _passwords_of_a_name(viewer: User, settings: Any) -> int:
    return until_it_waits(lambda number: sign_in(Client(), "viewer", address=f"198.51.100.{number}"))


def _passwords_in_a_known_browser(viewer: User, settings: Any) -> int:
    client = known("viewer")
    return until_it_waits(lambda number: sign_in(client, "viewer", address=f"198.51.100.{number}"))


def _half_in(address: str = "192.0.2.1") -> Client:
    client = Client()
    assert sign_in(client, "viewer", PASSWORD, address)["Location"] == "/account/code/"
    return client


def _codes_here(viewer: User, settings: Any) -> int:
    with_factor(viewer)
    client = _half_in()
    return until_it_waits(lambda _: client.post("/account/code/", {"code": "000"}, REMOTE_ADDR="192.0.2.1"))


def _codes_of_a_person(viewer: User, settings: Any) -> int:
    with_factor(viewer)

    def act(number: int) -> Any:
        address = f"198.51.100.{number}"
        return _half_in(address).post("/account/code/", {"code": "000"}, REMOTE_ADDR=address)

    return until_it_waits(act)


def _codes_in_a_known_browser(viewer: User, settings: Any) -> int:
    client = known("viewer")
    with_factor(viewer)  # its cookie ended with the new factor
    sign_in(client, "viewer", PASSWORD)
    assert is_in(client.post("/account/code/", {"code": code_now()}))
    client.post("/sign-out/")
    sign_in(client, "viewer", PASSWORD)
    return until_it_waits(lambda _: client.post("/account/code/", {"code": "000"}))


def _a_code_again(viewer: User, settings: Any) -> int:
    with_factor(viewer)
    code = code_now()
    assert is_in(_half_in().post("/account/code/", {"code": code}))
    again = _half_in("192.0.2.2").post("/account/code/", {"code": code}, REMOTE_ADDR="192.0.2.2")
    assert again.status_code == 200
    assert "does not fit" in again.content.decode()
    return 1


def _invitations(viewer: User, settings: Any) -> int:
    return until_it_waits(lambda number: Client().get(f"/invitation/MQ/abc-{number}/"))


def _requests_to_the_provider(viewer: User, settings: Any) -> int:
    settings.OIDC = Options("http://127.0.0.1:1", "toolhub")
    methods = ("get", "head", "post", "options", "put")
    pages = ("/sign-in/provider/", "/sign-in/provider/done/")
    return until_it_waits(lambda n: getattr(Client(), methods[n % 5])(pages[n % 2]))


def _metrics(viewer: User, settings: Any) -> int:
    settings.METRICS_TOKEN = "right"
    wrong = {"HTTP_AUTHORIZATION": "Bearer wrong", "REMOTE_ADDR": "192.0.2.1"}
    tried = until_it_waits(lambda _: Client().get("/metrics", **wrong))
    right = {"HTTP_AUTHORIZATION": "Bearer right"}
    assert waits(Client().get("/metrics", **right, REMOTE_ADDR="192.0.2.1"))
    assert Client().get("/metrics", **right, REMOTE_ADDR="192.0.2.2").status_code == 200
    return tried


def _tests_of_secrets(viewer: User, settings: Any) -> int:
    secret = Secret.objects.create(scope=GIT, name="https://git.example.org", sealed="x", set_by="admin")
    client = Client()
    client.force_login(User.objects.create_superuser("tests"))
    return until_it_waits(lambda _: client.post(f"/settings/secrets/{secret.pk}/test/"))


FIRED: dict[str, Callable[[User, Any], int]] = {
    "sign_in": _sign_ins,
    "password_here": _passwords_here,
    "password_address": _passwords_of_an_address,
    "password_name": _passwords_of_a_name,
    "password_device": _passwords_in_a_known_browser,
    "code_here": _codes_here,
    "code_person": _codes_of_a_person,
    "code_device": _codes_in_a_known_browser,
    "code_again": _a_code_again,
    "invitation": _invitations,
    "provider": _requests_to_the_provider,
    "metrics": _metrics,
    "secret_test": _tests_of_secrets,
}


def test_every_documented_limit_is_tried() -> None:
    assert list(FIRED) == [limit.name for limit in LIMITS]
    page = PAGES["guessing.md"]()
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == [
        line
        for line in page.splitlines()
        for limit in LIMITS
        if line.startswith(f"| {limit.counts} | {limit.per} |")
    ]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_a_limit_fires_after_its_free_tries(viewer: User, settings: Any, limit: Limit) -> None:
    assert FIRED[limit.name](viewer, settings) == limit.free


# --- nobody is locked out -------------------------------------------------------------------------


def test_wrong_passwords_from_one_address_hold_nobody_at_another(viewer: User) -> None:
    for _ in range(7):
        answer = sign_in(Client(), "viewer")
    assert answer.status_code == 429
    assert "Wait 2 seconds, then try again." in answer.content.decode()
    assert is_in(sign_in(Client(), "viewer", PASSWORD, "192.0.2.2"))


def test_a_known_browser_comes_in_whatever_others_try(viewer: User, clock: Clock) -> None:
    browser = known("viewer")
    for number in range(80):
        sign_in(Client(), "viewer", address=f"198.51.100.{number}")
    for number in range(40):
        clock.on(30)
        sign_in(Client(), "viewer", address=f"100.64.0.{number}")
    # An unknown browser is slowed, never for longer than half a minute.
    sign_in(Client(), "viewer", address="198.51.100.200")
    assert 0 < waits(sign_in(Client(), "viewer", PASSWORD, "192.0.2.7")) <= 30
    clock.on(30)
    assert is_in(sign_in(Client(), "viewer", PASSWORD, "192.0.2.7"))
    # The known one comes in at once, also from the address that guesses.
    assert is_in(sign_in(browser, "viewer", PASSWORD, "198.51.100.1"))


def test_the_wait_grows_ends_and_is_forgotten(viewer: User, clock: Clock) -> None:
    for _ in range(4):
        assert not waits(sign_in(Client(), "viewer"))
    seconds = []
    for _ in range(11):
        assert not waits(sign_in(Client(), "viewer"))
        refused = waits(sign_in(Client(), "viewer", PASSWORD))
        seconds.append(refused)
        clock.on(refused - 1)
        assert waits(sign_in(Client(), "viewer", PASSWORD)) == 1
        clock.on(1)
    assert seconds == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    # The right one is looked at when the wait is over, and makes an end of it.
    assert is_in(sign_in(Client(), "viewer", PASSWORD))
    assert not waits(sign_in(Client(), "viewer"))
    assert not waits(sign_in(Client(), "viewer"))


@pytest.mark.parametrize("end", ["password", "sessions", "factor"])
def test_a_known_browser_is_forgotten_with_the_password_and_the_sessions(viewer: User, end: str) -> None:
    other, here = known("viewer"), Client()
    sign_in(here, "viewer", PASSWORD)
    if end == "password":
        new = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
        assert here.post("/account/password/", new).status_code == 302
    elif end == "sessions":
        here.post("/account/sessions/end/")
    else:
        with_factor(viewer)
    password = NEW if end == "password" else PASSWORD
    for _ in range(5):
        sign_in(Client(), "viewer")
    assert waits(sign_in(other, "viewer", password)) == 2
    if end == "sessions":
        here.post("/sign-out/")
        assert is_in(sign_in(here, "viewer", password))


def test_the_cookie_counts_for_its_person_and_as_it_was_signed(admin: User, viewer: User) -> None:
    browser = known("viewer")
    for name in ("admin", "viewer"):
        for _ in range(5):
            sign_in(Client(), name)
    assert waits(sign_in(browser, "admin", PASSWORD))
    text = browser.cookies["device"].value
    for forged in ("", "x", text[:-1], text.replace(":", "a:", 1), text + "x"):
        browser.cookies["device"] = forged
        assert waits(sign_in(browser, "viewer", PASSWORD)), forged
    # Two people who share a browser are both known in it.
    browser = known("viewer")
    assert is_in(sign_in(browser, "admin", PASSWORD, "203.0.113.1"))
    browser.post("/sign-out/")
    for name in ("viewer", "admin"):
        assert is_in(sign_in(browser, name, PASSWORD))
        browser.post("/sign-out/")


def test_names_of_nobody_wait_as_names_of_somebody_do(viewer: User) -> None:
    answers = []
    for name in ("viewer", "nobody", "VIEWER", "n\u00f6body"):
        address = f"192.0.2.{len(answers) + 1}"
        tries = [sign_in(Client(), name, address=address) for _ in range(6)]
        answers.append([(one.status_code, one.get("Retry-After")) for one in tries])
    assert answers == [answers[0]] * 4


# --- what guards every place where a password or a code is asked for -------------------------------


@pytest.mark.parametrize("place", ["/account/again/", "/account/password/"])
def test_a_password_is_guarded_also_in_a_session(viewer: User, place: str) -> None:
    client = Client()
    client.force_login(viewer)
    wrong = {"password": "wrong", "oldpassword": "wrong", "password1": NEW, "password2": NEW}
    assert until_it_waits(lambda _: client.post(place, wrong)) == PASSWORD_HERE.free
    assert waits(sign_in(Client(), "viewer", PASSWORD, "127.0.0.1"))


def test_a_code_is_guarded_also_in_a_session(viewer: User) -> None:
    with_factor(viewer)
    client = _half_in()
    assert is_in(client.post("/account/code/", {"code": code_now()}, REMOTE_ADDR="192.0.2.1"))
    again = "/account/code/again/"
    assert until_it_waits(lambda _: client.post(again, {"code": "000"})) == 10


# --- the counters ---------------------------------------------------------------------------------


def test_no_other_traffic_evicts_a_counter(viewer: User) -> None:
    for _ in range(5):
        sign_in(Client(), "viewer")
    for number in range(40):
        for name in range(5):
            sign_in(Client(), f"other-{number}-{name}", address=f"203.0.113.{number}")
    assert waits(sign_in(Client(), "viewer", PASSWORD)) == 2
    # And none lies in a cache, which keeps nothing.
    cache.set("a", 1)
    assert cache.get("a") is None


def test_a_refused_try_writes_no_row(viewer: User) -> None:
    until_it_waits(lambda number: sign_in(Client(), f"name-{number}"))
    before = Tries.objects.count()
    for number in range(20):
        assert waits(sign_in(Client(), f"more-{number}"))
    assert Tries.objects.count() == before


def test_rows_hold_no_names_and_go_when_they_hold_nobody(viewer: User, clock: Clock) -> None:
    sign_in(Client(), "viewer")
    assert "viewer" not in str(list(Tries.objects.values()))
    assert "192.0.2" not in str(list(Tries.objects.values()))
    assert tries_expire() == 0
    clock.on(61)
    assert tries_expire() == 3
    clock.on(60 * 60)
    [duty] = [duty for duty in duties() if duty.name == "tries"]
    assert duty.act() == 1
    assert not Tries.objects.exists()


def test_one_subscriber_of_ipv6_is_one_address(rf: Any) -> None:
    def of(address: str) -> str:
        return address_of(rf.get("/", REMOTE_ADDR=address))

    assert of("2001:db8::1") == of("2001:db8::ffff") != of("2001:db8:0:1::1")
    assert of("::ffff:192.0.2.1") == of("192.0.2.1") != of("192.0.2.2")
    assert of("fe80::1%eth0") == of("fe80::2")
    assert of("") == ""


def test_a_try_that_is_given_back_was_not_counted(clock: Clock) -> None:
    pair = [(PASSWORD_HERE, "a")]
    for _ in range(20):
        assert tries_take(pair) == 0
        tries_return(pair)
    for _ in range(5):
        assert tries_take(pair) == 0
    assert tries_wait(pair) == tries_take(pair) == 2
    tries_return(pair, forgive=[PASSWORD_HERE])
    assert not Tries.objects.exists()


@pytest.fixture
def closed_connections() -> Iterator[None]:
    yield
    connections.close_all()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("closed_connections")
def test_tries_at_the_same_time_do_not_pass_together() -> None:
    """As two web machines would: threads with connections of their own."""
    passed, start = [], threading.Barrier(8)

    def act() -> None:
        try:
            start.wait(30)
            passed.extend(tries_take([(PASSWORD_HERE, "a")]) == 0 for _ in range(3))
        finally:
            connection.close()

    threads = [threading.Thread(target=act) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(passed) == 24
    assert sum(passed) == PASSWORD_HERE.free
