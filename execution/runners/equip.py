"""What a call is given before its runner begins, and what is taken out of what comes of it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from core.codes import CODES
from core.errors import ToolHubError
from core.json.canonical import canonical
from execution.engine.call import Call, dropped
from execution.engine.changes import Change
from execution.engine.outcomes import Outcome
from execution.runners.judging import refused_outcome
from registry.config.selectors import problems_raise, settings_of
from security.patterns import patterns_now
from security.redaction import MARK, Redactor

TAKEN_OUT = "Something that must not be told was taken out."


def equip(call: Call) -> Outcome | None:
    """Fills in what the tool gets; the outcome where it lacks something, and then nothing may run."""
    if call.version.takes_config and call.look != "only":
        try:
            call.settings = settings_of(call.version)
            problems_raise(call.version, call.settings)
        except ToolHubError as error:
            return refused_outcome(error)
    patterns = patterns_now()
    if call.settings.secrets or patterns:
        call.redactor = redactor = Redactor(call.settings.secrets.values(), patterns)
        if call.emit is not dropped:
            emit = call.emit
            call.emit = lambda part: emit(redactor.value(part))
    return None


def redacted(call: Call, outcome: Outcome) -> Outcome:
    """The outcome as it may be kept and told."""
    redactor = call.redactor
    if redactor is None:
        return outcome
    clean = bool(outcome.encoded) and not redactor.may_be_in(outcome.encoded.decode())
    data = outcome.data if clean else redactor.value(outcome.data)
    error = _told(redactor, outcome.error)
    warnings = redactor.value(outcome.warnings)
    memory = tuple(_kept(redactor, change) for change in outcome.memory)
    same = data is outcome.data and error is outcome.error and warnings is outcome.warnings
    if same and memory == outcome.memory:
        return outcome
    return dataclasses.replace(
        outcome,
        data=data,
        encoded=canonical(data) if outcome.encoded else b"",
        error=error,
        memory=memory,
        warnings=(*warnings, TAKEN_OUT),
    )


def _kept(redactor: Redactor, change: Change) -> Change:
    return dataclasses.replace(change, key=redactor.text(change.key), value=redactor.value(change.value))


def _told(redactor: Redactor, error: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The error without them. The hub's own codes say nothing of the tool, and others read them."""
    told: Mapping[str, Any] | None = redactor.value(error)
    if told is error or error is None or told is None:
        return error
    code = error["code"] if error["code"] in CODES else told["code"]
    fixed = {name: error[name] for name in ("type", "severity")}
    return {**told, **fixed, "code": "EXECUTION_FAILED" if code == MARK else code}
