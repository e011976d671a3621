"""Each form of the console: sent twice it is carried out once, and what was changed meanwhile is not undone.

A new form: render `{% hidden form %}` in it. Where it edits what exists, make it an `EditForm(of=…)`
(core/forms.py), and a question a `QuestionView` with `about` (core/questions.py).
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve

from audit.models import Event
from core.pages import ConsoleView
from execution.models import Run
from registry.installations.models import Installation
from tests.forms import KEY, VERSION, PageForm, forms_read
from tests.web.world import Route, World, routes

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).parents[2] / "templates"

# Forms that edit nothing: what each of them makes, or what makes a version needless.
WITHOUT_VERSION = {
    "approval_approve": "a call is approved or denied once; the approval is bound to the call",
    "approval_deny": "as approval_approve",
    "approval_delegate": "as approval_approve",
    "assignment_new": "makes an assignment",
    "collection_new": "makes a collection",
    "credential_test": "reads what is kept, and changes nothing",
    "flag_new": "makes a flag",
    "grant_new": "makes a grant",
    "install": "makes an installation",
    "installation": "the digest that was reviewed is its version",
    "installation_retry": "a failed step is tried again once; then it has not failed",
    "limit_new": "makes a limit",
    "members_add": "adds tools; takes none away",
    "output_patterns": "makes a pattern",
    "package_config_test": "as credential_test",
    "pause_new": "makes a pause",
    "person_invite": "makes a person",
    "persona_new": "makes a persona",
    "proposal_confirm": "a proposal is decided once, and its safeguards are compared again",
    "resources": "makes a resource",
    "restriction_new": "makes a restriction",
    "run_resolve": "a run is resolved once",
    "schedule_new": "makes a schedule",
    "secrets": "its fields show nothing of what is kept",
    "sharing": "gives a right; takes none away",
    "simulator": "changes nothing",
    "team": "adds a member; takes none away",
    "team_new": "makes a team",
    "tier_new": "makes a tier",
    "token_new": "makes a token",
    "tool_rules": "adds a rule; takes none away",
    "tool_try": "makes a run",
}
# Forms that the world does not reach; the templates of all are looked through below.
NOT_SHOWN = {"installation", "own_session_end", "run_resolve"}
# Questions about what is never edited, as `about` of their views says.
QUESTIONS_WITHOUT_VERSION = {
    "duty_row_retry",
    "own_session_end",
    "own_sessions_end",
    "proposal_refuse",
    "run_cancel",
    "run_redeliver",
    "run_replay",
    "run_retry",
    "runs_cancel",
    "runs_cancel_all",
    "session_end",
}
# What is filled in where a form comes without it, or has to be another value to change anything.
FILLED: dict[str, dict[str, Any]] = {
    "approval_deny": {"reason": "no"},
    "approval_delegate": {"to": "operates"},
    "assignment_new": {"target": "fx_echo"},
    "capability": {"description": "Other."},
    "collection_describe": {"description": "Other."},
    "collection_new": {"name": "another"},
    "flag": {"state": "on"},
    "flag_new": {"name": "gamma"},
    "flag_tools": {"tool": "fx_echo"},
    "grant_edit": {"reason": "other"},
    "grant_new": {"capability": "file:write", "reason": "writes"},
    "install": {"type": "url", "location": "https://example.org/a.zip", "digest": "0" * 64},
    "limit_edit": {"amount": "500"},
    "limit_new": {"tool": "fx_echo", "amount": "5"},
    "members_add": {"tools": "fx_echo"},
    "output_patterns": {"name": "Cards", "pattern": "card-[0-9]+"},
    "pause_new": {"persona": "stranger", "reason": "no"},
    "person": {"roles": ["viewer"]},
    "person_invite": {"username": "new"},
    "persona_new": {"name": "another"},
    "release_deprecate": {"reason": "old"},
    "release_quarantine": {"reason": "odd"},
    "release_yank": {"reason": "bad"},
    "resources": {"name": "fx.more"},
    "restriction_new": {"capability": "file:write", "reason": "no"},
    "schedule_new": {
        "name": "a",
        "persona": "researcher",
        "tool": "fx_context",
        "arguments": "{}",
        "cron": "0 9 * * *",
        "time_zone": "UTC",
    },
    "secrets": {"server": "https://code.example.org", "user": "u", "password": "p"},
    "sharing": {"to": "looks", "level": "view"},
    "sharing_team": {"team": "inside"},
    "simulator": {"persona": "researcher", "tool": "fx_context", "arguments": "{}"},
    "standing_change": {"isolation": "strict"},
    "team": {"person": "looks"},
    "team_new": {"name": "fresh"},
    "tier": {"description": "Other."},
    "tier_new": {"name": "silver"},
    "token_new": {"name": "laptop", "days": "9"},
    "tool_edit": {"notes": "Other."},
    "tool_rules": {"act": "add", "expression": "true", "message": "Never.", "pointer": "", "arguments": "{}"},
    "tool_try": {"persona": "researcher", "arguments": "{}", "act": "run"},
}
# Acts that the world does not let happen, with what is answered: their refusal leaves the key unused.
REFUSED = {
    "approval_approve",
    "release_yank",
    "person_mail",
    "run_redeliver",
}


def view_of(route: Route, world: World) -> type[ConsoleView] | None:
    found = getattr(resolve(world.address(route)).func, "view_class", None)
    return found if isinstance(found, type) and issubclass(found, ConsoleView) else None


def posting(world: World) -> list[Route]:
    """The routes of the console that take a form."""
    return [one for one in routes() if "post" in one.methods and view_of(one, world)]


def pages(world: World) -> list[str]:
    """The addresses of all pages, and of those that have their form in some states only."""
    shown = [
        world.address(one)
        for one in routes()
        if "get" in one.methods and not one.pattern.startswith("api/v1/") and view_of(one, world)
    ]
    waiting = Run.objects.filter(status="awaiting_approval").values_list("pk", flat=True)
    return [*shown, *(f"/runs/cancel/?pick={pk}" for pk in waiting)]


def forms_of(world: World, eyes: Client) -> dict[str, list[PageForm]]:
    """Each form of each page, by the name of the route that takes it."""
    found: dict[str, list[PageForm]] = defaultdict(list)
    for url in pages(world):
        answer = eyes.get(url)
        if answer.status_code == 200 and "text/html" in answer["Content-Type"]:
            for form in forms_read(answer.content.decode(), url.partition("?")[0]):
                found[resolve(form.action).url_name or ""].append(form)
    return found


@pytest.fixture
def eyes(world: World, settings: Any) -> Client:
    """The admin's browser. The admin may decide on what their own agents ask; an installation has failed."""
    settings.FOUR_EYES = False
    Installation.objects.update(status="failed")
    return world.client("admin")


def test_every_form_of_every_page(world: World, eyes: Client, subtests: Any) -> None:
    """One walk over all pages, which takes most of the time, for all that is tried of their forms."""
    forms = forms_of(world, eyes)
    with subtests.test("each has a key, and a version where it edits"):
        each_has_a_key_and_a_version_where_it_edits(world, forms)
    no_stale_form_changes_anything(eyes, forms, subtests)
    each_that_is_sent_twice_is_carried_out_once(eyes, forms, subtests)


def each_has_a_key_and_a_version_where_it_edits(world: World, forms: dict[str, list[PageForm]]) -> None:
    wrong = []
    for route in posting(world):
        view = view_of(route, world)
        assert view is not None
        without = WITHOUT_VERSION.keys() | QUESTIONS_WITHOUT_VERSION
        if not forms.get(route.name) and route.name not in NOT_SHOWN:
            wrong.append(f"{route.name}: no page of tests/web/world.py shows its form.")
        for form in forms.get(route.name, ()):
            if KEY not in form.fields:
                wrong.append(f"{route.name}: render {{% hidden form %}} in its form.")
            if (VERSION in form.fields) == (route.name in without):
                wrong.append(
                    f"{route.name}: make it an EditForm(of=…), or a QuestionView whose `about` returns what"
                    " it is about; or say in WITHOUT_VERSION why it undoes nothing."
                )
    assert not wrong, "\n".join(wrong)
    named = {one.name for one in posting(world)}
    assert WITHOUT_VERSION.keys() | QUESTIONS_WITHOUT_VERSION | FILLED.keys() | REFUSED <= named


def test_every_template_renders_what_a_form_carries() -> None:
    """Except the pages of allauth, and what only that one browser hears of."""
    own = [path for path in TEMPLATES.rglob("*.html") if path.parent.name not in {"account", "mfa"}]
    own = [path for path in own if "mfa" not in path.parts and path.name not in {"side.html", "style.html"}]
    texts = [re.findall(r'<form method="post".*?</form>', path.read_text(), re.DOTALL) for path in own]
    without = [
        (path.name, form[:80])
        for path, found in zip(own, texts, strict=True)
        for form in found
        if "{% hidden " not in form and "components/fields.html" not in form
    ]
    assert sum(map(len, texts)) > 15
    assert not without, "Render {% hidden form %} in these."


def no_stale_form_changes_anything(eyes: Client, forms: dict[str, list[PageForm]], subtests: Any) -> None:
    """Each is sent with a version that is no longer so; the page that comes has the one that is."""
    stale = {name: [one for one in found if VERSION in one.fields] for name, found in forms.items()}
    for name, found in stale.items():
        for form in found[:2]:
            with subtests.test(name), transaction.atomic():
                before = Event.objects.count()
                answer = form.send(eyes, **FILLED.get(name, {}), **{VERSION: "0" * 32})
                assert answer.status_code == 409
                assert Event.objects.count() == before
                body = answer.content.decode()
                assert "in the meantime. Nothing was saved." in body
                again = [one for one in forms_read(body, form.action) if one.action == form.action]
                assert form.fields[VERSION] in [one.fields.get(VERSION) for one in again]
                transaction.set_rollback(True)
    assert sum(map(len, stale.values())) > 30


def each_that_is_sent_twice_is_carried_out_once(
    eyes: Client, forms: dict[str, list[PageForm]], subtests: Any
) -> None:
    for name, found in forms.items():
        for form in [one for one in found if KEY in one.fields][:1]:
            with subtests.test(name), transaction.atomic():
                sent = FILLED.get(name, {})
                first = form.send(eyes, **sent)
                after = Event.objects.count()
                second = form.send(eyes, **sent)
                if name in REFUSED or name == "simulator":
                    assert first.status_code in {200, 302, 409, 422}
                else:
                    assert first.status_code in {200, 302}, first.content.decode()
                    assert second.status_code == 302
                    assert Event.objects.count() == after
                    if first.status_code == 302:
                        assert second["Location"] == first["Location"]
                transaction.set_rollback(True)
