"""Texts in which `{name}` stands for a setting or secret of a package, such as `Bearer {api_key}`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.errors import ToolError
from toolhub_sdk.problem import Problem, pointer

IN_TEMPLATE = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]{0,63})\}")
# Headers that the sender of a request says itself, and not the package.
OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_VISIBLE = re.compile(r"[\x20-\x7e]*")


def names_in(templates: Mapping[str, str]) -> frozenset[str]:
    """The settings that the texts name."""
    return frozenset(name for text in templates.values() for name in IN_TEMPLATE.findall(text))


def filled(templates: Mapping[str, str], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each text with the settings in it; one for which a setting is missing is left out.

    Raises ToolError NOT_CONFIGURED for a setting that is no text, number or truth value.
    """
    for key, template in templates.items():
        if all(name in settings for name in IN_TEMPLATE.findall(template)):
            yield key, IN_TEMPLATE.sub(lambda found: _text(found[1], settings[found[1]]), template)


def headers_filled(templates: Mapping[str, str], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The same for headers. Also raises ToolError NOT_CONFIGURED for what no header can hold."""
    for header, text in filled(templates, settings):
        if not _VISIBLE.fullmatch(text):
            # The value is never told: it may be a secret.
            names = ", ".join(IN_TEMPLATE.findall(templates[header]))
            why = f"A header holds visible characters of ASCII only, {names} has others."
            raise ToolError("NOT_CONFIGURED", why, recoverable=False)
        yield header, text.strip()


def template_problems(
    templates: Mapping[str, str], config: Mapping[str, Any], at: str, *, headers: bool = False
) -> Iterator[Problem]:
    """Problems of texts, by the name of each header or parameter; `at` is their JSON Pointer."""
    for key, template in templates.items():
        here = f"{at}{pointer([key])}"
        for name in IN_TEMPLATE.findall(template):
            if name not in config.get("properties", {}):
                yield Problem(here, f"config has no setting {name}.", "Add it, or mend the name.")
        if any(mark in IN_TEMPLATE.sub("", template) for mark in "{}"):
            yield Problem(here, "A brace stands alone.", "Write {name} for a setting.")
        if headers and key.lower() in OWN_HEADERS:
            yield Problem(here, f"The header {key} is the hub's own.", "Leave it out.")


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    why = f"{name} is no text, number or truth value, so no header or parameter can hold it."
    raise ToolError("NOT_CONFIGURED", why, recoverable=False)
