"""The API's description of POST execute holds: its examples are accepted and answered as it says."""

from collections.abc import Callable

import jsonschema
import pytest

from execution.entry.operations.forms import FORMS, OPERATIONS
from execution.entry.operations.openapi import ANSWER, OPERATION
from tests.execution.operations.conftest import Operate

EXAMPLES = {example.name: example.value for example in OPERATION["examples"]}


def test_every_operation_has_a_form_and_an_example() -> None:
    assert set(FORMS) == set(EXAMPLES) == set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_example_is_answered_as_described(
    operate: Operate, assign: Callable[[str], None], name: str
) -> None:
    assign("toolhub-data")
    answer = operate(EXAMPLES[name])
    jsonschema.Draft202012Validator(FORMS[name]).validate(EXAMPLES[name])
    if name == "orchestrate":
        assert answer.status_code == 422
        return
    assert answer.status_code == 200
    jsonschema.Draft202012Validator(ANSWER).validate(answer.json())
    assert answer.json()["operation"] == name
