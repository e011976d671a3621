"""The app's registration with Django."""

from django.apps import AppConfig


class ExecutionConfig(AppConfig):
    name = "execution"

    def ready(self) -> None:
        """Makes the messages known that the hub owes about runs."""
        # Models may be imported from here on only.
        from core.outbox.kinds import kind_register  # noqa: PLC0415
        from execution.callbacks.kind import RunOutcome  # noqa: PLC0415

        kind_register(RunOutcome())
