"""What is revoked is gone on the next call, in every web process, also where somebody wrote past all services.

Each way revokes by one bulk statement, without a signal, a service or a line in the ledger.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from execution.models import Run
from registry.collections.models import Collection
from registry.collections.services import collection_create
from registry.models import Assignment, CollectionMember, Package, Tool, ToolVersion
from registry.services import assignment_create
from security.models import Grant, Persona, Token, User
from security.policy.models import Flag, FlaggedTool, Restriction, Standing, Tier
from security.services import grant_create
from tests.processes import Processes

pytestmark = [pytest.mark.django_db(transaction=True)]
PAST = timedelta(hours=-1)


def restrict(**named: Any) -> None:
    """A restriction, or a pause, that no service made."""
    by = User.objects.get(username="admin")
    Restriction.objects.bulk_create([Restriction(reason="by hand", created_by=by, **named)])


# What is done past all services, and how the next call is answered.
WAYS: dict[str, tuple[Callable[[], object], int]] = {
    "grant deleted": (lambda: Grant.objects.all().delete(), 403),
    "grant expired": (lambda: Grant.objects.update(expires_at=timezone.now() + PAST), 403),
    "grant under a condition": (
        lambda: Grant.objects.update(conditions=[{"kind": "equals", "argument": "/no", "values": ["no"]}]),
        403,
    ),
    "token revoked": (lambda: Token.objects.update(revoked_at=timezone.now()), 401),
    "token expired": (lambda: Token.objects.update(expires_at=timezone.now() + PAST), 401),
    "persona off": (lambda: Persona.objects.update(is_active=False), 403),
    "person left": (lambda: User.objects.update(is_active=False), 403),
    "assignment deleted": (lambda: Assignment.objects.all().delete(), 404),
    "version withdrawn": (lambda: ToolVersion.objects.update(state="yanked"), 403),
    "version quarantined": (lambda: ToolVersion.objects.update(state="quarantined"), 403),
    "no version active": (lambda: Tool.objects.update(active=None), 404),
    "capability restricted": (lambda: restrict(capability="file:*"), 403),
    "tool restricted": (lambda: restrict(tool="fx_capable"), 403),
    "hub paused": (lambda: restrict(is_pause=True), 403),
    "flag off": (lambda: Flag.objects.update(state="off"), 403),
    "tier without the flag": (lambda: Tier.objects.update(flags=[]), 403),
    "off the tier": (lambda: Standing.objects.update(tier=None), 403),
    "sandbox asked for": (lambda: Standing.objects.update(isolation="strict"), 422),
}


# The same, where the tool is assigned in a collection alone.
IN_A_COLLECTION: dict[str, Callable[[], object]] = {
    "taken out": lambda: CollectionMember.objects.all().delete(),
    "another tool in its place": lambda: CollectionMember.objects.update(
        tool=Tool.objects.get(name="fx_echo")
    ),
    "collection taken back": lambda: Assignment.objects.all().delete(),
    "another collection assigned": lambda: Assignment.objects.update(
        collection=Collection.objects.create(name="empty")
    ),
}


def call(address: str, token_text: str) -> int:
    """The status of a call by that process."""
    answer = httpx.post(
        f"{address}/api/v1/tools/fx_capable/execute",
        json={"arguments": {}},
        headers={"Authorization": f"Bearer {token_text}"},
        timeout=60,
    )
    return answer.status_code


def test_what_is_revoked_is_gone_on_the_next_call_in_every_process(
    hub: Processes, fx: Package, admin: User, persona: Persona, token_text: str
) -> None:
    _, first = hub.web()
    _, second = hub.web()
    grant_create(by=admin, persona=persona, capability="file", reason="test")
    FlaggedTool.objects.create(tool="fx_capable", flag=Flag.objects.create(name="beta", state="tiers"))
    Standing.objects.create(persona=persona, tier=Tier.objects.create(name="pro", flags=["beta"]))
    models = [Persona, User, Token, Grant, Assignment, Tool, ToolVersion, Flag, Tier, Standing]
    kept: list[Any] = [list(model._default_manager.all()) for model in models]

    for way, (revoke, status) in WAYS.items():
        assert [call(first, token_text), call(second, token_text)] == [200, 200], f"before: {way}"
        before = Run.objects.count()
        revoke()
        assert [call(second, token_text), call(first, token_text)] == [status, status], way
        assert Run.objects.count() == before, way
        Restriction.objects.all().delete()
        for model, rows in zip(models, kept, strict=True):
            fields = [field.name for field in model._meta.concrete_fields if not field.primary_key]
            model._default_manager.bulk_create(
                rows, update_conflicts=True, unique_fields=[model._meta.pk.name], update_fields=fields
            )


def test_what_a_collection_no_longer_holds_is_gone_on_the_next_call_in_every_process(
    hub: Processes, fx: Package, admin: User, persona: Persona, token_text: str
) -> None:
    _, first = hub.web()
    _, second = hub.web()
    grant_create(by=admin, persona=persona, capability="file", reason="test")
    for way, revoke in IN_A_COLLECTION.items():
        Collection.objects.all().delete()
        Assignment.objects.all().delete()
        assert [call(first, token_text), call(second, token_text)] == [404, 404], f"before: {way}"
        made = collection_create(by=admin, name="given", tools=[Tool.objects.get(name="fx_capable")])
        assert [call(first, token_text), call(second, token_text)] == [404, 404], f"not assigned yet: {way}"
        assignment_create(by=admin, persona=persona, collection=made)
        assert [call(first, token_text), call(second, token_text)] == [200, 200], f"assigned: {way}"
        revoke()
        assert [call(second, token_text), call(first, token_text)] == [404, 404], way
    CollectionMember.objects.all().delete()
    Assignment.objects.update(collection=made)
    assert call(first, token_text) == 404
    tool = Tool.objects.get(name="fx_capable")
    CollectionMember.objects.bulk_create([CollectionMember(collection=made, tool=tool, added_by=admin)])
    assert [call(first, token_text), call(second, token_text)] == [200, 200]
