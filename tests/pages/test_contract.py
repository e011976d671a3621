"""The tool page tells the contract: what it needs, touches and promises, its errors, examples and fit."""

from typing import Any

import pytest
from django.test import Client

from core.actors import SYSTEM
from registry.contract_words import contract_groups
from registry.models import ToolVersion
from registry.releases.publish import release_publish
from registry.retry_policies import policy_words
from tests.installations.packages import manifest, tool

pytestmark = pytest.mark.django_db
CONTRACT = {
    "sideEffects": "impure",
    "idempotent": False,
    "determinism": "deterministic",
    "requiredCapabilities": ["file:write"],
    "isolation": "paranoid",
    "network": {"allow": ["api.example.org:443"]},
    "filesystem": {"read": ["/data"], "write": ["/data/out"]},
    "preconditions": [
        {"type": "resource", "description": "The store answers.", "resource": "store"},
        {
            "type": "resource",
            "description": "The cache is warm.",
            "resource": "c",
            "availability": "preferred",
        },
    ],
    "effects": [
        {"type": "notification", "description": "Tells the session.", "event": "told", "on": "always"},
        {
            "type": "memory",
            "description": "Keeps the name.",
            "scope": "working",
            "operation": "write",
            "key": "k",
        },
    ],
    "retry": {"maxRetries": 3},
    "memory": {"working": ["k", "l.*"]},
    "requiresApproval": True,
    "contentChecks": "block",
    "sanitise": True,
    "validators": [{"expression": "true", "message": "Names are short."}],
    "resourceRequirements": {"memoryBytes": 1 << 30, "cpuPercent": 50},
    "resourceBounds": {"timeoutMs": 10_000, "maxMemoryBytes": 64 << 20, "maxConcurrency": 4},
    "environment": {"TZ": "UTC"},
    "errors": [
        {
            "code": "NAME_TAKEN",
            "description": "The name is somebody's.",
            "recoverable": False,
            "severity": "high",
            "type": "resource",
            "suggestions": ["Take another name."],
        }
    ],
}


@pytest.fixture
def greet() -> ToolVersion:
    release_publish(by=SYSTEM, manifest=manifest(tools=[tool(**CONTRACT)]), files={})
    return ToolVersion.objects.select_related("tool__package", "release").get(tool__name="greet")


def test_the_contract_in_words(greet: ToolVersion) -> None:
    told = {group.id: {line.label: line.values for line in group.lines} for group in contract_groups(greet)}
    assert told["needs"] == {
        "Capabilities": ("file:write",),
        "Before a run": ("The store answers.", "The cache is warm. (runs degraded without it)"),
        "Approval": ("a person approves each call",),
        "Rules of a call": ("Names are short.",),
        "Texts": ("come without control and bidi characters",),
        "Attack checks": ("calls that look like attacks are refused",),
        "Held by": ("a sandbox without any way out (paranoid)",),
        "Free memory": (1 << 30,),
        "Processor": ("50 % of one core",),
        "Environment": ("TZ=UTC",),
    }
    assert told["touches"] == {
        "Side effects": ("has some (impure)",),
        "Network": ("api.example.org:443",),
        "Reads": ("/data",),
        "Writes": ("/data/out",),
        "Memory": ("working: k", "working: l.*"),
        "After a run": ("Tells the session. (after every outcome, cannot be undone)", "Keeps the name."),
    }
    assert told["promises"] == {
        "Called twice": ("may act twice",),
        "Determinism": ("deterministic",),
        "Time limit": (10_000,),
        "Output limit": (1_048_576,),
        "Memory limit": (64 << 20,),
        "Runs at once": (4,),
        "Retried": ("up to 3 times, at once", "after any error that may be retried"),
    }


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("NONE", ("never",)),
        ("QUICK", ("up to 3 times (QUICK), 1 s apart", "after TIMEOUT, RATE_LIMIT, NETWORK")),
        (
            "AGGRESSIVE",
            (
                "up to 5 times (AGGRESSIVE), after 0.5 s, then 2 times as long each time, at most 60 s, varied by 10 %",
                "after TIMEOUT, RATE_LIMIT, NETWORK, SERVER_ERROR, LOCK",
            ),
        ),
        (
            {
                "maxRetries": 1,
                "backoff": {"type": "linear", "baseDelay": 200, "increment": 100},
                "nonRetryableErrors": ["LOCK"],
                "retryIf": "attempt < 2",
            },
            (
                "once, after 0.2 s, then 0.1 s longer each time",
                "after any error that may be retried",
                "not after LOCK",
                "where attempt < 2",
            ),
        ),
    ],
)
def test_a_retry_policy_in_words(declared: Any, words: tuple[str, ...]) -> None:
    assert policy_words(declared) == words


def test_the_page_shows_it_with_errors_examples_and_advice(greet: ToolVersion, eyes: Client) -> None:
    body = eyes.get("/tools/greet/").content.decode()
    for words in (
        "What it needs",
        "The store answers.",
        "Tells the session.",
        "NAME_TAKEN",
        "Take another name.",
        "A caller cannot mend it.",
        "Hello, Ada!",
        "openai",
        "fits",
    ):
        assert words in body, words


def test_a_tool_without_examples_and_errors_says_so(eyes: Client) -> None:
    bare = tool()
    del bare["_meta"]
    release_publish(by=SYSTEM, manifest=manifest(tools=[bare]), files={})
    body = eyes.get("/tools/greet/").content.decode()
    assert "It declares none." in body
    assert "nothing was tried" in body
    assert "No contract: the tool counts as impure" in body
