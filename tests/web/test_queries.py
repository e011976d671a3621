"""Each route's query: what is unknown or cannot be is refused by the API, and ignored with a notice by pages."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from core.keyset import cursor_make
from core.lists import ListView
from core.query import _declared
from tests.web.world import Route, World, routes

pytestmark = pytest.mark.django_db
UNKNOWN = ("foo=1", "limit=abc", "limit=-1", "limit=0", "limit=99999", "Limit=1")
# Routes of the API whose answers are no JSON of the API: files and streams are asked like the others.
AGENTS = ("agent", "owner")
# They act on what their address names, and read no body.
BODILESS: frozenset[str] = frozenset()


def views() -> Mapping[str, Any]:
    """The view class of each route, by its name."""
    return dict(_views(get_resolver()))


def _views(at: URLResolver) -> Iterator[tuple[str, Any]]:
    for one in at.url_patterns:
        if isinstance(one, URLResolver):
            yield from _views(one)
        elif isinstance(one, URLPattern):
            callback: Any = one.callback
            yield (
                one.name or str(one.pattern),
                getattr(callback, "view_class", getattr(callback, "cls", None)),
            )


def api_lists() -> Iterator[tuple[Route, Any]]:
    found = views()
    for route in routes():
        view = found.get(route.name)
        is_api = route.pattern.startswith("api/v1/") and "get" in route.methods
        if is_api and view is not None and hasattr(view.get, "kwargs"):
            yield route, view


def declared_of(view: Any) -> Mapping[str, Any]:
    return _declared(view.get, view)


def wrong_values(name: str, parameter: Any) -> list[str]:
    if name == "after" and parameter.type is str:
        return ["zzz", "1", "0", cursor_make("another.list", "1"), "é", "a" * 2_000]
    if parameter.enum:
        return ["zzz"]
    if parameter.type is int:
        return ["abc", "-1", "1.5", "9" * 30]
    return ["perhaps"] if parameter.type is bool else []


def ask(world: World, route: Route, query: str) -> Any:
    """The answer to the first agent that may ask."""
    address = world.address(route)
    answer = None
    for role in AGENTS:
        token = world.tokens[role]
        more = f"{'&' if '?' in address else '?'}{query}" if query else ""
        answer = Client().get(address + more, HTTP_AUTHORIZATION=f"Bearer {token}")
        if answer.status_code in (200, 422):
            return answer
    return answer


def test_the_api_refuses_queries_that_it_does_not_know(world: World, subtests: Any) -> None:
    asked = 0
    for route, view in api_lists():
        known = declared_of(view)
        required = "&".join(f"{name}=1.0.0" for name, one in known.items() if one.required)
        if ask(world, route, required).status_code != 200:
            continue
        wrong = [f"{name}={value}" for name, one in known.items() for value in wrong_values(name, one)]
        wrong += [f"{name}=a&{name}=b" for name, one in known.items() if not one.many and one.type is str]
        with subtests.test(route.name):
            for query in (*UNKNOWN, *wrong):
                answer = ask(world, route, query)
                assert answer.status_code == 422, (query, answer.content)
                body = answer.json()
                name = query.partition("=")[0]
                assert body["errors"], (query, body)
                if name not in known:
                    assert body["errors"][0]["pointer"] == f"/{name}"
                    assert all(one in body["errors"][0]["message"] for one in known), body
                asked += 1
    assert asked > 150


def test_the_api_reads_no_parameter_that_it_does_not_describe(
    world: World, monkeypatch: pytest.MonkeyPatch, subtests: Any
) -> None:
    read: set[str] = set()
    for name in ("get", "getlist", "__getitem__", "__contains__"):
        inner = getattr(QueryDict, name)

        def spy(self: QueryDict, key: str, *rest: Any, inner: Any = inner) -> Any:
            read.add(key)
            return inner(self, key, *rest)

        monkeypatch.setattr(QueryDict, name, spy)
    for route, view in api_lists():
        with subtests.test(route.name):
            read.clear()
            ask(world, route, "")
            assert read <= {*declared_of(view), "csrfmiddlewaretoken", "_method"}, route.name


def test_pages_say_which_part_of_a_query_they_ignore(world: World, subtests: Any) -> None:
    found = {name: view for name, view in views().items() if view and issubclass(view, ListView)}
    assert len(found) > 14
    client = world.client("admin")
    for route in routes():
        view = found.get(route.name)
        if view is None:
            continue
        wrong = ["foo=1", "status_=x", "sort=zzz"]
        wrong += [f"{name}=zzz" for name in view.choices]
        wrong += ["since=soon", "since=-1", "since=99999"] if "since" in (*view.filters, *view.linked) else []
        wrong += ["after=zzz", "before=zzz"] if view.key == "pk" else []
        with subtests.test(route.name):
            address = world.address(route)
            for query in wrong:
                answer = client.get(f"{address}?{query}&q=")
                name, _, value = query.partition("=")
                text = answer.content.decode()
                assert answer.status_code == 200
                assert "was ignored" in text, query
                assert value in text or name in text
                assert f"{name}={value}" not in text, (query, "goes on in links")
            assert "was ignored" not in client.get(address).content.decode()


def test_the_api_refuses_bodies_with_members_that_it_does_not_know(world: World, subtests: Any) -> None:
    asked = 0
    for route in routes():
        if not route.pattern.startswith("api/v1/") or "(?P<" in route.pattern:
            continue
        for method in {"post", "put", "patch"} & set(route.methods):
            body = {**world.body(route), "zzz_unknown": 1}
            with subtests.test(f"{method} {route.name}"), transaction.atomic():
                for role in AGENTS:
                    answer = getattr(Client(), method)(
                        world.address(route),
                        json.dumps(body),
                        content_type="application/json",
                        HTTP_AUTHORIZATION=f"Bearer {world.tokens[role]}",
                    )
                    assert answer.status_code >= 400 or route.name in BODILESS, (role, answer.content)
                    asked += answer.status_code == 422
                transaction.set_rollback(True)
    assert asked > 30
