"""The docs that are made from the code are up to date, and every setting stands in them."""

from pathlib import Path

import pytest
from django.conf import settings

from toolhub.env import VARIABLES
from toolhub.management.commands.docs_write import PAGES, SCHEMA, schema_text

DOCS = Path(settings.ROOT) / "docs"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `manage.py docs_write`"


def test_no_default_shows_a_path_of_the_machine_that_made_the_page() -> None:
    assert str(settings.ROOT) not in (DOCS / "settings.md").read_text(encoding="utf-8")


def test_the_example_environment_names_only_settings_that_exist() -> None:
    lines = (Path(settings.ROOT) / ".env.example").read_text(encoding="utf-8").splitlines()
    named = {line.lstrip("# ").split("=")[0] for line in lines if "TOOLHUB_" in line and "=" in line}
    known = set(VARIABLES) | {f"{name}_FILE" for name, variable in VARIABLES.items() if variable.secret}
    assert named, "the example names no setting at all"
    assert named <= known


def test_the_published_schema_has_the_parts_of_all_runtimes() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "run `manage.py docs_write`"
