"""The hub's door to the strict parser, which tool authors have as well (RFC 8259, RFC 7493)."""

from toolhub_sdk.strict_json import DEFAULT, JSON, Limits, StrictJSONError, loads

__all__ = ["DEFAULT", "JSON", "Limits", "StrictJSONError", "loads"]
