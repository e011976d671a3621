"""The app's registration with Django."""

from django.apps import AppConfig


class ExecutionConfig(AppConfig):
    name = "execution"

    def ready(self) -> None:
        """Makes known which messages runs owe, how new tools are tried, and what needs a package."""
        # Models may be imported from here on only.
        from audit.selectors import narrow_register  # noqa: PLC0415
        from core.outbox.kinds import kind_register  # noqa: PLC0415
        from execution.engine.runtimes import RUNTIMES  # noqa: PLC0415
        from execution.entry.schedules.belonging import Schedules  # noqa: PLC0415
        from execution.features.approvals.notify import ApprovalMail, ApprovalWebhook  # noqa: PLC0415
        from execution.features.callbacks.kind import RunOutcome  # noqa: PLC0415
        from execution.features.recovery.notify import KINDS  # noqa: PLC0415
        from execution.lifecycle import lifecycle_install  # noqa: PLC0415
        from execution.memory.webhooks import SessionEventSent  # noqa: PLC0415
        from execution.needs import open_runs, schedules  # noqa: PLC0415
        from execution.runners.trial import trials_register  # noqa: PLC0415
        from execution.sharing import events_narrow  # noqa: PLC0415
        from registry.releases.affected import need_register  # noqa: PLC0415
        from registry.runtimes import hub_runtime_register  # noqa: PLC0415
        from security.accounts.belongings import belonging_register  # noqa: PLC0415
        from security.sandbox.abilities import ability_register  # noqa: PLC0415

        lifecycle_install()
        kind_register(RunOutcome())
        kind_register(ApprovalWebhook())
        kind_register(ApprovalMail())
        kind_register(SessionEventSent())
        for kind in KINDS:
            kind_register(kind)
        belonging_register(Schedules())
        for runtime in RUNTIMES.load().values():
            hub_runtime_register(runtime)
            ability_register(runtime.health)
        trials_register()
        need_register(open_runs)
        need_register(schedules)
        narrow_register(events_narrow)
