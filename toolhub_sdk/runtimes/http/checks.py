"""What is wrong with a tool that is a request on the web, and no schema can say."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolhub_sdk.normal_form import url_split
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Problem, pointer
from toolhub_sdk.runtimes.http.exchange import IN_PATH, named_arguments
from toolhub_sdk.setting_templates import OWN_HEADERS, template_problems

# Not a caller's to say either: they would carry one caller's credentials to a server.
CREDENTIALS = frozenset({"authorization", "cookie"})
_PORTS = {"http": 80, "https": 443}


def web_problems(manifest: Mapping[str, Any], definition: Mapping[str, Any], at: str) -> Iterator[Problem]:
    """Problems of one tool whose form is right; `at` is its pointer."""
    runtime = manifest["runtime"]
    contract = definition.get("_meta", {}).get(CONTRACT, {})
    operation = contract.get("http")
    here = f"{at}/_meta/{pointer([CONTRACT])[1:]}"
    if operation is None:
        message = "The request that a call makes is missing."
        yield Problem(here, message, 'Add "http": {"method": "GET", "path": "/…"}.')
        return
    yield from _address_problems(runtime["entry"], contract, here)
    yield from _operation_problems(operation, definition["inputSchema"], f"{here}/http")
    settings, config = operation.get("settings", {}), manifest.get("config", {})
    yield from template_problems(settings, config, f"{here}/http/settings", headers=True)


def _address_problems(entry: str, contract: Mapping[str, Any], here: str) -> Iterator[Problem]:
    try:
        parts = url_split(entry)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    except ValueError:
        yield Problem("/runtime/entry", "This is no address.", "Write https://api.example.org/v1.")
        return
    if parts.query or parts.fragment or "@" in parts.netloc:
        message = "The address has a query, a fragment or a user's name."
        yield Problem("/runtime/entry", message, "Write scheme, host and path only.")
    allowed = contract.get("network", {}).get("allow", [])
    if f"{host}:{port}" not in allowed:
        message = f"The tool calls {host}:{port}, which network.allow does not name."
        yield Problem(f"{here}/network/allow", message, f'Add "{host}:{port}".')


def _operation_problems(
    operation: Mapping[str, Any], schema: Mapping[str, Any], at: str
) -> Iterator[Problem]:
    known = schema.get("properties", {})
    for place, name in named_arguments(operation):
        if name not in known:
            yield Problem(f"{at}{place}", f"inputSchema has no property {name}.", "Add it, or mend the name.")
    for name in IN_PATH.findall(operation["path"]):
        if name in known and name not in schema.get("required", []):
            message = f"The path needs {name}, which is not required."
            yield Problem(f"{at}/path", message, f"Add {name} to inputSchema.required.")
    if any(mark in IN_PATH.sub("", operation["path"]) for mark in "{}"):
        yield Problem(f"{at}/path", "A brace stands alone.", "Write {name} for an argument.")
    if "body" in operation and operation["method"] == "GET":
        yield Problem(f"{at}/body", "A GET has no body.", "Use query, or another method.")
    for header in operation.get("headers", {}):
        if header.lower() in OWN_HEADERS | CREDENTIALS:
            message = f"The header {header} is not an argument's to say."
            yield Problem(f"{at}/headers{pointer([header])}", message, "Leave it out.")
