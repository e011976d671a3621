"""Tools of a package with settings and secrets, which tell them in every way that there is."""

import base64
import logging
from typing import Annotated, Any, Literal
from urllib.parse import quote

from toolhub_sdk import Field, Package, ToolContext, ToolError, tool

PACKAGE = Package(
    name="keeper",
    version="1.0.0",
    title="Keeper",
    description="For tests only.",
    license="MIT",
    author="ToolHub",
    config={
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["C", "F"], "description": "Of temperatures."},
            "digits": {"type": "integer", "minimum": 0, "maximum": 9, "default": 2},
            "api_key": {"type": "string", "secret": True, "pattern": "^[!-~]+$"},
            "spare_key": {"type": "string", "secret": True},
        },
        "required": ["unit", "api_key"],
    },
)
Way = Annotated[
    Literal["return", "fail", "emit", "log", "crash"], Field(description="How the secret is told.")
]
Form = Annotated[
    Literal["plain", "base64", "inner", "url", "key", "number"], Field(description="In which form.")
]


@tool(timeout_ms=2000)
def fx_ctx(ctx: ToolContext) -> Any:
    """Returns the settings, and how long each secret is."""
    return {"config": ctx.config, "secrets": {name: len(text) for name, text in ctx.secrets.items()}}


@tool(timeout_ms=2000)
def fx_leak(ctx: ToolContext, way: Way, form: Form = "plain") -> Any:
    """Tells its secret. Pure, as far as the hub knows."""
    told = _told(ctx.secrets["api_key"], form)
    if way == "fail":
        raise ToolError("FX_LEAK", f"It was {told}.", suggestions=(f"Use {told}",), details={"x": [told]})
    if way == "emit":
        ctx.emit({"part": told})
        return "emitted"
    if way == "log":
        ctx.log(f"the key is {told}", key=told)
        logging.getLogger("toolhub_sdk.tool").info("logged")
        return "logged"
    if way == "crash":
        raise RuntimeError(f"{told} is wrong")
    return {"deep": [told, f"x{told}y"]}


def _told(secret: str, form: str) -> Any:
    match form:
        case "base64":
            return base64.b64encode(secret.encode()).decode()
        case "inner":
            return base64.urlsafe_b64encode(f"hub:{secret}@host".encode()).decode()
        case "url":
            return quote(secret, safe="")
        case "key":
            return {secret: 1}
        case "number":
            return int.from_bytes(secret.encode()) if not secret.isdigit() else int(secret)
    return secret
