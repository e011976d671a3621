"""`manage.py demo_create`: the admin account and a persona to try the hub with."""

import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from registry.models import Assignment, Package
from registry.services import assignment_create
from security.models import Persona, User
from security.services import persona_create, token_create
from security.tokens import principal_find

TOKEN_DAYS = 30


class Command(BaseCommand):
    help = "Makes what is missing of: an admin (password shown once), the persona `demo`, its token."

    def handle(self, *args: Any, **options: Any) -> None:
        admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first() or self._admin()
        persona = Persona.objects.filter(name="demo").first() or persona_create(
            by=admin,
            name="demo",
            title="Demo",
            description="Made at the first start, to try the built-in tools.",
        )
        for package in Package.objects.filter(name__startswith="toolhub-"):
            if not Assignment.objects.filter(persona=persona, package=package).exists():
                assignment_create(by=admin, persona=persona, package=package)
        self._token(admin, persona, settings.DATA / "demo_token")

    def _admin(self) -> User:
        password = secrets.token_urlsafe(12)
        admin = User.objects.create_superuser("admin", password=password)
        self.stdout.write(
            f"Sign in as admin with the password {password} (shown this once; change it after signing in)."
        )
        return admin

    def _token(self, admin: User, persona: Persona, file: Path) -> None:
        kept = file.read_text(encoding="ascii").strip() if file.exists() else ""
        found = principal_find(kept)
        if found and found[1] == "valid":
            return
        _, text = token_create(by=admin, persona=persona, name="printed at the start", days=TOKEN_DAYS)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(text)
