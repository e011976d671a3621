"""The API's description: complete, with an example of everything, and good enough to make a client from."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from aiopenapi3 import OpenAPI
from aiopenapi3.errors import HTTPClientError
from jsonschema import Draft202012Validator

from core.codes import CODES
from toolhub.api_docs import description, operations, whole


def contents() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """`(where, media type, content)` of every body and answer."""
    for operation in operations():
        about = whole(operation.about)
        for media_type, content in about.get("requestBody", {}).get("content", {}).items():
            yield f"{operation.id} request", media_type, content
        for status, answer in about["responses"].items():
            for media_type, content in answer.get("content", {}).items():
                yield f"{operation.id} {status}", media_type, content


def examples(content: dict[str, Any]) -> list[Any]:
    if "example" in content:
        return [content["example"]]
    return [each["value"] for each in content.get("examples", {}).values()]


def test_every_body_and_answer_has_an_example_that_fits_its_schema() -> None:
    missing, wrong = [], []
    for where, media_type, content in contents():
        found = examples(content)
        if not found:
            missing.append(where)
        if media_type.endswith("json"):
            validator = Draft202012Validator(content["schema"])
            wrong += [f"{where}: {error.message}" for each in found for error in validator.iter_errors(each)]
    assert (missing, wrong) == ([], [])


def test_every_error_of_the_api_has_an_example_where_it_can_come() -> None:
    shown = {
        example["error"]["code"]
        for answer in description()["components"]["responses"].values()
        for example in (
            each["value"] for each in answer["content"]["application/problem+json"]["examples"].values()
        )
    }
    statuses = {int(status) for operation in operations() for status in operation.about["responses"]}
    assert shown == {code.name for code in CODES.values() if code.status >= 400 and code.status in statuses}


def test_every_operation_says_that_it_can_be_refused_and_that_the_hub_can_fail() -> None:
    for operation in operations():
        assert {"401", "403", "500", "503"} <= set(operation.about["responses"]), operation.id


def test_every_operation_and_parameter_says_what_it_is() -> None:
    for operation in operations():
        assert operation.about.get("summary"), operation.id
        for parameter in operation.about.get("parameters", []):
            assert parameter["description"], f"{operation.id} {parameter['name']}"


def test_references_lead_somewhere() -> None:
    assert "$ref" not in json.dumps(whole(description()))


@pytest.mark.django_db(transaction=True)
def test_a_client_made_from_the_description_calls_a_tool(
    live_server: Any, assign: Callable[[str], None], token_text: str
) -> None:
    """aiopenapi3 makes models and operations from the document alone, and checks every answer by them."""
    assign("echo")
    url = f"{live_server.url}/api/openapi.json"
    client = OpenAPI.loads(url, json.dumps(description()), session_factory=httpx2.Client)
    client.authenticate(personaToken=token_text)
    body = {"arguments": {"text": "from a generated client"}}
    result = client._.tool_execute(parameters={"name": "echo"}, data=body)
    assert type(result).__name__ == "Result"
    assert result.success is True
    assert result.model_dump()["data"] == body["arguments"]
    assert str(client._.run_get(parameters={"run_id": result.metadata.run_id}).metadata.run_id)
    with pytest.raises(HTTPClientError) as refused:
        client._.tool_execute(parameters={"name": "nothing"}, data=body)
    assert json.loads(refused.value.data)["error"]["code"] == "TOOL_NOT_FOUND"


def test_a_client_has_every_operation() -> None:
    client = OpenAPI.loads("http://127.0.0.1/", json.dumps(description()), session_factory=httpx2.Client)
    for operation in operations():
        assert getattr(client._, operation.id) is not None
