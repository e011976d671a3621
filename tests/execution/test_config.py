"""Settings and secrets of packages: set by people, given to tools, and refused in time when they are missing."""

from typing import Any

import pytest
from django.test import Client

from audit.models import Event
from core.errors import Conflict, Denied, InvalidRequest, ToolHubError
from execution.engine.perform import queue_work
from execution.models import Run
from registry.config.services import config_change
from registry.models import Package
from registry.releases.uninstall import package_uninstall
from security.models import Persona, Secret, User
from security.services import grant_create
from security.vault import secrets_read

KEY = "hunter2-hunter2"
KINDS = ("package.configured", "secret.set", "secret.removed")


@pytest.fixture
def manage(admin: User, persona: Persona, token_text: str) -> dict[str, str]:
    """The headers of an agent that may manage packages."""
    grant_create(by=admin, persona=persona, capability="toolhub:packages", reason="CI sets it up")
    return {"HTTP_AUTHORIZATION": f"Bearer {token_text}"}


def configure(package: Package, by: User, **changes: Any) -> None:
    config_change(by=by, package=package, changes=changes)


def test_a_tool_gets_its_settings_and_secrets(keeper: Package, admin: User, call: Any) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    answer = call("fx_ctx", {}).json()
    assert answer["data"] == {"config": {"digits": 2, "unit": "C"}, "secrets": {"api_key": len(KEY)}}


def test_the_next_call_has_what_was_changed(keeper: Package, admin: User, call: Any) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    call("fx_ctx", {})
    configure(keeper, admin, unit="F", digits=None, spare_key=KEY * 2, api_key="another-key")
    answer = call("fx_ctx", {}).json()["data"]
    assert answer["config"]["unit"] == "F"
    assert answer["secrets"] == {"api_key": 11, "spare_key": 30}


def test_a_call_is_refused_before_the_start_while_something_is_missing(
    keeper: Package, admin: User, call: Any
) -> None:
    configure(keeper, admin, unit="C")
    answer = call("fx_ctx", {})
    problem = answer.json()
    assert (answer.status_code, problem["error"]["code"]) == (422, "NOT_CONFIGURED")
    assert [each["pointer"] for each in problem["errors"]] == ["/config/api_key"]
    assert "Who may change packages can." in problem["error"]["suggestions"][0]
    assert not Run.objects.exists()
    refused = Event.objects.get(kind="run.refused")
    assert "NOT_CONFIGURED" in refused.canonical


def test_what_is_taken_away_after_accept_ends_the_run_without_a_start_of_the_tool(
    keeper: Package, admin: User, call: Any
) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    assert call("fx_ctx", {}, HTTP_PREFER="respond-async").status_code == 202
    configure(keeper, admin, api_key=None)
    queue_work("default")
    run = Run.objects.get()
    assert (run.status, run.error["code"]) == ("failed", "NOT_CONFIGURED")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"unit": "K"}, "/unit"),
        ({"digits": "two"}, "/digits"),
        ({"digits": 11, "unit": "C"}, "/digits"),
        ({"api_key": "short"}, "/api_key"),
        ({"api_key": "with a space"}, "/api_key"),
        ({"api_key": 12345678}, "/api_key"),
        ({"api_key": "\udcff" * 10}, ""),
        ({"nothing": 1}, "/nothing"),
        ({"api_key": KEY, "unit": 1}, "/unit"),
    ],
)
def test_a_bad_value_is_refused_at_its_field_and_nothing_is_kept(
    keeper: Package, admin: User, changes: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(ToolHubError) as refused:
        configure(keeper, admin, **changes)
    assert not pointer or {each["pointer"] for each in refused.value.errors} == {pointer}
    for value in changes.values():
        assert pointer != "/api_key" or str(value) not in str(refused.value.errors) + str(refused.value)
    keeper.refresh_from_db()
    assert (keeper.config, Secret.objects.count()) == ({}, 0)


def test_who_may_not_change_packages_may_not_set_them_up(keeper: Package, viewer: User) -> None:
    with pytest.raises(Denied):
        configure(keeper, viewer, unit="C")


def test_the_record_names_what_was_set_and_no_value(keeper: Package, admin: User) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    configure(keeper, admin, api_key=None)
    kinds = list(Event.objects.filter(kind__in=KINDS).order_by("pk"))
    assert [event.kind for event in kinds] == ["secret.set", "package.configured", "secret.removed"]
    assert not any(KEY in event.canonical for event in kinds)


def test_the_vault_keeps_nothing_in_the_open(keeper: Package, admin: User) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    assert KEY not in Secret.objects.get().sealed
    assert secrets_read("package:keeper") == {"api_key": KEY}


def test_over_rest(keeper: Package, admin: User, client: Client, manage: dict[str, str]) -> None:
    def patch(body: Any) -> Any:
        return client.patch("/api/v1/packages/keeper/config", body, content_type="application/json", **manage)

    assert client.get("/api/v1/packages/keeper/config", **manage).json()["missing"] == ["api_key", "unit"]
    answer = patch({"unit": "C", "api_key": KEY})
    assert answer.status_code == 200
    now = answer.json()
    assert now["values"] == {"digits": 2, "unit": "C"}
    assert now["secrets"]["api_key"]["set_by"] == "researcher"
    assert KEY not in answer.content.decode()
    assert patch({"unit": "X"}).status_code == 422
    assert patch([1]).status_code == 422
    assert patch({"unit": None}).json()["missing"] == ["unit"]


def test_a_package_that_is_removed_leaves_no_secrets_to_who_gets_its_name(
    keeper: Package, admin: User
) -> None:
    configure(keeper, admin, unit="C", api_key=KEY)
    keeper.releases.update(runner="python")
    package_uninstall(by=admin, package=keeper)
    keeper.refresh_from_db()
    assert (keeper.config, Secret.objects.count()) == ({}, 0)
    with pytest.raises(Conflict):
        configure(keeper, admin, unit="C")


def test_settings_of_another_release_stay_for_a_roll_back(keeper: Package, admin: User) -> None:
    keeper.config = {"of_another": 1}
    keeper.save()
    configure(keeper, admin, unit="C")
    keeper.refresh_from_db()
    assert keeper.config == {"of_another": 1, "unit": "C"}


def test_too_much_is_refused(keeper: Package, admin: User) -> None:
    with pytest.raises(InvalidRequest):
        configure(keeper, admin, spare_key="x" * 20_000)
