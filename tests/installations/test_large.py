"""Large packages come in whole."""

import pytest

from registry.models import Tool
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_package_of_a_thousand_files(install: Install) -> None:
    more = {f"data/{n % 10}/{n}.txt": f"{n}".encode() for n in range(1000)}
    one = install(packages.zip_write({**packages.files(), **more}))
    assert (one.status, one.report["files"]) == ("published", 1002), one.error


def test_a_package_of_two_hundred_tools(install: Install) -> None:
    """Of a server: a self-test starts nothing for them, and each of a Python package takes a start."""
    web = {"network": {"allow": ["api.example.org:443"]}, "http": {"method": "GET", "path": "/{name}"}}
    runtime = {"type": "http", "entry": "https://api.example.org/v1"}
    tools = [packages.tool(f"greet_{n}", examples=[], function=None, **web) for n in range(200)]
    one = install(runtime=runtime, tools=tools)
    assert one.status == "published", one.error
    assert Tool.objects.filter(package__name="greetings", active__isnull=False).count() == 200


def test_each_tool_of_a_package_is_tried(install: Install) -> None:
    one = install(tools=[packages.tool(f"greet_{n}", examples=[]) for n in range(20)])
    assert one.status == "published", one.error
    lines = "\n".join(one.lines.values_list("text", flat=True))
    assert [n for n in range(20) if f"greet_{n}: no examples, so that it is loaded" not in lines] == []
