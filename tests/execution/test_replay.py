"""Replay: what repeats itself is carried out again and compared, of the rest the recording is the answer."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.actors import SYSTEM
from execution.engine.perform import queue_work
from execution.models import Run, Status
from execution.runs.difference import differences
from registry.models import Package, Release, ToolVersion
from registry.releases.publish import release_publish
from toolhub_sdk.package import CONTRACT

pytestmark = pytest.mark.django_db
Call = Callable[..., Any]
Post = Callable[..., Any]


def run_id_of(answer: Any) -> str:
    return str(answer.json()["metadata"]["run_id"])


@pytest.fixture
def newer(fx: Package) -> Release:
    """fx_echo 1.1.0, which answers otherwise."""
    active = ToolVersion.objects.get(tool__name="fx_echo")
    definition = copy.deepcopy(active.definition)
    definition["_meta"][CONTRACT]["function"] = "fx_wrap"
    manifest = {**active.release.manifest, "version": "1.1.0", "tools": [definition]}
    return release_publish(by=SYSTEM, manifest=manifest, files={}, activate=False)


def test_a_deterministic_tool_says_the_same_again(post: Post, call: Call, fx: Package) -> None:
    run_id = run_id_of(call("fx_echo", {"value": [1, {"a": None}]}))
    answer = post(run_id, "replay")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["same"], body["recorded"], body["difference"]) == (True, False, [])
    assert body["run_id"] == run_id
    assert body["original"] == body["replay"]
    # sha256sum of [1,{"a":null}]
    digest = "ea53c5df30d0a9b5038b0f2d1e2d1f582b7e9a265c6929fdc38888843bb5656f"
    assert body["replay"]["result_hash"] == digest
    replay = Run.objects.get(pk=body["replay_run_id"])
    assert str(replay.origin_id) == run_id


@pytest.mark.parametrize("way", ["in the web process", "by a worker"])
def test_a_bounded_tool_gets_the_recorded_time_and_chance(
    post: Post, call: Call, fx: Package, way: str
) -> None:
    if way == "by a worker":
        run_id = run_id_of(call("fx_bounded", {}, HTTP_PREFER="respond-async"))
        assert queue_work("default") == 1
    else:
        run_id = run_id_of(call("fx_bounded", {}))
    first = post(run_id, "replay").json()
    assert first["same"] is True
    assert first["replay_run_id"] != run_id
    # A replay of the replay repeats the first run, not its own time.
    second = post(first["replay_run_id"], "replay").json()
    assert second["same"] is True
    assert Run.objects.get(pk=second["replay_run_id"]).result == Run.objects.get(pk=run_id).result
    # Without the recording the tool says something else.
    assert call("fx_bounded", {}).json()["metadata"]["result_hash"] != first["original"]["result_hash"]


def test_another_version_shows_the_difference(post: Post, call: Call, newer: Release) -> None:
    run_id = run_id_of(call("fx_echo", {"value": "abc"}))
    body = post(run_id, "replay", {"version": "1.1.0"}).json()
    assert body["same"] is False
    assert (body["original"]["version"], body["replay"]["version"]) == ("1.0.0", "1.1.0")
    assert body["difference"] == [
        {"pointer": "/data", "before": "abc", "after": {"value": "abc", "length": 3}}
    ]


def test_a_version_that_does_not_exist_is_404(post: Post, call: Call, fx: Package) -> None:
    answer = post(run_id_of(call("fx_echo", {"value": 1})), "replay", {"version": "9"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "VERSION_NOT_FOUND")


def test_what_does_not_repeat_itself_is_not_carried_out_again(
    post: Post, call: Call, fx: Package, tmp_path: Path
) -> None:
    file = tmp_path / "rolls"
    run_id = run_id_of(call("fx_dice", {"file": str(file)}))
    body = post(run_id, "replay").json()
    assert (body["same"], body["recorded"], body["replay_run_id"]) == (True, True, None)
    assert file.read_text() == "rolled\n"
    body = post(run_id, "replay", {"again": True}).json()
    assert (body["same"], body["recorded"]) == (False, False)
    assert file.read_text() == "rolled\nrolled\n"
    [change] = body["difference"]
    assert change["pointer"] == "/data"
    assert change["before"] == Run.objects.get(pk=run_id).result


def test_what_has_effects_is_not_carried_out_again(
    post: Post, call: Call, fx: Package, tmp_path: Path
) -> None:
    file = tmp_path / "effects"
    run_id = run_id_of(call("fx_count", {"file": str(file)}, HTTP_PREFER="respond-async"))
    assert queue_work("default") == 1
    assert post(run_id, "replay").json()["recorded"] is True
    assert len(file.read_text().splitlines()) == 1


def test_a_failure_is_replayed_too(post: Post, call: Call, fx: Package) -> None:
    run_id = run_id_of(call("fx_refuse", {"details": {"n": 1}}))
    body = post(run_id, "replay").json()
    assert body["same"] is True
    assert body["replay"]["error_code"] == "FX_REFUSED"


def test_a_replay_that_waits_for_a_worker_is_202_and_its_key_finds_it_again(
    post: Post, call: Call, fx: Package
) -> None:
    run_id = run_id_of(call("fx_echo", {"value": 7}))
    headers = {"HTTP_PREFER": "respond-async", "HTTP_IDEMPOTENCY_KEY": "again"}
    answer = post(run_id, "replay", **headers)
    body = answer.json()
    assert (answer.status_code, body["same"], body["replay"]["status"]) == (202, None, "pending")
    assert answer["Location"] == f"/api/v1/runs/{body['replay_run_id']}"
    assert queue_work("default") == 1
    later = post(run_id, "replay", **headers)
    assert (later.status_code, later.json()["same"]) == (200, True)
    assert later.json()["replay_run_id"] == body["replay_run_id"]


def test_a_caller_cannot_give_itself_a_recording(call: Call, fx: Package) -> None:
    answer = call("fx_bounded", body={"arguments": {}, "replay_of": {"run_id": "x"}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "UNKNOWN_MEMBER")


@pytest.mark.parametrize(("body", "pointer"), [({"version": 1}, "/version"), ({"again": "yes"}, "/again")])
def test_a_bad_wish_is_422_at_its_member(
    post: Post, call: Call, fx: Package, body: dict[str, Any], pointer: str
) -> None:
    answer = post(run_id_of(call("fx_echo", {"value": 1})), "replay", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_differences_are_by_pointer_and_by_json_value() -> None:
    before = {"a/b": 1, "list": [1, 2, 3], "same": {"x": 1}, "gone": None, "flag": 1, "n": 1}
    after = {"a/b": 2, "list": [1, 9], "same": {"x": 1}, "new": [], "flag": True, "n": 1.0}
    assert differences(before, after) == [
        {"pointer": "/a~1b", "before": 1, "after": 2},
        {"pointer": "/flag", "before": 1, "after": True},
        {"pointer": "/gone", "before": None},
        {"pointer": "/list/1", "before": 2, "after": 9},
        {"pointer": "/list/2", "before": 3},
        {"pointer": "/new", "after": []},
    ]


def test_differences_are_at_most_fifty() -> None:
    found = differences(list(range(1000)), list(range(1, 1001)))
    assert len(found) == 50
    assert json.dumps(found[0]) == '{"pointer": "/0", "before": 0, "after": 1}'


def test_a_run_that_never_started_is_replayed(post: Post, make_run: Callable[..., Run]) -> None:
    run = make_run(status=Status.CANCELLED, error={"code": "CANCELLED"})
    body = post(run.pk, "replay").json()
    assert (body["original"]["status"], body["replay"]["status"], body["same"]) == (
        "cancelled",
        "completed",
        False,
    )
