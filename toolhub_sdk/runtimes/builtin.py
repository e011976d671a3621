"""The runtime builtin: functions of the hub's own catalogue."""

from toolhub_sdk.runtimes.python import MODULE_SCHEMA
from toolhub_sdk.runtimes.traits import Runtime


class Builtin(Runtime):
    name = "builtin"
    is_own = True
    properties = {"entry": {**MODULE_SCHEMA, "description": "A module of the hub's catalogue."}}
    required = ("entry",)
    names_functions = True
    hooks = frozenset({"validate", "shutdown"})


RUNTIME = Builtin()
