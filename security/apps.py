"""The app's registration with Django."""

from django.apps import AppConfig

from security.redaction import records_watch


class SecurityConfig(AppConfig):
    name = "security"

    def ready(self) -> None:
        """Log records are made so that what must not be told can be taken out."""
        import security.checks  # noqa: F401, PLC0415
        from core.outbox.kinds import kind_register  # noqa: PLC0415
        from security.accounts.invitations import InvitationMail  # noqa: PLC0415
        from security.accounts.notices import NoticeMail  # noqa: PLC0415
        from security.second_factor import records_connect  # noqa: PLC0415  (allauth's models are ready now)

        kind_register(InvitationMail())
        kind_register(NoticeMail())
        records_watch()
        records_connect()
