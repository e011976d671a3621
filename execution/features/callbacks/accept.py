"""Checks the `callback_url` of a call before the call is accepted."""

from core.errors import ToolHubError
from core.http.check import url_check
from core.http.errors import HttpFailed, HttpRefused
from security.signing import has_signing_secret

# A caller waits for this.
RESOLVE_S = 2.0


def callback_check(persona_id: int, url: str | None) -> None:
    """Raises ToolHubError (422) for an address that may not be posted to, or a persona that cannot sign."""
    if url is None:
        return
    # First: who may have no callbacks makes the hub resolve no names.
    if not has_signing_secret(persona_id):
        message = "The persona has no signing secret: nobody could tell that a callback is the hub's."
        raise ToolHubError(message, code="CALLBACK_UNSIGNED", errors=[_at(message)])
    try:
        url_check(url, seconds=RESOLVE_S)
    except (HttpRefused, HttpFailed) as error:
        raise callback_refused(error) from error


def callback_refused(error: HttpRefused | HttpFailed) -> ToolHubError:
    """The refusal of an address, with its reason."""
    told = f"callback_url {error}." if isinstance(error, HttpRefused) else f"callback_url: {error}."
    return ToolHubError(told, code="CALLBACK_REFUSED", errors=[_at(told)])


def _at(message: str) -> dict[str, str]:
    return {"pointer": "/callback_url", "message": message}
