"""`manage.py doctor`: which sandbox levels hold on this machine, whether the sign-in provider answers."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError

from core.outbox.check import MailFound, mail_check
from security.keys import keys_here, keys_problem
from security.oidc.check import Found, provider_check
from security.sandbox.doctor import MADE_OF, Diagnosis, diagnose
from security.sandbox.probes import Probe


class Command(BaseCommand):
    help = "Tries each sandbox level and the sign-in provider; exits 1 where code of others cannot be run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="For programs.")

    def handle(self, *args: Any, **options: Any) -> None:
        found, provider, mail = diagnose(), provider_check(), mail_check()
        asked = {"sign_in": vars(provider) if provider else None, "mail": vars(mail) if mail else None}
        told = {**found.as_dict(), **asked, "keys": {"fingerprints": keys_here(), "problem": _keys_problem()}}
        self.stdout.write(
            json.dumps(told, indent=2)
            if options["json"]
            else _text(found) + _sign_in(provider, mail) + _keys()
        )
        if not found.well:
            sys.exit(1)


def _text(found: Diagnosis) -> str:
    lines = ["Sandbox levels, the strongest first:"]
    for each in found.probes:
        lines += _level(each)
    lines += ["", "What a contract's isolation gets:"]
    lines += [f"  {word:9} {level or 'refused: SANDBOX_UNAVAILABLE'}" for word, level in found.given.items()]
    lines += ["", "Beside the levels:"]
    for one in found.abilities:
        lines.append(f"  {'ok     ' if one.holds else 'MISSING'} {one.name:14} {one.said}")
        lines += [f"          → {remedy}" for remedy in one.remedies if not one.holds]
    lines += ["", "This machine:"]
    return "\n".join([*lines, *(f"  {name:14} {value}" for name, value in found.facts.items())])


def _sign_in(provider: Found | None, mail: MailFound | None) -> str:
    lines = []
    if provider:
        lines += [f"  {_mark(provider.holds)} provider       {provider.said}"]
        lines += [f"          → registered there: {provider.back}"]
    if mail:
        lines += [f"  {_mark(mail.holds)} mail           {mail.said}"]
    return "\n".join(["", "", "For people:", *lines]) if lines else ""


def _keys() -> str:
    lines = [f"  {'ok     '} {kind:14} {', '.join(marks)}" for kind, marks in keys_here().items()]
    problem = _keys_problem()
    if problem:
        lines.append(f"  MISSING {problem}")
    return "\n".join(["", "", "Fingerprints of this process's keys, newest first:", *lines])


def _keys_problem() -> str:
    try:
        return keys_problem()
    except DatabaseError:
        return "The database does not answer, so they were not compared."


def _mark(holds: bool) -> str:
    return "ok     " if holds else "MISSING"


def _level(each: Probe) -> list[str]:
    if each.holds:
        without = "" if each.proc else ", without /proc"
        return [f"  ok      {each.level:9} {MADE_OF[each.level]} (tried in {each.took_ms:.0f} ms{without})"]
    lines = [f"  MISSING {each.level:9} {MADE_OF[each.level]}", f"          {each.reason}"]
    return [*lines, *(f"          → {remedy}" for remedy in each.remedies)]
