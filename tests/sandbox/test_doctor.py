"""The doctor says what holds on this machine, to people, programs and pages alike."""

import html
import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from security.models import User
from security.sandbox import abilities, engine, probes, remedies
from security.sandbox.cgroups import Delegation
from security.sandbox.levels import Level
from security.sandbox.probes import probe
from tests.sandbox.engine import engine_running

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db]


@pytest.fixture
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    probe.cache_clear()
    abilities._forked.cache_clear()
    abilities._network.cache_clear()
    for module in (probes, remedies):
        monkeypatch.setattr(module, "bubblewrap", lambda: None)
    yield
    probe.cache_clear()


def said(*words: str) -> str:
    out = StringIO()
    call_command("doctor", *words, stdout=out)
    return out.getvalue()


def test_it_says_what_holds() -> None:
    text = said()
    assert "ok      isolated" in text
    assert "ok      confined" in text
    found = json.loads(said("--json"))
    assert found["well"] is True
    assert {each["level"]: each["holds"] for each in found["levels"]} == {
        "isolated": True,
        "confined": True,
        "process": True,
    }
    assert {each["name"]: each["holds"] for each in found["abilities"]} | dict.fromkeys(
        ("container", "vm", "node packages", "control groups"), 0
    ) == {
        "forked calls": True,
        "hosts to reach": True,
        "wasm": True,
        "wheels": True,
        "container": 0,
        "vm": 0,
        "node packages": 0,
        "control groups": 0,
    }
    assert found["isolation"] == dict.fromkeys(("none", "basic", "strict", "paranoid"), "isolated")


def test_it_says_what_runtimes_need(settings: Any, tmp_path: Path) -> None:
    settings.CONTAINER_SOCKET = str(tmp_path / "gone.sock")
    text = said()
    assert "MISSING container" in text
    assert "MISSING vm" in text
    assert "→ For virtual machines add " in text
    with engine_running(tmp_path / "here.sock") as engine:
        settings.CONTAINER_SOCKET = engine.place
        engine.runtimes["runsc"] = {}
        text = said()
        assert "ok      container      an engine answers\n" in text
        assert "ok      vm             an engine answers, and makes machines with runsc" in text


def test_it_says_what_is_missing_and_what_helps(without_bubblewrap: None) -> None:
    text = said()
    assert "MISSING isolated" in text
    assert "→ Install bubblewrap: `apt-get install bubblewrap`." in text
    assert "paranoid  refused" in text
    assert "MISSING hosts to reach It needs the level isolated" in text


def test_without_any_level_it_fails(without_bubblewrap: None, monkeypatch: pytest.MonkeyPatch) -> None:
    impossible = {level: {"works": False} for level in probes.PROMISED}
    monkeypatch.setattr(probes, "PROMISED", impossible)
    with pytest.raises(SystemExit) as ended:
        said()
    assert ended.value.code == 1


def test_the_page_shows_the_same(without_bubblewrap: None, client: Client, admin: User) -> None:
    client.force_login(admin)
    body = client.get("/settings/sandbox/").content.decode()
    assert "bubblewrap is not installed" in body
    assert "<code>apt-get install bubblewrap</code>" in body
    assert "Confined" in body


@pytest.mark.parametrize(
    ("says", "remedy"),
    [
        ({"_APPARMOR": "1\n"}, "AppArmor profile with `userns,`"),
        ({"_CLONE": "0\n"}, "kernel.unprivileged_userns_clone=1"),
        ({"_MOST": "0\n"}, "user.max_user_namespaces=15000"),
        ({"_DOCKER": ""}, "a seccomp profile with clone, unshare, mount and pivot_root"),
    ],
)
def test_it_knows_machines_by_what_they_say_of_themselves(
    says: dict[str, str], remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ubuntu's AppArmor, kernels that allow no user namespaces, and containers."""
    for name, text in says.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(remedies, name, tmp_path / name)
    refused = remedies.remedies_of(Level.ISOLATED, "bwrap: setting up uid map: Permission denied")
    assert remedy in " ".join(refused)


def test_it_knows_a_pod_and_a_masked_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    said = " ".join(remedies.remedies_of(Level.ISOLATED, "bwrap: Can't mount proc on /newroot/proc"))
    assert "`procMount: Unmasked` in Kubernetes, `systempaths=unconfined` in Docker" in said
    assert "Let the container make namespaces" in said


def test_text_json_and_page_tell_the_same(
    without_bubblewrap: None, client: Client, admin: User, settings: Any, tmp_path: Path
) -> None:
    """Each level, ability and fact with its words and, where it is missing, what would help."""
    settings.CONTAINER_SOCKET, settings.CGROUP = str(tmp_path / "gone.sock"), "off"
    found, text = json.loads(said("--json")), said()
    client.force_login(admin)
    body = re.sub(r"<[^>]+>", "", client.get("/settings/sandbox/").content.decode())
    page = " ".join(html.unescape(body).split())
    missing = [each for each in (*found["levels"], *found["abilities"]) if not each["holds"]]
    assert {each.get("level") or each["name"] for each in missing} >= {"isolated", "vm", "control groups"}
    words = [each.get("reason") or each["said"] for each in missing]
    words += [each["said"] for each in found["abilities"]]
    words += [remedy for each in missing for remedy in each["remedies"]]
    words += [*found["facts"], *found["facts"].values()]
    assert all(each["remedies"] for each in missing)
    for each in words:
        assert each in text
        shown = each.replace("`", "")
        assert shown in page or shown[:1].upper() + shown[1:] in page, each


def test_it_says_what_control_groups_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abilities, "delegation", lambda: Delegation(Path("/x"), ("memory",)))
    found = abilities._groups()
    assert (found.holds, found.said) == (False, "each run has one, without cpu, pids")
    assert "`Delegate=cpu memory pids`" in found.remedies[0]
    monkeypatch.setattr(abilities, "delegation", lambda: Delegation(Path("/x"), ("cpu", "memory", "pids")))
    assert abilities._groups().holds


def test_it_says_whether_kata_can_be(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for there, remedy in (
        (True, "add Kata Containers"),
        (False, "Kata Containers needs /dev/kvm, which is not here"),
    ):
        monkeypatch.setattr(engine.os.path, "exists", lambda _, there=there: there)
        assert remedy in engine.unavailable("vm", True, "no").suggestions[-1]
