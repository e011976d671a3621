"""The files of production: what can be held without an engine to run them."""

import json
import os
import re
import shlex
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

from toolhub.env import VARIABLES
from toolhub.management.commands.process import Command as Process

ROOT = Path(settings.ROOT)
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
KUBERNETES = "1.33"
HUB = ("prepare", "web", "worker", "steward")


def known(name: str) -> bool:
    variable = VARIABLES.get(name.removesuffix("_FILE"))
    return variable is not None and (not name.endswith("_FILE") or variable.secret)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in MANIFESTS:
        for document in yaml.safe_load_all(file.read_text()):
            yield f"{file.name} {document['kind']} {document['metadata']['name']}", document


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, document in documents():
        if document["kind"] in {"Deployment", "Job"}:
            yield name, document["spec"]["template"]["spec"]


def test_every_setting_in_the_files_exists(compose: dict[str, Any]) -> None:
    named = set(re.findall(r"TOOLHUB_[A-Z_]+", (ROOT / "Dockerfile").read_text()))
    for service in compose["services"].values():
        named |= {name for name in service.get("environment", {}) if name.startswith("TOOLHUB_")}
    for _, document in documents():
        named |= set(document.get("data", {}))
    assert {name for name in named if not known(name)} == set()
    assert "TOOLHUB_DATABASE_URL_FILE" in named


def test_mail_and_the_provider_are_set_in_both_and_empty_they_are_off(compose: dict[str, Any]) -> None:
    example = (DEPLOY / "settings.env.example").read_text()
    offered = dict(re.findall(r"^# (TOOLHUB_\w+)=(.+)$", example, re.MULTILINE))
    assert {name for name in offered if not known(name)} == set()
    config = next(document for name, document in documents() if document["kind"] == "ConfigMap")["data"]
    wanted = {name for name in VARIABLES if name.startswith(("TOOLHUB_OIDC_", "TOOLHUB_MAIL_"))}
    secret = {f"{name}_FILE" for name in wanted if VARIABLES[name].secret}
    assert secret == {"TOOLHUB_MAIL_URL_FILE", "TOOLHUB_OIDC_CLIENT_SECRET_FILE"}
    plain = {name for name in wanted if not VARIABLES[name].secret}
    assert plain <= set(offered)
    assert {name for name in plain | secret if name not in config} == set()
    for name in ("web", "worker", "steward", "prepare"):
        assert secret <= set(compose["services"][name]["environment"])
    read = "from django.conf import settings as s; print(s.OIDC, repr(s.MAIL_FROM), s.EMAIL_HOST)"
    for given, said in (
        (dict.fromkeys(plain, ""), "None '' localhost"),
        (offered, "'ToolHub <toolhub@example.org>' mail.example.org"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            url = Path(folder) / "mail_url"
            url.write_text("smtp://user:password@mail.example.org:587" if given is offered else "")
            environment = {
                **{name: value for name, value in os.environ.items() if not name.startswith("TOOLHUB_")},
                **{name: value for name, value in given.items() if name.startswith("TOOLHUB_")},
                "TOOLHUB_MAIL_URL_FILE": str(url),
                "TOOLHUB_DATA": folder,
                "DJANGO_SETTINGS_MODULE": "toolhub.settings",
            }
            answer = subprocess.run(
                [sys.executable, "-c", read],
                check=True,
                capture_output=True,
                cwd=ROOT,
                env=environment,
                text=True,
            )
            assert answer.stdout.strip().endswith(said), answer.stdout


def test_every_setting_in_the_docs_of_operations_exists() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    named = set(re.findall(r"TOOLHUB_[A-Z_]+", text)) - {"TOOLHUB_IMAGE"}
    assert {name for name in named if not known(name)} == set()


def test_each_process_is_one_that_there_is(compose: dict[str, Any]) -> None:
    parser = Process().create_parser("manage.py", "process")
    for name in HUB:
        command = compose["services"][name]["command"]
        assert command[0] == "process"
        assert parser.parse_args(command[1:]).name == name
    for name, pod in pods():
        [container] = pod["containers"]
        assert parser.parse_args(container["args"][1:]).name == container["name"], name


def test_nothing_runs_as_root_or_may_become_it(compose: dict[str, Any]) -> None:
    for name in (*HUB, "redis", "proxy"):
        service = compose["services"][name]
        assert service["cap_drop"] == ["ALL"], name
        assert service["read_only"] is True, name
        assert "no-new-privileges:true" in service["security_opt"], name
    assert re.search(r"^USER 10001:10001$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for name, pod in pods():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        rights = pod["containers"][0]["securityContext"]
        assert rights["allowPrivilegeEscalation"] is False, name
        assert rights["readOnlyRootFilesystem"] is True, name
        assert rights["capabilities"] == {"drop": ["ALL"]}, name


def test_database_and_broker_are_reached_from_inside_alone(compose: dict[str, Any]) -> None:
    assert compose["networks"]["inside"]["internal"] is True
    published = {name for name, service in compose["services"].items() if "ports" in service}
    assert published == {"proxy"}
    for name in ("postgres", "redis"):
        assert compose["services"][name]["networks"] == ["inside"]


def test_every_service_has_a_check_of_its_health_and_waits_for_what_it_needs(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert name == "prepare" or service["healthcheck"]["test"], name
    for name in ("web", "worker", "steward"):
        assert (
            compose["services"][name]["depends_on"]["prepare"]["condition"]
            == "service_completed_successfully"
        )


def test_no_secret_has_a_default(compose: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert not re.search(
        r"(?i)(password|secret|token|key)\w*:\s+['\"]?(?!/run/secrets)[\w-]+['\"]?$", text, re.MULTILINE
    )
    assert all(list(secret) == ["file"] for secret in compose["secrets"].values())
    used = {name for service in compose["services"].values() for name in service.get("secrets", [])}
    assert used == set(compose["secrets"])
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def test_secrets_are_made_once_and_differ(tmp_path: Path, compose: dict[str, Any]) -> None:
    script = tmp_path / "make-secrets"
    script.write_text((DEPLOY / "make-secrets").read_text())
    script.chmod(0o755)
    for _ in range(2):
        subprocess.run([str(script)], check=True, capture_output=True)
        made = {file.name: file.read_text() for file in (tmp_path / "secrets").iterdir()}
    files = {Path(secret["file"]).name for secret in compose["secrets"].values()}
    assert files - set(made) == {"tls.crt", "tls.key"}
    assert made["postgres_password"] in made["database_url"]
    assert made["redis_password"] in made["broker_url"]
    assert f"requirepass {made['redis_password']}" in made["redis_conf"]
    assert (
        len({made[name] for name in ("postgres_password", "redis_password", "secret_key", "metrics_token")})
        == 4
    )
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700


def test_the_image_has_what_the_hub_imports_and_nothing_of_development() -> None:
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    copied = {shlex.split(line)[1] for line in lines if line.startswith("COPY") and "--from" not in line}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - copied == {"bench", "chaos", "tests"} & packages
    assert all((ROOT / name).exists() for name in copied)
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert {
        name for name in copied if f"!{name}" not in kept and not name.startswith("requirements")
    } == set()


@pytest.mark.parametrize(
    ("name", "document"), list(documents()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_manifest_is_one_of_kubernetes(name: str, document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_every_file_in_a_setting_lies_in_the_secret_that_the_docs_make() -> None:
    config = next(document for name, document in documents() if document["kind"] == "ConfigMap")
    files = {Path(value).name for name, value in config["data"].items() if name.endswith("_FILE")}
    text = (ROOT / "docs" / "operations.md").read_text()
    assert {name for name in files if f"--from-file={name}=" not in text} == set()


def test_the_workers_profile_leaves_bubblewrap_what_it_needs() -> None:
    profile = json.loads((DEPLOY / "worker-seccomp.json").read_text())
    refused = {name for rule in profile["syscalls"] for name in rule["names"]}
    needed = {
        "clone",
        "clone3",
        "unshare",
        "mount",
        "umount2",
        "pivot_root",
        "setns",
        "seccomp",
        "prctl",
        "chroot",
    }
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert not refused & needed
    assert {"bpf", "kexec_load", "init_module", "perf_event_open"} <= refused


def test_the_proxy_lets_events_through_as_they_come_and_writes_who_asks() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    streams = next(part for part in text.split("location ") if part.startswith("~"))
    assert "proxy_buffering off" in streams
    pattern = streams.split()[1]
    assert re.match(pattern, "/api/v1/runs/01890a5d-ac96-774b-bcce-b302099a8057/events")
    assert not re.match(pattern, "/api/v1/runs/01890a5d-ac96-774b-bcce-b302099a8057")
    for header in ("X-Forwarded-For $remote_addr", "X-Forwarded-Proto https"):
        assert f"proxy_set_header {header};" in text


def test_what_the_docs_say_backs_up_a_hub_on_sqlite_that_goes_on(tmp_path: Path) -> None:
    [commands] = re.findall(
        r"```sh\n([^`]*VACUUM INTO[^`]*)```", (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    )
    data = tmp_path / "var"
    data.mkdir()
    for name in ("secret_key", "vault_key"):
        (data / name).write_text(name)
    hub = sqlite3.connect(data / "toolhub.sqlite3", isolation_level=None)
    hub.executescript("PRAGMA journal_mode = WAL; CREATE TABLE run (id); INSERT INTO run VALUES (1)")
    subprocess.run(
        ["sh", "-ec", commands.replace(".venv/bin/python", sys.executable)], cwd=tmp_path, check=True
    )
    hub.execute("INSERT INTO run VALUES (2)")
    hub.close()
    kept = tmp_path / "backup"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {path.name for path in kept.iterdir()} == {"toolhub.sqlite3", "secret_key", "vault_key"}
    assert sqlite3.connect(kept / "toolhub.sqlite3").execute("SELECT id FROM run").fetchall() == [(1,)]
