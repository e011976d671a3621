"""What a tool author needs, on the standard library alone.

from typing import Annotated
from toolhub_sdk import Field, Package, tool

PACKAGE = Package(name="greetings", version="1.0.0", title="Greetings", description="Greets people.",
                  license="MIT", author="You")

@tool(category="data")
def greet(name: Annotated[str, Field(description="Whom to greet.")]) -> str:
    \"\"\"Greets somebody by name.\"\"\"
    return f"Hello, {name}!"
"""

from toolhub_sdk.context import CancelSignal, Clock, FixedClock, SystemClock, ToolContext
from toolhub_sdk.errors import Cancelled, ToolError
from toolhub_sdk.memory import Memory
from toolhub_sdk.normalise import normalise
from toolhub_sdk.package import Package, manifest_of
from toolhub_sdk.schema import Field
from toolhub_sdk.strict_json import JSON, Limits, StrictJSONError, loads
from toolhub_sdk.terms import DeclaredError, Example, Rule
from toolhub_sdk.tool import ToolSpec, call, spec_of, tool

__all__ = [
    "JSON",
    "CancelSignal",
    "Cancelled",
    "Clock",
    "DeclaredError",
    "Example",
    "Field",
    "FixedClock",
    "Limits",
    "Memory",
    "Package",
    "Rule",
    "StrictJSONError",
    "SystemClock",
    "ToolContext",
    "ToolError",
    "ToolSpec",
    "call",
    "loads",
    "manifest_of",
    "normalise",
    "spec_of",
    "tool",
]
