"""`manage.py demo_seed` (`make seed`): a world to look at. Made through the services only, once."""

import os
from collections import Counter
from datetime import timedelta
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from core.errors import ToolHubError
from execution.engine.perform import queue_work
from execution.engine.queues import DEFAULT
from execution.engine.requests import CallRequest
from execution.engine.submit import Manner, run_submit
from execution.models import Run
from registry.models import Package, Tool
from registry.selectors import tools_assigned
from registry.services import assignment_create
from security.models import Persona, Token, User
from security.principals import PersonaPrincipal
from security.services import grant_create, persona_create, persona_switch, token_create
from security.tokens import principal_of
from toolhub.management.demo_world import WORLD, Cast, Planned, calls_of, names, runs_planned


class Command(BaseCommand):
    help = "Makes personas with rights and tokens, and about 300 runs. A second call makes what is missing."

    def handle(self, *args: Any, **options: Any) -> None:
        # All that the hub writes is for its own account only.
        os.umask(0o077)
        admin = self._hub()
        made: Counter[str] = Counter()
        for cast in WORLD:
            with transaction.atomic():
                persona = self._persona(admin, cast, made)
            if self._calls(persona, cast, made):
                if not cast.active:
                    persona_switch(by=admin, persona=persona, on=False)
                self._refused(persona, cast, made)
        self._tell(made)

    def _hub(self) -> User:
        """Tables, built-in tools and the admin, where they are missing; gives the admin."""
        said = StringIO()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("catalogue_sync", verbosity=0, stdout=StringIO())
        call_command("demo_create", stdout=said)
        if said.getvalue():
            self.stdout.write(said.getvalue().strip())
        admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
        if admin is None:
            raise CommandError("There is no active admin.")
        return admin

    def _persona(self, admin: User, cast: Cast, made: Counter[str]) -> Persona:
        """The persona with all that it holds; one that is there is left as it is."""
        found = Persona.objects.filter(name=cast.name).first()
        if found:
            return found
        persona = persona_create(by=admin, name=cast.name, title=cast.title, description=cast.description)
        for package in Package.objects.filter(name__in=cast.packages):
            assignment_create(by=admin, persona=persona, package=package)
        for tool in Tool.objects.filter(name__in=cast.tools):
            assignment_create(by=admin, persona=persona, tool=tool)
        for given in cast.grants:
            ends = timezone.now() + timedelta(days=given.days) if given.days else None
            grant_create(
                by=admin, persona=persona, capability=given.capability, reason=given.reason, expires_at=ends
            )
        for name, days in cast.tokens.items():
            token_create(by=admin, persona=persona, name=name, days=days)
        made["personas"] += 1
        made["grants"] += len(cast.grants)
        made["tokens"] += len(cast.tokens)
        return persona

    def _calls(self, persona: Persona, cast: Cast, made: Counter[str]) -> bool:
        """Makes the runs that are not there yet; false when none was missing."""
        tools = list(tools_assigned(persona.pk).values_list("name", flat=True))
        missing = calls_of(cast, tools)[Run.objects.filter(persona=persona).count() :]
        principal = self._principal(persona)
        if not missing or principal is None or not persona.is_active:
            return False
        for planned in missing:
            _submit(principal, planned)
        made["runs"] += len(missing)
        # What a worker of a running hub has not taken meanwhile.
        made["of them as a worker does"] += queue_work(DEFAULT)
        return True

    def _refused(self, persona: Persona, cast: Cast, made: Counter[str]) -> None:
        principal = self._principal(persona)
        if principal is None:
            return
        for planned in cast.refused:
            try:
                _submit(principal, planned)
            except ToolHubError as error:
                made[f"refused {error.known.status}"] += 1

    def _principal(self, persona: Persona) -> PersonaPrincipal | None:
        """The caller as its first token makes it; its rights are read anew."""
        token = Token.objects.filter(persona=persona, revoked_at=None).order_by("pk").first()
        return principal_of(token.pk)[0] if token else None

    def _tell(self, made: Counter[str]) -> None:
        if not made:
            self.stdout.write(f"The demo world is there already: {', '.join(names())}.")
            return
        for what, count in made.items():
            self.stdout.write(f"  {count:>4} {what}")
        states = Counter(Run.objects.filter(persona__name__in=names()).values_list("status", flat=True))
        shown = ", ".join(f"{count} {status}" for status, count in sorted(states.items()))
        self.stdout.write(f"The demo world has {sum(states.values())} of {runs_planned()} runs: {shown}.")


def _submit(principal: PersonaPrincipal, planned: Planned) -> Run:
    request = CallRequest(planned.arguments, context=planned.context)
    manner = Manner(float(settings.WAIT_DEFAULT_S), detached=planned.detached)
    return run_submit(principal=principal, name=planned.tool, request=request, manner=manner)
