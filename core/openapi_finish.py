"""The last hand at the API's description: errors once, schemas with a title once, examples everywhere."""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.codes import CODES
from core.openapi import PROBLEM, problem_examples
from core.openapi_examples import example_of

# A docstring of a view that says no more than the description does by itself.
ADDRESS = re.compile(r"[A-Z]+( and [A-Z]+)* [\w{}/-]+\.")
METHODS = frozenset({"get", "post", "put", "patch", "delete"})
# What each operation may answer: a persona may be switched off, the query unknown, the hub mistaken, the
# database away.
EVERYWHERE = ("403", "422", "500", "503")
# What a part of an address or a query is, where its operation does not say it.
PARAMETERS: Mapping[str, str] = {
    "name": "The name of the tool, package, collection or persona.",
    "tool": "The name of the tool.",
    "id": "The number or UUID that its list or the answer that made it gave.",
    "run_id": "The run's UUID, `metadata.run_id` of its result.",
    "session_id": "The session that the call named in `context.session_id`; `default` where it named none.",
    "loop_id": "The loop that calls named in `context.loop_id`.",
    "scope": "working, short-term or long-term.",
    "key": "The key under which the value lies.",
    "kind": "Only those of this kind.",
    "format": "How the answer is written; by default as `Accept` says.",
}


def openapi_finish(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular (POSTPROCESSING_HOOKS)."""
    # The parts are constants of the modules that describe them.
    result = copy.deepcopy(result)
    components = result.setdefault("components", {})
    schemas, responses = components.setdefault("schemas", {}), components.setdefault("responses", {})
    for operation in operations(result):
        answers = {**{status: {} for status in EVERYWHERE}, **operation["responses"]}
        operation["responses"] = dict(sorted(answers.items()))
        if ADDRESS.fullmatch(operation.get("description", "")):
            del operation["description"]
        for parameter in operation.get("parameters", []):
            parameter.setdefault("description", PARAMETERS.get(parameter["name"], ""))
        for content in operation.get("requestBody", {}).get("content", {}).values():
            _example(content)
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                responses[f"Problem{status}"] = _problem(int(status))
                operation["responses"][status] = {"$ref": f"#/components/responses/Problem{status}"}
            else:
                for media_type, content in response.get("content", {}).items():
                    _example(content, media_type)
    for part in (result["paths"], responses):
        _hoist(part, schemas)
    for kept in ("schemas", "responses"):
        components[kept] = dict(sorted(components[kept].items()))
    return result


def operations(description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every operation of an OpenAPI document."""
    for methods in description["paths"].values():
        for method, operation in methods.items():
            if method in METHODS:
                yield operation


def _problem(status: int) -> dict[str, Any]:
    """All errors with this status, each with an example."""
    codes = [code.name for code in CODES.values() if code.status == status]
    content = {"schema": copy.deepcopy(PROBLEM), "examples": problem_examples(status)}
    return {"description": ", ".join(codes), "content": {"application/problem+json": content}}


def _example(content: dict[str, Any], media_type: str = "application/json") -> None:
    if "example" in content or "examples" in content:
        return
    if media_type == "text/event-stream":
        content["example"] = 'id: 1\nevent: RUN_STARTED\ndata: {"seq":1}\n\n'
        return
    content["examples"] = {"Example": {"value": example_of(content.get("schema", {}))}}


def _hoist(part: Any, schemas: dict[str, Any]) -> None:
    """Moves schemas with a title to the components. Raises ValueError for two of one title that differ."""
    members = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in list(members):
        if key in {"example", "examples", "value"}:
            continue
        _hoist(value, schemas)
        if isinstance(value, dict) and isinstance(value.get("title"), str) and "type" in value:
            name = value["title"].replace(" ", "")
            if schemas.setdefault(name, value) != value:
                raise ValueError(f"Two schemas have the title {value['title']}.")
            part[key] = {"$ref": f"#/components/schemas/{name}"}
