"""What a team keeps to itself looks as if it did not exist: answer by answer, and marker by marker.

Two harnesses walk every route as somebody outside the team, a person and their agent:
- the answer about a hidden object equals the answer about a name or number that nobody has;
- no answer holds a marker that was planted in every text of the team's objects.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from typing import Any
from uuid import UUID

import orjson
import pytest
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, models, transaction
from django.db.models import Value
from django.db.models.functions import Concat, Left
from django.forms import BaseForm
from django.http import HttpResponse

from core.fields import CanonicalJSONField
from registry.installations.models import Installation
from registry.models import Tool
from tests.web.world import Route, World, routes

pytestmark = pytest.mark.django_db
OUTSIDE = "other-team"


@pytest.fixture
def kept(world: World) -> Iterator[World]:
    """The world in which the team has what it keeps; whatever happens in it is undone."""
    with transaction.atomic():
        world.keep(OUTSIDE)
        yield world
        transaction.set_rollback(True)


@dataclass(frozen=True)
class Answer:
    """What somebody gets, without what differs from request to request."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...]


# Parameters that choose among words which everybody knows: they name no object.
WORDS = {"kind", "level", "holder", "field", "scope", "rest"}
# Addresses of what no team can keep.
OF_ALL = (
    "account/", "people/", "teams/", "invitation/", "settings/", "policy/tiers/", "policy/flags/",
    "policy/capabilities/", "api/v1/tiers/", "api/v1/flags/", "api/v1/capabilities/", "api/v1/output-patterns/",
    "api/docs/",
)  # fmt: skip
_PASSING = re.compile(r'"request_id": ?"[^"]*"|request <code>[^<]*|<input type="hidden"[^>]*>|nonce="[^"]*"')
SHOWN = ("Content-Type", "Retry-After", "Allow", "WWW-Authenticate", "ETag")


def absent(value: Any) -> Any:
    """A value of the same form that nothing in the world has."""
    if isinstance(value, UUID):
        return UUID(int=value.int ^ (0xFFFF << 40))
    return value + 7_000_000 if isinstance(value, int) else f"{value[:-2]}zq"


def answer(response: HttpResponse, values: dict[str, Any]) -> Answer:
    """The answer with each value replaced by its parameter: hidden and absent ones become the same word."""
    text = unescape(b"" if response.streaming else response.content.decode("utf-8", "replace"))
    _, found, main = text.partition("<main")
    text = main if found else text
    for name, value in values.items():
        exact = re.escape(str(value))
        text = re.sub(
            rf"(?<=/){exact}(?=/)" if isinstance(value, int) else rf"\b{exact}\b", f"<{name}>", text
        )
    headers = tuple((name, response[name]) for name in SHOWN if name in response)
    return Answer(response.status_code, _PASSING.sub("", text), headers)


def send(world: World, method: str, route: Route, address: str, body: dict[str, Any]) -> HttpResponse:
    """The answer to somebody outside, or to their agent where tokens open the address; its effects are undone."""
    headers = headers_of(world, route)
    sent: dict[str, Any] = {}
    if method != "get":
        sent = {"data": orjson.dumps(body), "content_type": "application/json"} if headers else {"data": body}
    with transaction.atomic():
        response: HttpResponse = getattr(world.client(OUTSIDE), method)(address, **sent, **headers)
        transaction.set_rollback(True)
    return response


def headers_of(world: World, route: Route) -> dict[str, str]:
    is_api = route.pattern.startswith(("api/v1/", "mcp"))
    return {"HTTP_AUTHORIZATION": f"Bearer {world.tokens[OUTSIDE]}"} if is_api else {}


def difference(where: str, hidden: Answer, missing: Answer) -> str:
    """Where two answers part, in a line."""
    if (hidden.status, hidden.headers) != (missing.status, missing.headers):
        return f"{where}: {hidden.status} {hidden.headers}, missing {missing.status} {missing.headers}"
    both = enumerate(zip(hidden.text, missing.text, strict=False))
    at = next((n for n, (one, other) in both if one != other), min(len(hidden.text), len(missing.text)))
    part = slice(max(0, at - 60), at + 80)
    return f"{where}: {hidden.text[part]!r}, missing {missing.text[part]!r}"


def test_a_hidden_object_answers_like_one_that_does_not_exist(kept: World) -> None:
    """By each method of each route. What an outsider may act on is not hidden: `routes.txt` says what that is."""
    told, asked = [], 0
    for route in routes():
        names = [name for name in route.parameters if name not in WORDS]
        if not names or "(?P<" in route.pattern or route.pattern.startswith(OF_ALL):
            continue
        own = {name: kept.value(route, name) for name in names}
        none = {name: absent(value) for name, value in own.items()}
        for method in route.methods:
            hidden = send(kept, method, route, kept.address(route), kept.body(route))
            if hidden.status_code < 400 or hidden.status_code == 405:
                continue
            missing = send(kept, method, route, kept.address(route, none), kept.body(route))
            asked += 1
            first, second = answer(hidden, own), answer(missing, none)
            if first != second:
                told.append(difference(f"{method.upper()} {route.name}", first, second))
    assert asked > 100
    assert not told, "\n".join(told)


# Form fields and members of bodies that name an object, with one that the team keeps.
NAMED = {
    "persona": "researcher",
    "tool": "fx_context",
    "tools": "fx_context",
    "package": "keeper",
    "collection": "toolbox",
}


# What else a form needs to be judged.
FILLED = {"schedule_new": {"name": "Daily", "cron": "0 9 * * *", "time_zone": "UTC", "arguments": "{}"}}


def named_fields(world: World) -> Iterator[tuple[Route, str, dict[str, Any], str]]:
    """Each form that somebody outside can send, and each body of the API, with each field that names an object."""
    described = orjson.loads((settings.ROOT / "toolhub" / "openapi.json").read_bytes())["paths"]
    for route in routes():
        if route.pattern.startswith("api/v1/"):
            path = re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route.pattern}").replace("{pk}", "{id}")
            for method in {"post", "put", "patch"} & described.get(path, {}).keys():
                content = described[path][method].get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema", {})
                for name in NAMED.keys() & schema.get("properties", {}).keys():
                    yield route, method, world.body(route), name
        elif not route.parameters and {"get", "post"} <= set(route.methods):
            page = send(world, "get", route, world.address(route), {})
            form = (page.context or {}).get("form") if page.status_code == 200 else None
            if isinstance(form, BaseForm):
                filled = {name: field.initial or "1" for name, field in form.fields.items()}
                for name in NAMED.keys() & form.fields.keys():
                    yield route, "post", {**filled, **world.body(route), **FILLED.get(route.name, {})}, name


def test_a_hidden_name_in_a_form_answers_like_one_that_does_not_exist(kept: World) -> None:
    """The other fields, and the address, name what an outsider may use."""
    told, asked = [], 0
    for route, method, filled, name in list(named_fields(kept)):
        own = {"name": "outsider"} if route.pattern.startswith("api/v1/personas/<") else {}
        beside = {"persona": "outsider"} if "persona" in filled else {}
        answers = []
        for value in (NAMED[name], absent(NAMED[name])):
            wanted: Any = [value] if name == "tools" and route.pattern.startswith("api/") else value
            body = {**filled, **beside, name: wanted}
            answers.append(answer(send(kept, method, route, kept.address(route, own), body), {name: value}))
        asked += 1
        if answers[0] != answers[1]:
            told.append(difference(f"{method.upper()} {route.name}, {name}", *answers))
    assert asked > 8
    assert not told, "\n".join(told)


def named_filters() -> Iterator[tuple[Route, str]]:
    """Each list and page that is narrowed by the name of an object."""
    described = orjson.loads((settings.ROOT / "toolhub" / "openapi.json").read_bytes())["paths"]
    for route in routes():
        if route.parameters or "get" not in route.methods:
            continue
        parameters = described.get(f"/{route.pattern}", {}).get("get", {}).get("parameters", ())
        names = {one["name"] for one in parameters if one["in"] == "query"}
        names |= {*getattr(route.view, "filters", ()), *getattr(route.view, "linked", ())}
        names |= {"persona", "tool"} if route.name == "simulator" else set()
        names |= {"q"} if route.name == "search" else set()
        yield from ((route, name) for name in sorted(names & {*NAMED, "q"}))


def test_a_hidden_name_in_a_filter_answers_like_one_that_does_not_exist(kept: World) -> None:
    told, asked = [], 0
    for route, name in named_filters():
        address, beside = kept.address(route), "&persona=outsider" if name == "tool" else ""
        named = NAMED.get(name, NAMED["tool"])
        answers = [
            answer(send(kept, "get", route, f"{address}?{name}={value}{beside}", {}), {name: value})
            for value in (named, absent(named))
        ]
        asked += 1
        if answers[0] != answers[1]:
            told.append(difference(f"GET {route.name}?{name}", *answers))
    assert asked > 8
    assert not told, "\n".join(told)


MARK = "mark-5d1e"
# Names of the team's objects are markers, too.
NAMES = ("researcher", "fx_context", "fx_echo", "keeper", "toolbox")
# These show examples of the API, the same to everybody, with such names.
EXAMPLES = {"openapi", "api_docs", "api_operation"}
# The crawl ends after this many addresses: lists link to each other without end.
VISITED = 300
NOT_FOLLOWED = ("/static/", "/api/docs/", "/api/openapi.json", "/sign-out")
# Models whose rows a team keeps, directly or through what they belong to.
KEPT = {
    "registry.Package", "registry.Release", "registry.Tool", "registry.Assignment",
    "collections.Collection", "installations.Installation", "installations.LogLine",
    "security.Persona", "security.Token", "security.Grant", "policy.Restriction",
    "execution.Run", "execution.Approval", "execution.Schedule", "execution.Event",
    "artefacts.Artefact", "memory.Session", "memory.Item", "memory.Webhook",
}  # fmt: skip
# Text that is no free text: it is compared, or addresses something.
EXACT = {
    "digest", "lock", "canonical", "queue", "prefix", "hash", "sealed", "sealed_location", "version", "name", "tool",
    "lease_boot", "runner", "kind", "source_type", "status", "step", "scope", "key", "session", "loop", "cron",
    "time_zone", "expected_digest", "expression", "capability", "package",
}  # fmt: skip


def plant() -> set[str]:
    """Writes the marker into every free text of what the team keeps; returns the models that took it."""
    planted = set()
    for model in apps.get_models():
        if model._meta.label not in KEPT:
            continue
        columns = {field.name for field in model._meta.concrete_fields}
        rows = model._default_manager.all()
        if model._meta.label == "security.Persona":
            rows = rows.exclude(name="outsider")
        elif "persona" in columns:
            rows = rows.exclude(persona__name="outsider")
        for field in model._meta.concrete_fields:
            if not is_free_text(field):
                continue
            room = (field.max_length or 10_000) - len(MARK)
            # A trigger keeps the outcome of a run.
            with suppress(DatabaseError), transaction.atomic():
                rows.update(**{field.name: Concat(Value(MARK), Left(field.name, room))})
            if rows.filter(**{f"{field.name}__startswith": MARK}).exists():
                planted.add(model._meta.label)
    Installation.objects.update(report={"title": MARK, "description": MARK}, error={"message": MARK})
    Tool.objects.update(overlay={"notes": MARK, "documentation": MARK, "tags": [MARK]})
    return planted


def is_free_text(field: Any) -> bool:
    text = isinstance(field, models.CharField | models.TextField) and not isinstance(
        field, CanonicalJSONField
    )
    exact = field.choices or field.unique or field.name in EXACT
    return text and not exact and (field.max_length or 99) >= 40


def test_no_marker_of_the_teams_texts_is_found_outside(kept: World) -> None:
    """Every route, and every link on the pages, followed as somebody outside and as their agent."""
    planted = plant()
    assert len(planted) > 8, planted
    waiting = [
        (kept.address(route) + query, headers_of(kept, route))
        for route in routes()
        for query in ("", *(["?q=e"] if "q" in getattr(route.view, "filters", ()) else []))
        if "get" in route.methods and route.name not in EXAMPLES
    ]
    seen, found, client = set[str](), list[tuple[str, str]](), kept.client(OUTSIDE)
    while waiting and len(seen) < VISITED:
        address, headers = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        response = client.get(address, **headers)
        text = b"".join(response.streaming_content) if response.streaming else response.content
        words = (MARK, *NAMES) if response.status_code == 200 else (MARK,)
        found += [(address, word) for word in words if word.encode() in text]
        if not headers and response.status_code == 200:
            links = re.findall(r'(?:href|hx-get)="(/[^"#]*)"', text.decode("utf-8", "replace"))
            waiting += [(unescape(link), {}) for link in links if not link.startswith(NOT_FOLLOWED)]
    assert not found, found
    assert len(seen) > 120


def test_an_admin_finds_the_markers(kept: World) -> None:
    """The crawl above can fail: the same pages show the markers to somebody who reaches everything."""
    plant()
    browser, shown = kept.client("admin"), {MARK: set[str](), "researcher": set[str]()}
    for route in routes():
        if "get" in route.methods and not route.pattern.startswith(("api/", "mcp")):
            response = browser.get(kept.address(route))
            text = b"" if response.streaming else response.content
            for word, pages in shown.items():
                pages |= {route.name} if word.encode() in text else set()
    assert len(shown[MARK]) > 15
    listed = {"personas", "runs", "events", "policy", "limits", "sessions", "schedules", "overview"}
    assert listed <= shown["researcher"]
