"""Every tool of the catalogue keeps its own contract: schemas, examples, declared errors, descriptions."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import catalogue
from core.json.canonical import canonical
from toolhub_sdk import Example, ToolContext, ToolSpec, call, manifest_of, spec_of

MODULES = [
    importlib.import_module(f"catalogue.{each.name}") for each in pkgutil.iter_modules(catalogue.__path__)
]
TOOLS = [value for module in MODULES for value in vars(module).values() if spec_of(value)]


def spec(function: Callable[..., object]) -> ToolSpec:
    found = spec_of(function)
    assert found is not None
    return found


def examples() -> Iterator[Any]:
    for function in TOOLS:
        for number, example in enumerate(spec(function).examples):
            yield pytest.param(function, example, id=f"{spec(function).name}-{number}")


def test_the_catalogue_has_the_tools_it_should() -> None:
    packages = {
        module.PACKAGE.name: sorted(spec(f).name for f in TOOLS if f.__module__ == module.__name__)
        for module in MODULES
    }
    assert packages["toolhub-data"] == ["echo", "hash", "json_parse"]
    assert packages["toolhub-calculation"] == ["calculate"]
    assert packages["toolhub-system"] == ["current_time"]


def test_no_name_is_given_twice() -> None:
    names = [spec(function).name for function in TOOLS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("function", "example"), list(examples()))
def test_an_example_gives_what_it_says(function: Callable[..., object], example: Example) -> None:
    contract = spec(function)
    Draft202012Validator(contract.input_schema).validate(dict(example.arguments))
    result = call(function, example.arguments, ToolContext())
    assert contract.output_schema is not None
    Draft202012Validator(contract.output_schema).validate(result)
    if example.result is not ...:
        assert canonical(result) == canonical(example.result)


@pytest.mark.parametrize("function", TOOLS, ids=lambda function: function.__name__)
def test_a_tool_describes_itself_its_parameters_and_its_results(function: Callable[..., object]) -> None:
    contract = spec(function)
    assert contract.examples
    assert len(contract.description) > 80
    for schema in (contract.input_schema, contract.output_schema or {}):
        Draft202012Validator.check_schema(schema)
        assert all(each.get("description") for each in schema["properties"].values())
    assert contract.category in {"system", "data"}
    assert contract.side_effects == "pure"
    assert contract.capabilities == ()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_manifest_is_the_same_each_time_and_plain_json(module: Any) -> None:
    manifest = manifest_of(module, module.PACKAGE, runtime="builtin")
    assert canonical(manifest) == canonical(manifest_of(module, module.PACKAGE, runtime="builtin"))
    assert manifest["runtime"] == {"type": "builtin", "entry": module.__name__}
    for definition in manifest["tools"]:
        function = definition["_meta"]["io.toolhub/contract"]["function"]
        assert spec(getattr(module, function)).name == definition["name"]
