"""A package whose secrets can be tested at a real server on this machine."""

from collections.abc import Iterator
from typing import Any

import pytest

from core.actors import SYSTEM
from registry.config.services import config_change
from registry.models import Package
from registry.releases.draft import release_draft
from registry.releases.publish import draft_publish
from security.models import User
from tests.receiver import Receiver, receiving

KEY = "sk-swordfish-0123456789"


@pytest.fixture
def server(settings: Any) -> Iterator[Receiver]:
    for one in receiving():
        settings.HTTP_ALLOW = [f"127.0.0.1:{one.port}"]
        yield one


def weather_package(port: int, **more: Any) -> Package:
    """Publish it: a server can test two secrets, one in a header and one in the query. `more` replaces members."""
    names = {"api_key": {}, "account": {}, "unused": {"pattern": "^u-"}}
    properties = {name: {"type": "string", "secret": True, **about} for name, about in names.items()}
    manifest = {
        "manifestVersion": "1",
        "name": "weather",
        "version": "1.0.0",
        "description": "The weather.",
        "runtime": {"type": "http", "entry": f"http://127.0.0.1:{port}/v1"},
        "config": {
            "type": "object",
            "properties": {**properties, "unit": {"type": "string", "default": "C"}},
            "required": ["api_key"],
        },
        "configCheck": {
            "url": f"http://127.0.0.1:{port}/v1/me",
            "headers": {"Authorization": "Bearer {api_key}", "X-Unit": "{unit}"},
            "query": {"account": "{account}"},
        },
        "tools": [
            {
                "name": "forecast",
                "description": "Tells what the weather will be.",
                "inputSchema": {"type": "object", "properties": {}},
                "_meta": {
                    "io.toolhub/contract": {
                        "category": "network",
                        "network": {"allow": [f"127.0.0.1:{port}"]},
                        "http": {"method": "GET", "path": "/", "settings": {"X-Key": "{api_key}"}},
                    }
                },
            }
        ],
    }
    made = {name: value for name, value in {**manifest, **more}.items() if value is not None}
    draft_publish(by=SYSTEM, draft=release_draft(manifest=made, files={}))
    return Package.objects.get(name="weather")


@pytest.fixture
def weather(server: Receiver, admin: User) -> Package:
    made = weather_package(server.port)
    return config_change(by=admin, package=made, changes={"api_key": KEY, "account": "acct-12345"})
