"""The runtime http: each call is one request to a server."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from toolhub_sdk.errors import ToolError
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.problem import Contradiction, Problem
from toolhub_sdk.runtimes.http.answers import web_result
from toolhub_sdk.runtimes.http.checks import web_problems
from toolhub_sdk.runtimes.http.exchange import web_request
from toolhub_sdk.runtimes.local import Answer, LocalCall
from toolhub_sdk.runtimes.traits import Runtime, ToolType

# Methods that RFC 9110 §9.2.1 does not call safe; POST is often a query.
UNSAFE_METHODS = frozenset({"PUT", "PATCH", "DELETE"})
_ARGUMENT = {"type": "string", "description": "An argument's name.", "minLength": 1, "maxLength": 200}
_HEADER = {
    "description": "A header's name: letters, digits and hyphens, at most 64.",
    "pattern": "^[A-Za-z0-9-]{1,64}$",
}
OPERATION: Mapping[str, Any] = {
    "type": "object",
    "title": "A request on the web",
    "description": "A request on the web. Arguments that it does not name go into a JSON object as body for "
    "POST, PUT and PATCH, and into the query for GET and DELETE.",
    "properties": {
        "method": {
            "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"],
            "description": "The method of HTTP.",
        },
        "path": {
            "type": "string",
            "description": "What follows runtime.entry; {name} stands for an argument, as one segment or a "
            "part of one.",
            "pattern": "^/[A-Za-z0-9._~!$&'()*+,;=:@%/{}-]*$",
            "maxLength": 500,
        },
        "query": {
            "type": "array",
            "description": "Arguments that go into the query; a list repeats its name.",
            "items": _ARGUMENT,
            "maxItems": 100,
            "uniqueItems": True,
        },
        "headers": {
            "type": "object",
            "description": "Headers, each with the argument that it carries.",
            "propertyNames": _HEADER,
            "additionalProperties": _ARGUMENT,
            "maxProperties": 20,
        },
        "settings": {
            "type": "object",
            "description": "Headers made of the package's settings and secrets, such as Bearer {api_key}.",
            "propertyNames": _HEADER,
            "additionalProperties": {
                "type": "string",
                "description": "A text; {name} stands for a setting.",
                "minLength": 1,
                "maxLength": 500,
            },
            "maxProperties": 20,
        },
        "body": {**_ARGUMENT, "description": "The argument that is the whole body, as JSON."},
    },
    "required": ["method", "path"],
    "additionalProperties": False,
}


class Http(Runtime):
    name = "http"
    tool_type = ToolType.EXTERNAL
    properties = {
        "entry": {
            "$ref": "#/$defs/webAddress",
            "description": "The address that all paths of the tools begin with, such as "
            "https://api.example.org/v1. No query.",
        }
    }
    required = ("entry",)
    contract = {
        "http": {
            "$ref": "#/$defs/operation",
            "description": "The request that a call makes; for the runtime http.",
        }
    }
    definitions = {"operation": OPERATION}
    contradictions = (
        Contradiction(
            lambda contract: contract.get("sideEffects") == "pure",
            "http/method",
            UNSAFE_METHODS.__contains__,
            "A pure tool changes nothing outside its result, and PUT, PATCH and DELETE change the server.",
            'Use GET. Write "sideEffects": "impure", or leave it out.',
        ),
    )
    doubts = {"http": "A tool that asks a server can hardly give the same result for the same arguments."}
    notes = (
        "**Requests:** a tool of the runtime `http` says which request it makes, its host stands in\n"
        "  `network.allow`, and arguments and settings that it names are there."
    )

    def tool_problems(
        self, manifest: Mapping[str, Any], definition: Mapping[str, Any], at: str
    ) -> Iterator[Problem]:
        yield from web_problems(manifest, definition, at)

    def header_templates(self, definition: Mapping[str, Any]) -> Mapping[str, str]:
        operation = definition.get("_meta", {}).get(CONTRACT, {}).get("http") or {}
        found: Mapping[str, str] = operation.get("settings", {})
        return found

    def call(self, call: LocalCall) -> Answer:
        """Sends the request from here; a hub also refuses addresses inside its own network."""
        if call.arguments is None:
            return Answer()
        try:
            request = web_request(call.runtime["entry"], call.contract["http"], call.filled())
            with closing(_connection(request.url, call.seconds)) as connection:
                target = request.url.split("/", 3)[3:]
                connection.request(
                    request.method, f"/{''.join(target)}", request.body or None, dict(request.headers)
                )
                answer = connection.getresponse()
                names = {name.lower(): value for name, value in answer.getheaders()}
                return Answer(web_result(answer.status, names, answer.read()).data)
        except ToolError as error:
            return Answer(error=str(error))
        except (OSError, HTTPException) as error:
            return Answer(error=f"NETWORK: {error}")


def _connection(url: str, seconds: float) -> HTTPConnection:
    parts = urlsplit(url)
    made = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return made(parts.hostname or "", parts.port, timeout=seconds)


RUNTIME = Http()
