"""A zip at an address: by the guarded client, held to the digest that was asked for."""

import hashlib
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from urllib.parse import urljoin

from core.errors import InvalidRequest, ToolHubError
from core.http.check import url_check
from core.http.client import Reply, http_send
from core.http.errors import HttpFailed, HttpRefused
from registry.archives.zips import zip_read
from registry.installations.job import Job
from registry.installations.sources.address_kinds import OPERATOR
from registry.installations.sources.source import Fetched
from registry.installations.sources.zip_address import address_of
from toolhub_sdk.checks.contents import ARCHIVE_BYTES_MAX

REDIRECTS_MAX = 3
SECONDS = 120.0
LOOK_S = 0.1


def url_fetch(job: Job) -> Fetched:
    """The files of the zip. Raises ToolHubError SOURCE_REFUSED, SOURCE_FAILED, DIGEST_MISMATCH."""
    reply = _get(address_of(job.installation), job)
    if reply.status != 200:
        raise ToolHubError(f"The address answers with status {reply.status}.", code="SOURCE_FAILED")
    if not reply.complete:
        raise InvalidRequest(f"The archive is larger than {ARCHIVE_BYTES_MAX} bytes.", code="PACKAGE_REFUSED")
    digest = hashlib.sha256(reply.body).hexdigest()
    job.say(f"SHA-256 of what came: {digest}")
    if digest != job.installation.expected_digest:
        raise ToolHubError(
            "The archive's SHA-256 is not the one that was asked for.",
            code="DIGEST_MISMATCH",
            data={"expected": job.installation.expected_digest, "got": digest},
        )
    return Fetched(zip_read(reply.body), {"fetched_sha256": digest})


def _get(location: str, job: Job) -> Reply:
    """The answer at the end of the redirects, each address checked anew."""
    for _ in range(REDIRECTS_MAX + 1):
        try:
            reply = _ask(location, job)
        except HttpRefused as error:
            allow = f"It can be allowed in TOOLHUB_HTTP_ALLOW ({OPERATOR})."
            raise InvalidRequest(f"The address {error}. {allow}", code="SOURCE_REFUSED") from error
        except HttpFailed as error:
            raise ToolHubError(f"The address cannot be read: {error}.", code="SOURCE_FAILED") from error
        if reply.status not in {301, 302, 303, 307, 308} or "location" not in reply.headers:
            return reply
        location = urljoin(location, reply.headers["location"])
    raise ToolHubError(f"The address leads on more than {REDIRECTS_MAX} times.", code="SOURCE_FAILED")


def _ask(location: str, job: Job) -> Reply:
    """One request, in a thread that is left to its own time limit when somebody cancels."""

    def send() -> Reply:
        url = url_check(location)
        return http_send("GET", url, headers={"Accept": "*/*"}, seconds=SECONDS, most_bytes=ARCHIVE_BYTES_MAX)

    answer: Future[Reply] = Future()

    def work() -> None:
        try:
            answer.set_result(send())
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            answer.set_exception(error)

    threading.Thread(target=work, name="fetch", daemon=True).start()
    while True:
        job.check()
        with suppress(FutureTimeoutError):
            return answer.result(LOOK_S)
