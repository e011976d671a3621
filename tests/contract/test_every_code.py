"""Every code of the hub comes through the API by a real cause: here, or in the test that the table names."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.test import Client

from core.codes import CODES

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[1]
BIG = b'{"arguments":{"text":"' + b"x" * 1_200_000 + b'"}}'
# What is sent to the tool echo, as it is.
BODIES: dict[str, bytes] = {
    "NOT_JSON": b'{"arguments":',
    "DUPLICATE_KEY": b'{"arguments":{"text":"a","text":"b"}}',
    "NUMBER_NOT_FINITE": b'{"arguments":{"text":NaN}}',
    "NUMBER_OUT_OF_RANGE": b'{"arguments":{"text":1e999}}',
    "NUMBER_NOT_EXACT": b'{"arguments":{"text":9007199254740993}}',
    "LONE_SURROGATE": b'{"arguments":{"text":"\\ud800"}}',
    "TOO_DEEP": b'{"arguments":' + b"[" * 200 + b"]" * 200 + b"}",
    "TOO_LARGE": BIG,
    "UNKNOWN_MEMBER": b'{"arguments":{"text":"a"},"argument":1}',
    "INVALID_REQUEST": b"[]",
    "INVALID_ARGUMENTS": b'{"arguments":{"text":1}}',
    "SANDBOX_UNAVAILABLE": b'{"arguments":{"text":"a"},"isolation_level":"strict"}',
    "CALLBACK_UNSIGNED": b'{"arguments":{"text":"a"},"callback_url":"https://example.org/"}',
    "VERSION_NOT_FOUND": b'{"arguments":{"text":"a"},"version":"9.9.9"}',
}
# Method, path below /api/v1 and body.
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "TOOL_NOT_FOUND": ("GET", "/tools/none", None),
    "NOT_FOUND": ("GET", "/nowhere", None),
    "METHOD_NOT_ALLOWED": ("GET", "/tools/echo/execute", None),
    "NOT_AVAILABLE": ("POST", "/execute", {"operation": "orchestrate", "parameters": {}}),
}
# What takes more than a request: a test that brings it about, which has the code in its text.
ELSEWHERE: dict[str, tuple[str, str]] = {
    "INVALID_OUTPUT": ("contract/test_determinism.py", "test_a_result_that_does_not_fit_is_an_error"),
    "PERMISSION_DENIED": ("execution/test_policy.py", "test_an_explicit_deny_wins_over_a_wider_grant"),
    "CAPABILITY_MISSING": (
        "execution/test_execute_refusals.py",
        "test_a_missing_capability_is_403_with_the_decision_and_who_can_grant_it",
    ),
    "SECURITY_VIOLATION": ("content/test_calls.py", "test_blocked_a_call_is_refused_with_what_was_found"),
    "PAUSED": ("execution/test_policy.py", "test_a_pause_refuses_the_next_call_and_says_who_and_why"),
    "VERSION_YANKED": ("execution/test_claim.py", "test_a_version_that_was_withdrawn_meanwhile_ends_the_run"),
    "IDEMPOTENCY_CONFLICT": (
        "execution/test_idempotency.py",
        "test_the_same_key_with_another_request_is_409",
    ),
    "PACKAGE_REFUSED": ("installations/test_zips.py", "test_a_hostile_archive_is_refused"),
    "SOURCE_REFUSED": ("installations/test_git.py", "test_what_is_no_address_by_ssh_is_refused"),
    "SOURCE_FAILED": ("installations/test_git.py", "test_a_folder_of_a_repository_is_a_package_too"),
    "DIGEST_MISMATCH": ("installations/test_url.py", "test_another_zip_than_the_digests_is_refused"),
    "INVALID_MANIFEST": ("contract/test_rules.py", "test_an_installation_fails_at_the_expression"),
    "REQUIREMENTS_REFUSED": (
        "installations/test_requirements.py",
        "test_what_is_more_than_a_name_is_refused_with_its_line",
    ),
    "DEPENDENCY_MISSING": ("sandbox/test_runners.py", "test_a_program_outside_the_package_is_not_run"),
    "NOT_CONFIGURED": (
        "execution/test_config.py",
        "test_a_call_is_refused_before_the_start_while_something_is_missing",
    ),
    "SELF_TEST_FAILED": ("contract/test_determinism.py", "test_a_liar_is_not_installed"),
    "WRONG_STEP": (
        "installations/test_releases.py",
        "test_a_review_against_a_release_that_is_not_in_use_any_more_is_made_anew",
    ),
    "IN_USE": ("installations/test_releases.py", "test_uninstalled_its_tools_are_gone_and_its_runs_stay"),
    "ALREADY_REGISTERED": (
        "installations/test_releases.py",
        "test_the_same_release_can_come_back_and_another_under_its_version_cannot",
    ),
    "ALREADY_FINISHED": ("execution/test_resolve.py", "test_a_run_is_resolved_once"),
    "RUN_UNFINISHED": ("execution/test_retry.py", "test_a_run_without_an_outcome_cannot_be_done_again"),
    "PAYLOAD_EXPIRED": ("execution/test_expiry.py", "test_readers_are_told_that_it_expired"),
    "CONFLICT": ("execution/test_resolve.py", "test_a_run_that_goes_on_is_not_resolved"),
    "OVERLOADED": (
        "execution/test_overload.py",
        "test_beyond_the_bound_of_the_queue_it_is_503_and_nothing_is_accepted",
    ),
    "RECORD_UNAVAILABLE": (
        "monitoring/test_health.py",
        "test_a_call_without_the_database_is_503_with_retry_after",
    ),
    "START_FAILED": (
        "sandbox/test_start.py",
        "test_a_start_that_takes_too_long_is_no_timeout_and_may_be_tried_again",
    ),
    "TIMEOUT": (
        "workers/test_workers.py",
        "test_a_tool_that_takes_too_long_in_a_worker_is_a_timeout_in_time",
    ),
    "EXECUTION_FAILED": ("contract/test_hooks.py", "test_a_mistake_in_a_hook_is_the_tools_failure"),
    "RESOURCE_EXCEEDED": (
        "contract/test_determinism.py",
        "test_a_tool_that_needs_more_than_the_machine_has_is_not_started",
    ),
    "CANCELLED": (
        "sandbox/test_workers.py",
        "test_parts_can_be_read_while_the_tool_works_and_a_cancel_reaches_it",
    ),
    "WORKER_LOST": (
        "workers/test_workers.py",
        "test_a_tool_that_kills_its_worker_each_time_ends_failed_and_harms_no_other",
    ),
    "OUTCOME_UNKNOWN": (
        "execution/test_resolve.py",
        "test_run_anew_fails_the_old_run_and_links_a_new_one_to_it",
    ),
    "INTERNAL": ("contract/test_every_code.py", "test_a_data_folder_that_is_broken_is_the_hubs_mistake"),
    "NOT_DONE": ("execution/test_resolve.py", "test_not_done_fails_the_run"),
    "COMPENSATED": ("execution/test_compensate.py", "test_an_agent_tells_what_its_person_says"),
    "ADDRESS_REFUSED": (
        "execution/test_http_runner.py",
        "test_an_address_inside_is_refused_and_nothing_is_sent",
    ),
    "PRECONDITION_REQUIRED": ("registry/policy/test_loosening.py", "test_no_agent_loosens_a_safeguard"),
    "STALE_EDIT": ("web/test_every_edit.py", "test_each_honours_if_match"),
    "BODY_TOO_SLOW": ("web/test_entrance.py", "test_slow_requests_keep_nobody_waiting_and_are_ended"),
    "HOST_NOT_ALLOWED": ("execution/test_causes.py", "test_a_host_that_was_refused_is_the_error"),
    "NETWORK": ("execution/test_http_runner.py", "test_a_server_that_is_not_there"),
    "SERVER_ERROR": ("execution/test_http_runner.py", "test_each_failure_has_its_code"),
    "EFFECT_FAILED": (
        "execution/memory/test_memory_of_tools.py",
        "test_what_does_not_fit_in_memory_fails_the_run_and_keeps_the_result",
    ),
    "APPROVAL_DENIED": (
        "execution/approvals/test_deciding.py",
        "test_denied_it_ends_and_the_caller_reads_why",
    ),
    "APPROVAL_EXPIRED": (
        "execution/approvals/test_deciding.py",
        "test_nobody_in_time_cancels_it",
    ),
    "APPROVAL_REQUIRED": (
        "execution/approvals/test_deciding.py",
        "test_a_call_that_was_changed_after_the_decision_does_not_start",
    ),
    "RATE_LIMIT": ("execution/test_quotas.py", "test_a_rate_lets_five_pass_in_a_second"),
    "QUOTA_EXCEEDED": (
        "execution/test_quotas.py",
        "test_the_eleventh_call_of_ten_a_day_is_refused_with_its_reason",
    ),
    "PRECONDITION_FAILED": (
        "effects/test_preconditions.py",
        "test_a_call_comes_through_once_everything_holds",
    ),
    "RUNTIME_UNKNOWN": (
        "execution/test_runtimes.py",
        "test_a_call_of_a_tool_whose_runtime_is_gone_is_refused",
    ),
    "MEMORY_FULL": ("execution/memory/test_memory_api.py", "test_values_keys_and_scopes_have_limits"),
    "CALLBACK_REFUSED": (
        "execution/callbacks/test_accepting.py",
        "test_an_address_that_may_not_be_posted_to_is_refused_with_its_reason",
    ),
    "QUARANTINED": ("installations/test_releases.py", "test_what_is_in_quarantine_waits_for_a_person"),
    "CALLBACK_NONE": (
        "execution/callbacks/test_delivering.py",
        "test_redelivery_needs_an_outcome_a_callback_and_a_payload",
    ),
}


@pytest.mark.parametrize("code", BODIES)
def test_a_body_brings_its_code(code: str, assign: Callable[[str], None], call: Callable[..., Any]) -> None:
    assign("echo")
    answer = call("echo", body=BODIES[code])
    assert_told(answer, code)


@pytest.mark.parametrize("code", REQUESTS)
def test_a_request_brings_its_code(
    code: str, assign: Callable[[str], None], client: Client, token_text: str
) -> None:
    assign("echo")
    method, path, body = REQUESTS[code]
    raw = b"" if body is None else orjson.dumps(body)
    answer = client.generic(method, f"/api/v1{path}", raw, HTTP_AUTHORIZATION=f"Bearer {token_text}")
    assert_told(answer, code)


def test_without_a_token(call: Callable[..., Any], assign: Callable[[str], None]) -> None:
    assign("echo")
    assert_told(call("echo", {"text": "a"}, HTTP_AUTHORIZATION=""), "UNAUTHENTICATED")


@pytest.mark.sandbox
def test_a_data_folder_that_is_broken_is_the_hubs_mistake(
    fx_contract: None, carry: Callable[..., Any], settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path
    (tmp_path / "releases").write_text("This should be a folder.")
    error = carry("fx_pool")["error"]
    assert (error["code"], error["severity"], error["retryable"]) == ("INTERNAL", "critical", True)
    assert str(tmp_path) not in str(error)


def assert_told(answer: Any, code: str) -> None:
    error, known = answer.json()["error"], CODES[code]
    assert error["code"] == code, error
    assert answer.status_code == known.status
    assert (error["type"], error["severity"], error["recoverable"]) == (
        known.type,
        known.severity,
        known.recoverable,
    )
    assert error["suggestions"]


def test_the_table_has_every_code() -> None:
    told = {*BODIES, *REQUESTS, "UNAUTHENTICATED", *ELSEWHERE}
    assert told == CODES.keys()


@pytest.mark.parametrize("code", ELSEWHERE)
def test_the_test_that_the_table_names_is_there_and_speaks_of_the_code(code: str) -> None:
    file, name = ELSEWHERE[code]
    text = (ROOT / file).read_text(encoding="utf-8")
    found = {each.name: each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)}
    assert name in found, f"{file} has no test {name}"
    lines = text.splitlines()
    first = min([found[name].lineno, *(each.lineno for each in found[name].decorator_list)])
    assert f'"{code}"' in "\n".join(lines[first - 1 : found[name].end_lineno])
