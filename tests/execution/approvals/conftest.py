"""The cast of the tests of approvals: a tool that wants one, and people who may decide."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from execution.models import Approval, Run
from registry.models import Package
from security.models import User
from tests.execution.fixtures import Declare


@pytest.fixture
def asked(fx: Package, declare: Declare, call: Callable[..., Any]) -> Callable[..., Approval]:
    """Calls fx_echo, whose contract wants approval; the request that then waits."""
    declare("fx_echo", requiresApproval=True)

    def ask(value: Any = "hi", **headers: str) -> Approval:
        answer = call("fx_echo", {"value": value}, **headers)
        assert answer.status_code == 202, answer.content
        return Approval.objects.select_related("run").get(run_id=answer.json()["metadata"]["run_id"])

    return ask


@pytest.fixture
def people(db: None) -> Callable[..., User]:
    """People who hold just these permissions: `people("bo", "execution.approve_run")`."""

    def make(name: str, *permissions: str) -> User:
        person = User.objects.create_user(name, email=f"{name}@example.org")
        for permission in permissions:
            app, _, codename = permission.partition(".")
            person.user_permissions.add(
                Permission.objects.get(content_type__app_label=app, codename=codename)
            )
        return User.objects.get(pk=person.pk)

    return make


@pytest.fixture
def approver(people: Callable[..., User]) -> User:
    return people("bo", "execution.approve_run")


@pytest.fixture
def eyes_of_approver(approver: User) -> Client:
    client = Client()
    client.force_login(approver)
    return client


def now_of(approval: Approval) -> tuple[str, str]:
    """Status of the run, and the decision."""
    approval.refresh_from_db()
    return Run.objects.get(pk=approval.run_id).status, approval.decision
