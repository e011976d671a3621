"""`manage.py chaos_prepare`: makes tables, tools and a persona with a token, and prints the token."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from registry.catalogue import catalogue_sync
from registry.models import Package
from registry.services import assignment_create
from security.models import User
from security.services import persona_create, token_create


class Command(BaseCommand):
    help = "Makes tables, tools and a persona, and prints its token."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        catalogue_sync(settings.CATALOGUE)
        admin = User.objects.create_superuser("admin")
        persona = persona_create(by=admin, name="chaos")
        for package in Package.objects.all():
            assignment_create(by=admin, persona=persona, package=package)
        self.stdout.write(token_create(by=admin, persona=persona, name="chaos")[1])
