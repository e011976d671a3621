"""What people and workers do to one package at the same time, and in an order that nobody planned."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from core.errors import Conflict, Denied
from registry.catalogue import catalogue_sync
from registry.installations import worker
from registry.installations.approval import installation_approve
from registry.installations.care import installations_tidy
from registry.installations.job import Job, job_claim
from registry.installations.models import Installation
from registry.installations.services import (
    installation_cancel,
    installation_get,
    installation_retry,
    installation_start,
)
from registry.installations.source_form import Source
from registry.installations.worker import installations_work, job_perform
from registry.models import Archive, Package, Release, Tool, ToolVersion
from registry.releases.activation import release_activate
from registry.releases.difference import CHANGES_MAX, releases_compare
from registry.releases.lifecycle import release_restore
from registry.releases.uninstall import package_uninstall
from security.facts import GrantFact, Standing
from security.models import Persona, User
from security.principals import PersonaPrincipal
from tests.installations import packages
from tests.installations.conftest import Install

pytestmark = pytest.mark.django_db(transaction=True)


def removed(admin: User) -> None:
    package_uninstall(by=admin, package=Package.objects.get(name="greetings"), force=True)


def started(by: User | PersonaPrincipal) -> Installation:
    return installation_start(by=by, source=Source("upload", "x.zip"), content=packages.zipped())


def claimed() -> Job:
    job = job_claim()
    assert job is not None
    return job


def again(one: Installation) -> Installation:
    return installation_get(str(one.pk))


def test_a_new_version_of_a_removed_package_is_installed_and_can_be_removed(
    admin: User, install: Install
) -> None:
    install(version="1.0.0")
    removed(admin)
    assert install(version="2.0.0").status == "published"
    assert Package.objects.get(name="greetings").uninstalled_at is None
    removed(admin)
    assert Tool.objects.get(name="greet").active is None


def test_a_removed_release_is_used_again_only_after_it_was_installed_again(
    admin: User, install: Install
) -> None:
    install(version="1.0.0")
    install(version="2.0.0")
    removed(admin)
    install(version="2.0.0")
    old = Release.objects.get(package__name="greetings", version="1.0.0")
    for act in (release_restore, release_activate):
        with pytest.raises(Conflict):
            act(by=admin, release=old)
    assert install(version="1.0.0").status == "published"
    assert Archive.objects.filter(pk=old.digest).exists()
    assert str(Tool.objects.get(name="greet").active) == "greet 2.0.0"
    release_activate(by=admin, release=old)
    assert str(Tool.objects.get(name="greet").active) == "greet 1.0.0"


def test_removing_and_installing_again_is_no_way_out_of_quarantine(admin: User, install: Install) -> None:
    install(version="1.0.0")
    ToolVersion.objects.filter(tool__name="greet").update(state="quarantined")
    removed(admin)
    install(version="1.0.0")
    assert ToolVersion.objects.get(tool__name="greet").state == "quarantined"


def test_a_release_that_comes_back_has_the_lock_that_was_reviewed(admin: User, install: Install) -> None:
    install(version="1.0.0")
    Release.objects.filter(package__name="greetings").update(lock="old==1\n")
    removed(admin)
    one = install(version="1.0.0")
    assert one.release is not None
    assert one.release.lock == one.lock == ""


def test_nobody_publishes_into_a_package_of_the_hub(install: Install) -> None:
    catalogue_sync(django_settings.CATALOGUE)
    for name in ("toolhub-data", "toolhub-other", "toolhub"):
        one = install(version="99.0.0", name=name, tools=[packages.tool("echo")])
        assert (one.status, one.step, one.error["code"]) == ("failed", "verify", "INVALID_MANIFEST")
        assert one.error["details"]["errors"][0]["pointer"] == "/name"
    assert install(name="toolhubs").status == "published"
    assert Tool.objects.get(name="echo").active.runner == "builtin"  # type: ignore[union-attr]


def test_a_cancel_that_the_heart_did_not_hear_of_stops_before_the_review(admin: User) -> None:
    one = started(admin)
    job = claimed()
    installation_cancel(by=admin, installation=one)
    job_perform(job)
    assert again(one).status == "cancelled"
    assert not Archive.objects.exists()


def test_a_cancel_while_it_is_published_publishes_nothing(
    admin: User, fetch: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fetch()
    installation_approve(by=admin, installation=one, digest=one.digest)
    job, publish = claimed(), worker.ACTS["publish"]

    def late(job: Job) -> None:
        installation_cancel(by=admin, installation=one)
        publish(job)

    monkeypatch.setitem(worker.ACTS, "publish", late)
    job_perform(job)
    assert again(one).status == "cancelled"
    assert not Release.objects.filter(package__name="greetings").exists()


def test_what_is_fetched_anew_is_reviewed_anew(admin: User, fetch: Install) -> None:
    one = fetch()
    choices: dict[str, Any] = {"activate": True, "by": one.asked_by}
    old = timezone.now() - timedelta(days=2)
    rows = Installation.objects.filter(pk=one.pk)
    rows.update(source_type="git", status="failed", step="self_test", choices=choices, finished_at=old)
    assert installations_tidy() == 1
    now = installation_retry(by=admin, installation=again(one))
    assert (now.step, now.choices, now.digest) == ("fetch", {}, "")


def test_the_steward_leaves_what_was_taken_up_again(admin: User, fetch: Install) -> None:
    one = fetch(name="Not a name")
    assert one.status == "failed"
    Installation.objects.filter(pk=one.pk).update(finished_at=timezone.now() - timedelta(days=2))
    installation_retry(by=admin, installation=one)
    assert installations_tidy() == 0
    installations_work()
    assert again(one).error["code"] == "INVALID_MANIFEST"


def test_who_lost_the_lease_is_silent_and_disturbs_nobody(admin: User) -> None:
    one = started(admin)
    lost = claimed()
    Installation.objects.filter(pk=one.pk).update(status="queued", lease_token=None)
    holder = claimed()
    lost.say("nobody hears this")
    holder.say("first")
    holder.say("second")
    assert list(one.lines.values_list("seq", "text")) == [(1, "first"), (2, "second")]


def test_an_agent_cannot_say_that_code_was_read(admin: User, persona: Persona) -> None:
    grants = (GrantFact("toolhub:packages", None),)
    agent = PersonaPrincipal(persona.pk, persona.name, True, 1, admin.pk, "admin", True, grants, Standing())
    one = started(agent)
    installations_work()
    one = again(one)
    with pytest.raises(Denied):
        installation_approve(by=agent, installation=one, digest=one.digest, reviewed=True)
    installation_approve(by=agent, installation=one, digest=one.digest)


def test_a_contract_that_comes_as_a_whole_asks_for_care_and_many_changes_hide_nothing() -> None:
    bare = {name: value for name, value in packages.tool("zzz").items() if name != "_meta"}
    before = packages.manifest(config={"properties": {}}, tools=[bare])
    noise = {f"x{number}": {} for number in range(CHANGES_MAX)}
    wants = packages.tool("zzz", requiredCapabilities=["*"])
    changes = releases_compare(before, packages.manifest(config={"properties": noise}, tools=[wants]))
    assert len(changes) == CHANGES_MAX
    assert [one.pointer for one in changes if one.careful] == ["/_meta"]
