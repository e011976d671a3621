"""What a call is given before its runner begins: the settings of its package."""

from datetime import UTC, datetime

from core.errors import ToolHubError
from execution.models import Status
from execution.runners.call import Call
from execution.runs.outcomes import Outcome
from registry.config.selectors import problems_raise, settings_of


def equip(call: Call) -> Outcome | None:
    """Fills in what the tool gets; the outcome where it lacks something, and then nothing may run."""
    if not call.version.takes_config:
        return None
    try:
        call.settings = settings_of(call.version)
        problems_raise(call.version, call.settings)
    except ToolHubError as error:
        now = datetime.now(UTC)
        return Outcome(Status.FAILED, now, now, 0.0, error=error.as_error())
    return None
