"""The API's documentation as pages, made from its description (`make openapi` writes it)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from core.openapi_finish import METHODS
from core.pages import ConsoleView
from registry.parameters import parameters_of
from security.authentication import TokenAuthentication

ROOT = "/api/v1/"
DESCRIPTION = Path(__file__).with_name("openapi.json")
PROBLEM_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Operation:
    """One operation of the API; `id` is its operationId."""

    id: str
    method: str
    path: str
    about: Mapping[str, Any]

    @property
    def summary(self) -> str:
        return str(self.about.get("summary", self.id))

    @property
    def group(self) -> str:
        """The first step of its address: what it is about."""
        return self.path.removeprefix(ROOT).split("/")[0]


@functools.cache
def description() -> dict[str, Any]:
    """The description."""
    read: dict[str, Any] = orjson.loads(DESCRIPTION.read_bytes())
    return read


def operations() -> list[Operation]:
    """Every operation, in the order of the addresses."""
    return [
        Operation(about["operationId"], method.upper(), path, about)
        for path, methods in description()["paths"].items()
        for method, about in methods.items()
        if method in METHODS
    ]


def whole(part: Any, depth: int = 0) -> Any:
    """A part of the description with its references followed."""
    if isinstance(part, list):
        return [whole(each, depth) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part and depth < 20:
        found: Any = description()
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return whole(found, depth + 1)
    return {name: whole(each, depth) for name, each in part.items()}


class ApiDescription(APIView):
    """The description itself: for agents and for signed-in people."""

    authentication_classes = (TokenAuthentication, SessionAuthentication)
    permission_classes = (IsAuthenticated,)
    schema = None

    def get(self, request: Request) -> HttpResponse:
        """The description without the file's white space: a quarter of its size."""
        return HttpResponse(orjson.dumps(description()), content_type="application/json")


class ApiDocs(ConsoleView):
    """What there is to read about the API, and every operation."""

    template = "core/api_docs.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        groups: dict[str, list[Operation]] = {}
        for operation in operations():
            groups.setdefault(operation.group, []).append(operation)
        return self.show({"groups": groups.items()})


class ApiOperation(ConsoleView):
    """One operation: what it takes, what it answers, an example of each."""

    template = "core/api_operation.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        operation = next((each for each in operations() if each.id == name), None)
        if operation is None:
            raise Http404
        about = whole(operation.about)
        answers = sorted(about["responses"].items())
        bodies = about.get("requestBody", {}).get("content", {})
        return self.show(
            {
                "operation": operation,
                "about": about,
                "parameters": [_parameter(each) for each in about.get("parameters", [])],
                "bodies": [_content(media_type, content) for media_type, content in bodies.items()],
                "answers": [_answer(status, each) for status, each in answers if status < "400"],
                "refusals": [_refusal(status, each) for status, each in answers if status >= "400"],
            }
        )


def _parameter(given: Mapping[str, Any]) -> dict[str, Any]:
    schema = given.get("schema", {})
    return {
        "name": given["name"],
        "place": given["in"],
        "required": given.get("required", False),
        "type": schema.get("type", "any"),
        "choices": schema.get("enum", []),
        "description": given["description"],
    }


def _answer(status: str, given: Mapping[str, Any]) -> dict[str, Any]:
    contents = [_content(media_type, content) for media_type, content in given.get("content", {}).items()]
    return {
        "status": status,
        "description": given.get("description", ""),
        "contents": contents,
    }


def _refusal(status: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The codes with this status, and the first one's problem as an example of how each comes."""
    examples = given["content"][PROBLEM_TYPE]["examples"]
    return {"status": status, "codes": list(examples), "example": next(iter(examples.values()))["value"]}


def _content(media_type: str, content: Mapping[str, Any]) -> dict[str, Any]:
    examples = {name: each["value"] for name, each in content.get("examples", {}).items()}
    if "example" in content:
        examples = {"Example": content["example"]}
    return {
        "media_type": media_type,
        "members": parameters_of(content.get("schema")),
        "examples": [_example(name, value) for name, value in examples.items()],
    }


def _example(name: str, value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return {"name": name, "text": text, "value": value, "is_json": not isinstance(value, str)}
