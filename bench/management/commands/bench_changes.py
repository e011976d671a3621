"""`manage.py bench_changes`: for each line of its input, a number of seconds, changes rights for so long.

The rights are those of a persona that calls nothing. Prints how many changes it made, and how many it should
have made.
"""

import sys
import time
from typing import Any

from django.core.management.base import BaseCommand

from bench.management.commands.bench_prepare import ELSEWHERE
from security.models import Persona, User
from security.services import grant_create, grant_revoke

PER_SECOND = 10
CAPABILITY = "bench:read"


class Command(BaseCommand):
    help = "Grants a capability to a persona and takes it back, ten changes a second."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        admin, persona = User.objects.get(username="admin"), Persona.objects.get(name=ELSEWHERE)
        for line in sys.stdin:
            wanted = round(float(line) * PER_SECOND)
            self.stdout.write(f"{_changed(admin, persona, wanted)} {wanted}")
            self.stdout.flush()


def _changed(admin: User, persona: Persona, wanted: int) -> int:
    """Makes the changes at an even pace, and stops when the time is over; how many were made."""
    begun, made = time.monotonic(), 0
    grant = persona.grants.filter(capability=CAPABILITY).first()
    while made < wanted:
        time.sleep(max(0.0, begun + made / PER_SECOND - time.monotonic()))
        if time.monotonic() - begun > wanted / PER_SECOND:
            break
        if grant is None:
            grant = grant_create(by=admin, persona=persona, capability=CAPABILITY, reason="bench")
        else:
            grant_revoke(by=admin, grant=grant)
            grant = None
        made += 1
    return made
