"""Settings from the environment: loud on a bad value, secrets also from files, misspelt names told."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from toolhub import env as settings_env

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = "k" * 40


def check(tmp_path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`manage.py check` as a process of its own."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("TOOLHUB_", "DJANGO_"))
    }
    return subprocess.run(
        [sys.executable, "manage.py", "check", *arguments],
        cwd=ROOT,
        env={**clean, "TOOLHUB_DATA": str(tmp_path / "data"), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_defaults_are_valid_and_make_a_secret_key_that_nobody_else_can_read(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.returncode == 0, done.stderr
    for name, least in (("secret_key", 50), ("vault_key", 44)):
        key = tmp_path / "data" / name
        assert key.stat().st_mode & 0o777 == 0o600
        assert len(key.read_text()) >= least


def test_processes_that_start_at_the_same_time_agree_on_one_key(tmp_path: Path) -> None:
    barrier = Barrier(8)

    def started(data: Path) -> str:
        barrier.wait(timeout=20)
        return settings_env.secret_key(data)

    with ThreadPoolExecutor(8) as pool:
        for each in range(40):
            data = tmp_path / str(each)
            keys = set(pool.map(started, [data] * 8))
            assert keys == {(data / "secret_key").read_text()}
            assert [file.name for file in data.iterdir()] == ["secret_key"]


BAD = {
    "no number": ({"TOOLHUB_WORKERS": "many"}, "TOOLHUB_WORKERS: 'many' is not valid"),
    "too small": ({"TOOLHUB_LEASE_S": "2"}, "a whole number from 3 to 3600 is expected"),
    "too great": ({"TOOLHUB_INLINE_MAX_MS": "30001"}, "a whole number from 0 to 30000 is expected"),
    "no switch": ({"TOOLHUB_INLINE": "perhaps"}, "on or off is expected"),
    "no address": ({"TOOLHUB_URL": "tools.example.org"}, "https://tools.example.org is expected"),
    "an address with a path": (
        {"TOOLHUB_URL": "https://a.example/hub"},
        "https://tools.example.org is expected",
    ),
    "another database": (
        {"TOOLHUB_DATABASE_URL": "mysql://root:hunter2@h/x"},
        "TOOLHUB_DATABASE_URL is not valid",
    ),
    "a database without a name": (
        {"TOOLHUB_DATABASE_URL": "postgres://u@h"},
        "TOOLHUB_DATABASE_URL is not valid",
    ),
    "a provider that knows no hub": (
        {"TOOLHUB_OIDC_ISSUER": "https://id.example.org"},
        "TOOLHUB_OIDC_ISSUER needs TOOLHUB_OIDC_CLIENT_ID",
    ),
    "no way to sign in": ({"TOOLHUB_PASSWORDS": "off"}, "TOOLHUB_PASSWORDS is off: set TOOLHUB_OIDC_ISSUER"),
    "a short key": ({"TOOLHUB_SECRET_KEY": "hunter2"}, "TOOLHUB_SECRET_KEY is too short"),
    "no key of a vault": ({"TOOLHUB_VAULT_KEYS": "hunter2"}, "TOOLHUB_VAULT_KEYS is not valid"),
    "an address without what signs": (
        {"TOOLHUB_APPROVAL_WEBHOOK": "https://chat.example.org/hook"},
        "TOOLHUB_APPROVAL_WEBHOOK_SECRET is not valid",
    ),
    "nothing to sign with": (
        {"TOOLHUB_APPROVAL_WEBHOOK_SECRET": "whsec_hunter2"},
        "TOOLHUB_APPROVAL_WEBHOOK_SECRET is not valid",
    ),
    "no mail server": ({"TOOLHUB_MAIL_URL": "mail://hunter2@h"}, "TOOLHUB_MAIL_URL is not valid"),
    "no port of a mail server": ({"TOOLHUB_MAIL_URL": "smtp://h:99999"}, "TOOLHUB_MAIL_URL is not valid"),
    "no network": ({"TOOLHUB_HTTP_ALLOW": "10.0.0.0/8, 10.0.0.1/99"}, "neither a host nor a network"),
    "a file that is not there": (
        {"TOOLHUB_SECRET_KEY_FILE": "/nowhere/key"},
        "TOOLHUB_SECRET_KEY_FILE cannot be read",
    ),
    "a data folder that cannot be": ({"TOOLHUB_DATA": "/proc/hub"}, "Choose one with TOOLHUB_DATA"),
}
LATE = {
    "no log level": ({"TOOLHUB_LOG_LEVEL": "LOUD"}, "TOOLHUB_LOG_LEVEL"),
    "no broker": ({"TOOLHUB_BROKER_URL": "carrier-pigeon://loft"}, "TOOLHUB_BROKER_URL"),
}


@pytest.mark.parametrize(("env", "sentence"), LATE.values(), ids=LATE)
def test_a_bad_value_of_log_level_and_broker_is_refused_with_a_sentence(
    tmp_path: Path, env: dict[str, str], sentence: str
) -> None:
    done = check(tmp_path, **env)
    assert done.returncode != 0
    assert sentence in (done.stdout + done.stderr).splitlines()[-1]


@pytest.mark.parametrize(("env", "sentence"), BAD.values(), ids=BAD)
def test_a_bad_value_is_refused_with_a_sentence(tmp_path: Path, env: dict[str, str], sentence: str) -> None:
    done = check(tmp_path, **env)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert sentence in said.splitlines()[-1], said[-600:]
    assert "hunter2" not in said


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("nonsense://x\n")
    done = check(tmp_path, TOOLHUB_DATABASE_URL_FILE=str(file))
    assert "TOOLHUB_DATABASE_URL is not valid" in done.stderr


def test_a_secret_and_its_file_at_once_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY)
    done = check(tmp_path, TOOLHUB_SECRET_KEY=KEY, TOOLHUB_SECRET_KEY_FILE=str(file))
    assert done.returncode != 0
    assert "TOOLHUB_SECRET_KEY and TOOLHUB_SECRET_KEY_FILE are both set" in done.stderr.splitlines()[-1]


def test_a_misspelt_name_is_warned_of_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY)
    known = {"TOOLHUB_SECRET_KEY_FILE": str(file), "TOOLHUB_WORKERS": "3", "TOOLHUB_PORT": "8000"}
    done = check(tmp_path, "--fail-level", "WARNING", TOOLHUB_WORKRES="3", **known)
    assert done.returncode != 0
    assert "Did you mean TOOLHUB_WORKERS?" in done.stderr
    assert done.stderr.count("toolhub.W001") == 1


def test_debug_pages_are_an_error_in_production(tmp_path: Path) -> None:
    done = check(tmp_path, "--deploy", TOOLHUB_DEBUG="on")
    assert done.returncode != 0
    assert "toolhub.E001" in done.stderr
