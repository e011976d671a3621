"""S4's words and shapes for what came of an operation."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from core.errors import ToolHubError, error_object
from execution.engine.events import iso
from execution.engine.results import envelope
from execution.entry.operations.requests import ToolCall, placed
from execution.models import Run, Status

# S4's six words for an operation.
OPERATION_WORDS: dict[str, str] = {
    Status.AWAITING_APPROVAL: "pending",
    Status.PENDING: "pending",
    Status.WAITING_RETRY: "pending",
    Status.AWAITING_PERSON: "pending",
    Status.RUNNING: "running",
    Status.WAITING_STEPS: "running",
    Status.OUTCOME_UNKNOWN: "failed",
    Status.COMPLETED: "completed",
    Status.FAILED: "failed",
    Status.TIMEOUT: "timeout",
    Status.CANCELLED: "cancelled",
}
# S4's four words for a result; while a run goes on there is none.
RESULT_WORDS: dict[str, str] = {
    Status.COMPLETED: "success",
    Status.FAILED: "failure",
    Status.OUTCOME_UNKNOWN: "failure",
    Status.TIMEOUT: "timeout",
    Status.CANCELLED: "cancelled",
}


@dataclass(frozen=True)
class Tried:
    """A call that was tried: its run, or the error with which it was refused."""

    call: ToolCall
    run: Run | None = None
    refusal: ToolHubError | None = None

    @property
    def status(self) -> str:
        """One of S4's six words."""
        return OPERATION_WORDS[self.run.status] if self.run else "failed"

    @property
    def word(self) -> str | None:
        """One of S4's four words; None while the run goes on."""
        return RESULT_WORDS.get(self.run.status) if self.run else "failure"

    @property
    def error(self) -> dict[str, Any] | None:
        """The error object of a call that failed."""
        if self.run and self.run.status == Status.OUTCOME_UNKNOWN:
            return error_object("OUTCOME_UNKNOWN", "The worker was lost after the tool had started.")
        if self.run:
            return self.run.error_told
        return refusal_view(self.refusal, self.call) if self.refusal else None

    @property
    def is_open(self) -> bool:
        return self.word is None


def refusal_view(error: ToolHubError, call: ToolCall) -> dict[str, Any]:
    """The error object of a refused call, with the pointers of the whole request under `details`."""
    told = placed(error, call.place)
    view = told.as_error()
    if told.errors:
        view["details"]["errors"] = told.errors
    return view


def result_view(tried: Tried) -> dict[str, Any]:
    """A result as S4 has it: tool, execution, status, output, duration in ms, resources and error."""
    whole = envelope(tried.run) if tried.run else {"data": None, "metadata": {}}
    return {
        "index": tried.call.index,
        "id": tried.call.id,
        "tool_name": tried.run.tool if tried.run else tried.call.name,
        "execution_id": str(tried.run.pk) if tried.run else None,
        "status": tried.word,
        "output": whole["data"],
        "metadata": whole["metadata"],
        "duration_ms": tried.run.duration_ms if tried.run else None,
        "resources_used": tried.run.resources if tried.run else {},
        "error": tried.error,
    }


@dataclass(frozen=True)
class Span:
    """When an operation began."""

    started_at: datetime = field(default_factory=timezone.now)
    begun: float = field(default_factory=time.perf_counter)

    def ms(self) -> float:
        """Milliseconds since then."""
        return round((time.perf_counter() - self.begun) * 1000, 3)


@dataclass(frozen=True)
class Answer:
    """The body of an answer, and the run that goes on where one does."""

    body: dict[str, Any]
    open_run: Run | None = None


def answer_body(
    operation: str,
    status: str,
    results: Sequence[Mapping[str, Any]],
    *,
    span: Span,
    metadata: Mapping[str, Any] | None = None,
    warnings: Iterable[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """S4's answer. The errors of results, and the warnings in their metadata, are told again beside them."""
    of_calls = [result for result in results if "index" in result]
    named = [(result, {name: result[name] for name in ("index", "id", "tool_name")}) for result in of_calls]
    told = [
        who | {"message": text} for result, who in named for text in result["metadata"].get("warnings", ())
    ]
    general = [{"index": None, "id": None, "tool_name": None, "message": text} for text in warnings]
    return {
        "operation": operation,
        "status": status,
        "results": results,
        "orchestration_result": None,
        "metadata": {
            "started_at": iso(span.started_at),
            "completed_at": iso(timezone.now()),
            "duration_ms": span.ms(),
            **(metadata or {}),
        },
        "errors": [who | result["error"] for result, who in named if result["error"]],
        "warnings": told + general,
        **more,
    }
