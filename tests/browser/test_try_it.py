"""Trying a tool in the browser: the form made from its schema, the result, and the call to copy."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, Hub
from tests.browser.schema_arguments import arguments
from tests.browser.test_accessibility import faults

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
CASES = Path(__file__).parent.parent / "cases" / "mcp_tools"
# What a form does not look at, and the hub does: shapes of texts.
UNSEEN = ("pattern", "format", "minLength")

# The component itself, once for each schema: it shows each sample and gives it back, and an empty form
# that is filled in by its labels and kinds gives arguments.
LOOP = """
async (cases) => {
  const { build } = await import("/static/js/schema_form/form.js");
  const main = document.querySelector("main");
  const fill = (root) => {
    for (let round = 0; round < 8; round++) {
      for (const control of root.querySelectorAll("[aria-required=true]")) {
        if (control.value !== "") continue;
        if (control.matches("select")) control.value = [...control.options].find((one) => one.value).value;
        else if (control.type === "number") control.value = control.min || "1";
        else control.value = control.matches(".code-like") ? "{}" : "words";
        control.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
  };
  return cases.map(({ schema, samples }) => {
    const blank = build(schema);
    main.replaceChildren(blank.element);
    fill(blank.element);
    const named = [...blank.element.querySelectorAll("input, select, textarea")].every((one) => one.labels.length === 1);
    const back = samples.map((sample) => {
      const form = build(schema);
      main.replaceChildren(form.element);
      form.set(sample);
      return form.get();
    });
    return { filled: blank.get(), back, named };
  });
}
"""


def tools() -> Iterator[dict[str, Any]]:
    for file in sorted(CASES.glob("*.json")):
        listed = json.loads(file.read_text())
        yield from listed if isinstance(listed, list) else listed["tools"]


def errors(schema: dict[str, Any], value: Any) -> list[str]:
    checker = Draft7Validator if "draft-07" in schema.get("$schema", "") else Draft202012Validator
    return [error.message for error in checker(schema).iter_errors(value)]


def without(schema: Any) -> Any:
    """The schema without what a form does not look at."""
    if isinstance(schema, list):
        return [without(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without(one) for name, one in schema.items() if name not in UNSEEN or isinstance(one, dict)}


def test_every_schema_in_the_wild_makes_a_form_that_gives_valid_arguments(page: Page) -> None:
    schemas = [tool["inputSchema"] for tool in tools()]
    assert len(schemas) == 216
    cases = [{"schema": schema, "samples": arguments(schema)} for schema in schemas]
    for case in cases:
        assert not [wrong for sample in case["samples"] for wrong in errors(case["schema"], sample)]
    page.goto("/tools/echo/try/")
    for case, got in zip(cases, page.evaluate(LOOP, cases), strict=True):
        assert got["back"] == case["samples"]
        assert errors(without(case["schema"]), got["filled"]) == []
        assert got["named"]


SHOW = """
async (schema) => {
  const { build } = await import("/static/js/schema_form/form.js");
  const form = build(schema);
  document.querySelector("[data-fields]").replaceChildren(form.element);
  for (let round = 0; round < 3; round++) form.element.querySelectorAll("button[aria-label^=Add]").forEach((add) => add.click());
}
"""


def test_the_largest_forms_are_for_everybody(page: Page) -> None:
    schemas = sorted((tool["inputSchema"] for tool in tools()), key=lambda one: len(json.dumps(one)))[-3:]
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.goto("/tools/echo/try/")
    for schema in schemas:
        page.evaluate(SHOW, schema)
        assert faults(page) == []


def test_a_call_is_made_from_the_form_and_its_result_stands_beside_it(page: Page) -> None:
    page.goto("/tools/calculate/try/")
    page.get_by_label("operation").select_option(label="divide")
    page.get_by_label("num1").fill("7")
    page.get_by_label("num2").fill("2")
    page.get_by_role("button", name="Run it").click()
    result = page.locator("#tried")
    expect(result.get_by_label("the result", exact=True)).to_have_text(
        re.compile('"result": 3.5'), timeout=15_000
    )
    expect(result).to_contain_text("completed")
    expect(page.get_by_label("num1")).to_have_value("7")
    result.get_by_role("link", name="Its run").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("calculate")
    expect(page.get_by_text("admin").first).to_be_visible()


def test_what_the_hub_refuses_stands_at_its_field(page: Page, complaints: list[str]) -> None:
    page.goto("/tools/calculate/try/")
    page.get_by_label("operation").select_option(label="Choose…")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_label("operation")).to_be_focused()
    expect(page.get_by_label("operation")).to_have_accessible_description(
        "The operation to perform. Choose one."
    )
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("Arguments", exact=True).fill('{"operation": "add", "num1": "one", "num2": 2}')
    page.get_by_role("button", name="Form", exact=True).click()
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_label("num1")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#tried")).to_contain_text("/arguments/num1")
    # The browser says that an answer was 422, which is what it was.
    complaints[:] = [said for said in complaints if "422" not in said]


def test_what_is_missing_is_told_at_its_field_until_it_is_there(page: Page, complaints: list[str]) -> None:
    # What changes its colour slowly has the wrong one while the theme changes.
    page.emulate_media(reduced_motion="reduce")
    page.goto("/tools/echo/try/")
    persona = page.get_by_label("As persona")
    persona.fill("")
    page.get_by_role("button", name="Run it").press("Enter")
    expect(persona).to_be_focused()
    expect(persona).to_have_attribute("aria-invalid", "true")
    told = page.locator("#id_persona_told")
    expect(told).to_have_text("This field is required.")
    assert faults(page) == []
    persona.fill("nobody")
    persona.press("Enter")
    expect(told).to_have_text("There is no persona 'nobody'.")
    persona.fill("demo")
    persona.press("Enter")
    expect(page.get_by_role("region", name="Result")).to_contain_text("Hello, hub!")
    expect(told).to_have_count(0)
    expect(persona).not_to_have_attribute("aria-invalid", "true")
    complaints[:] = [said for said in complaints if "422" not in said]


def test_json_that_a_form_would_change_stays_json(page: Page) -> None:
    page.goto("/tools/echo/try/")
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_label("Arguments", exact=True).fill('{"text": 12345678901234567890}')
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_text("The form cannot show this JSON")).to_be_visible()
    expect(page.get_by_label("Arguments", exact=True)).to_have_value('{"text": 12345678901234567890}')


def test_the_copied_calls_work_as_they_are(
    page: Page, hub: Hub, token: str, execute: Callable[..., Any]
) -> None:
    page.goto("/tools/echo/try/")
    page.get_by_label("As persona").fill("")  # who calls need not be settled
    page.get_by_label("text", exact=True).fill('it\'s "quoted" $HOME ünï')
    expect(page.locator("form[data-try] [name=arguments]")).to_have_value(re.compile("quoted"))
    page.get_by_role("button", name="Show the call").click()
    tried = page.locator("#tried")
    expect(tried.locator("pre").first).to_contain_text("quoted")
    curl, python, settings, message = (one.text_content() or "" for one in tried.locator("details pre").all())
    public = "http://127.0.0.1:8000"
    env = {**os.environ, "TOKEN": token}
    for command in (
        ["sh", "-c", curl.replace(public, hub.url)],
        [sys.executable, "-c", python.replace(public, hub.url)],
    ):
        said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
        assert "quoted" in said
        assert "$HOME ünï" in said
    server = json.loads(settings)["mcpServers"]["toolhub"]
    headers = {"Authorization": server["headers"]["Authorization"].replace("${TOKEN}", token)}
    answer = httpx.post(server["url"].replace(public, hub.url), headers=headers, content=message).json()
    assert "$HOME ünï" in answer["result"]["structuredContent"]["text"]
    assert json.loads(message)["params"] == {
        "name": "echo",
        "arguments": {"text": 'it\'s "quoted" $HOME ünï'},
    }


@pytest.fixture
def dynamic(hub: Hub) -> None:
    """A tool whose arguments depend on the context, published and assigned to the persona `demo`."""
    give = (
        "from security.models import *; from registry.services import *; from tests.packages.load import *;"
        "package, by = package_publish('fx_contract').package, User.objects.get(username='admin');"
        "assignment_create(by=by, persona=Persona.objects.get(name='demo'), package=package)"
    )
    command = [sys.executable, "manage.py", "shell", "-c", give]
    done = subprocess.run(command, cwd=ROOT, env=hub.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_form_follows_what_a_tool_takes_in_a_context(dynamic: None, page: Page) -> None:
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    page.goto("/tools/fx_dyn/try/")
    page.get_by_label("Context data").fill('{"db": "a"}')
    page.get_by_role("button", name="Ask what it takes here").click()
    expect(page.locator("#tried")).to_contain_text("one of orders, people", timeout=60_000)
    page.get_by_label("table", exact=True).select_option(label="orders")
    assert faults(page) == []
    page.get_by_role("button", name="Run it").click()
    expect(page.locator("#tried")).to_contain_text("read orders", timeout=60_000)
