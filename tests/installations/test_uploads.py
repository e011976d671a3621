"""Uploads by somebody who means harm: what the form's body says of a file is not believed, and never a 500."""

import io
import zipfile
from typing import Any

import pytest
from django.test import Client

from core.middleware import PAGE_BODY_MAX
from registry.installations.models import Installation
from registry.installations.worker import installations_work
from security.models import User
from tests.installations import packages

pytestmark = pytest.mark.django_db(transaction=True)
HERE = "/install/"
EDGE = b"----edge"


@pytest.fixture
def eyes(admin: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(admin)
    return client


def part(head: bytes, content: bytes) -> bytes:
    return b"--" + EDGE + b"\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + content + b"\r\n"


def file_part(content: bytes, filename: bytes = b"a.zip", kind: bytes = b"application/zip") -> bytes:
    return part(b'name="file"; filename="' + filename + b'"\r\nContent-Type: ' + kind, content)


def send(
    client: Client, *parts: bytes, ends: bytes = b"--" + EDGE + b"--\r\n", edge: str = "----edge"
) -> Any:
    body = b"".join((part(b'name="type"', b"upload"), *parts, ends))
    return client.post(HERE, data=body, content_type=f"multipart/form-data; boundary={edge}")


def newest() -> Installation:
    return Installation.objects.latest("created_at")


@pytest.mark.parametrize("kind", [b"text/html", b"image/svg+xml", b"application/x-php; charset=\xff", b""])
def test_a_type_that_lies_changes_nothing(eyes: Client, kind: bytes) -> None:
    assert send(eyes, file_part(packages.zipped(), kind=kind)).status_code == 302
    installations_work()
    assert newest().status == "awaiting_review", newest().error


@pytest.mark.parametrize(
    "content",
    [
        b"<script>alert(1)</script>",
        b"GIF89a" + b"\0" * 64,
        b"%PDF-1.7",
        b"\x7fELF",
        b"#!/bin/sh\nid\n",
        b"PK\x03\x04",
    ],
)
def test_what_is_no_zip_is_refused_whatever_it_calls_itself(eyes: Client, content: bytes) -> None:
    assert send(eyes, file_part(content)).status_code == 302
    installations_work()
    one = newest()
    assert (one.status, one.error["code"]) == ("failed", "PACKAGE_REFUSED")
    page = eyes.get(f"/installations/{one.pk}/")
    assert page.status_code == 200
    assert b"<script>alert" not in page.content


@pytest.mark.parametrize(
    "name",
    [
        b"../../../../etc/cron.d/evil.zip",
        b"..\\..\\windows\\evil.zip",
        b"/etc/passwd",
        b"C:\\Users\\x\\evil.zip",
        b"&#46;&#46;&#47;evil.zip",
        b"%2e%2e%2fevil.zip",
        "e\u202evil\u200b.zip".encode(),
        b"a\0b.zip",
        b"\xff\xfe.zip",
        b"<img src=x onerror=alert(1)>.zip",
        b"x" * 5_000 + b".zip",
        b'a"; filename="b.zip',
    ],
)
def test_a_name_is_a_name_and_leads_nowhere(eyes: Client, name: bytes) -> None:
    answer = send(eyes, file_part(packages.zipped(), name))
    assert answer.status_code in {302, 400, 422}
    if answer.status_code == 302:
        said = newest().location
        assert len(said) <= 200
        assert not set(said) & set("/\\\0\r\n\u202e\u200b")
        page = eyes.get(f"/installations/{newest().pk}/")
        assert page.status_code == 200
        assert b"<img src=x" not in page.content
    assert eyes.get("/installations/").status_code == 200


def test_an_archive_within_an_archive_stays_a_file(eyes: Client) -> None:
    """What lies in it is neither unpacked nor looked for, be it a bomb or a way out."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("../../evil.py", "evil")
        made.writestr("bomb", b"\0" * 30_000_000)
    outer = io.BytesIO(packages.zipped())
    with zipfile.ZipFile(outer, "a") as made:
        made.writestr("data/inner.zip", inner.getvalue())
    assert send(eyes, file_part(outer.getvalue())).status_code == 302
    installations_work()
    assert newest().status == "awaiting_review", newest().error
    # Nothing but an archive in an archive is no package.
    alone = io.BytesIO()
    with zipfile.ZipFile(alone, "w") as made:
        made.writestr("package.zip", packages.zipped())
    assert send(eyes, file_part(alone.getvalue())).status_code == 302
    installations_work()
    assert newest().status == "failed"


BROKEN: dict[str, Any] = {
    "cut within the file": lambda c: send(c, file_part(packages.zipped())[:-400], ends=b""),
    "cut within a head": lambda c: send(
        c, b"--" + EDGE + b'\r\nContent-Disposition: form-data; name="fi', ends=b""
    ),
    "no end": lambda c: send(c, file_part(b"x"), ends=b""),
    "another edge": lambda c: send(c, file_part(packages.zipped()), edge="other"),
    "no edge": lambda c: c.post(HERE, data=b"x", content_type="multipart/form-data"),
    "an endless edge": lambda c: send(c, edge="e" * 500),
    "an edge of no letters": lambda c: c.post(
        HERE, data=b"x", content_type="multipart/form-data; boundary=\xff"
    ),
    "a part without a name": lambda c: send(c, part(b'filename="a.zip"', b"x")),
    "a file that is a field": lambda c: send(c, part(b'name="file"', b"x")),
    "wrong base64": lambda c: send(
        c, part(b'name="file"; filename="a.zip"\r\nContent-Transfer-Encoding: base64', b"====\xff")
    ),
    "2,000 fields": lambda c: send(c, *(part(b'name="f%d"' % n, b"x") for n in range(2_000))),
    "200 files": lambda c: send(c, *(file_part(b"x") for _ in range(200))),
    "a head of 100 KB": lambda c: send(
        c, part(b'name="file"; filename="a.zip"\r\nX: ' + b"x" * 100_000, b"x")
    ),
    "an empty file": lambda c: send(c, file_part(b"")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_body_starts_nothing_and_is_told(eyes: Client, name: str) -> None:
    answer = BROKEN[name](eyes)
    assert answer.status_code in {400, 413, 422}, answer.status_code
    assert not Installation.objects.exists()
    assert b"Traceback" not in answer.content
    assert eyes.get(HERE).status_code == 200


def test_a_body_that_says_it_is_huge_is_not_read(eyes: Client) -> None:
    """From nobody neither: Django reads each form's body, files too, before it looks whose it is."""
    for client in (eyes, Client(raise_request_exception=False)):
        for path in (HERE, "/sign-in/"):
            content = {"data": b"x", "content_type": "multipart/form-data; boundary=e"}
            answer = client.generic("POST", path, **content, CONTENT_LENGTH=str(PAGE_BODY_MAX + 1))
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "TOO_LARGE")
