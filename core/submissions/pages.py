"""One-time keys of the console's forms: a form that is sent twice is carried out once."""

import hashlib
import re
from collections.abc import Callable
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from core.json.canonical import canonical
from core.submissions.models import Submission
from core.submissions.services import Result, submit_once

FIELD = "form_key"
TWICE = "You sent this form twice. It was carried out once; this is the result."
_KEY = re.compile(r"[0-9a-f]{32}")
# They say nothing of what is wanted.
_LEFT_OUT = frozenset({FIELD, "csrfmiddlewaretoken"})


class RefusedRedirect(HttpResponseRedirect):
    """Leads on with an error message after a form that was not carried out: its key stays unused."""


class ShownOnce(HttpResponse):
    """A page that shows a secret once. `place` is where the thing is found later, with `notice`."""

    place: str
    notice: str

    @classmethod
    def of(cls, response: HttpResponse, place: str, notice: str) -> "ShownOnce":
        """The same page."""
        made = cls(response.content, status=response.status_code)
        made.place, made.notice = place, notice
        return made


def refused(request: HttpRequest, words: str, to: str) -> RefusedRedirect:
    """Lead back to `to` with the words of what was refused."""
    messages.error(request, words)
    return RefusedRedirect(to)


def form_key_new() -> str:
    """A one-time key for a form."""
    return uuid4().hex


def form_key_of(request: HttpRequest) -> str:
    """The one-time key of the form that was sent; empty without one."""
    key = request.POST.get(FIELD, "") if request.method == "POST" else ""
    return key if _KEY.fullmatch(key) else ""


def form_once(request: HttpRequest, act: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Answer a form by `act`, or lead to what it made when it was sent before, with the same content."""
    key = form_key_of(request)
    if not key:
        return act()
    digest = _digest(request)
    done = submit_once(
        owner=f"person:{request.user.pk}",
        # The same key with other content is another form: its sender went back and changed it.
        key=f"form:{key}:{digest[:32]}",
        digest=digest,
        act=lambda: _result(act()),
    )
    if not isinstance(done, Submission):
        return done
    messages.info(request, done.notice or TWICE)
    return HttpResponseRedirect(done.place)


def _result(response: HttpResponseBase) -> Result[HttpResponseBase]:
    if isinstance(response, ShownOnce):
        return Result(response, response.place, response.notice)
    if isinstance(response, HttpResponseRedirect) and not isinstance(response, RefusedRedirect):
        return Result(response, response.url)
    return Result(response, None)


def _digest(request: HttpRequest) -> str:
    """The SHA-256 of a form's address, fields and files."""
    fields = {name: values for name, values in request.POST.lists() if name not in _LEFT_OUT}
    files = []
    for name, sent in request.FILES.lists():
        for file in sent:
            files.append([name, file.name, hashlib.file_digest(file, "sha256").hexdigest()])
            file.seek(0)
    return hashlib.sha256(canonical([request.get_full_path(), fields, files])).hexdigest()
