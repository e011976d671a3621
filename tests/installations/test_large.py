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
    tools = [packages.tool(f"greet_{n}", examples=[]) for n in range(200)]
    one = install(tools=tools)
    assert one.status == "published", one.error
    assert Tool.objects.filter(package__name="greetings", active__isnull=False).count() == 200
