"""Half-hours that are over, with what was called in them: made from runs, and anew when these change."""

from datetime import timedelta

from django.db import models

from core.fields import CanonicalJSONField

HALF_HOUR = timedelta(minutes=30)


class Counted(models.Model):
    """What `Figures` has. `times` says how many calls took a time, by its bucket (times.py), and `tools`
    `[calls, unsuccessful]` by the tool's name.
    """

    calls = models.PositiveIntegerField()
    completed = models.PositiveIntegerField()
    unsuccessful = models.PositiveIntegerField()
    times = CanonicalJSONField()
    tools = CanonicalJSONField()

    class Meta:
        abstract = True


class Rollup(Counted):
    """A half-hour, in all: of the runs that were made in it.

    `open` is how many of them had no outcome when they were counted, `owners` how often owners had been set
    (security/sharing/owned.py): it holds as long as the first is so, its parts as long as both are.
    """

    begins_at = models.DateTimeField(primary_key=True)
    open = models.PositiveIntegerField()
    owners = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.begins_at:%Y-%m-%d %H:%M}"


class RollupPart(Counted):
    """What of a half-hour is by personas and of tools of these teams; null is nobody's.

    What is nobody's altogether has a part in each half-hour, if an empty one.
    """

    rollup = models.ForeignKey(Rollup, on_delete=models.CASCADE, related_name="parts")
    tool_team = models.PositiveIntegerField(null=True)
    package_team = models.PositiveIntegerField(null=True)
    persona_team = models.PositiveIntegerField(null=True)

    class Meta:
        indexes = (models.Index(fields=["persona_team", "rollup"], name="rollup_part_of"),)

    def __str__(self) -> str:
        return f"{self.rollup_id}: {self.tool_team}, {self.package_team}, {self.persona_team}"
