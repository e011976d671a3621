"""The app's registration with Django."""

from django.apps import AppConfig

from security.redaction import records_watch


class SecurityConfig(AppConfig):
    name = "security"

    def ready(self) -> None:
        """Log records are made so that what must not be told can be taken out; personas can be shared."""
        # Models may be imported from here on only.
        import security.checks  # noqa: F401, PLC0415
        from core.outbox.kinds import kind_register  # noqa: PLC0415
        from security.accounts.invitations import InvitationMail  # noqa: PLC0415
        from security.accounts.notices import NoticeMail  # noqa: PLC0415
        from security.event_kinds import PERSONA_SHARING  # noqa: PLC0415
        from security.models import Persona, PersonaPersonRight, PersonaTeamRight  # noqa: PLC0415
        from security.second_factor import records_connect  # noqa: PLC0415
        from security.sharing.kinds import Kind, thing_register  # noqa: PLC0415

        kind_register(InvitationMail())
        kind_register(NoticeMail())
        records_watch()
        records_connect()
        rights = (PersonaPersonRight, PersonaTeamRight)
        permissions = ("security.view_persona", "security.change_persona")
        thing_register(Kind("persona", Persona, *rights, *permissions, PERSONA_SHARING, key="pk"))
