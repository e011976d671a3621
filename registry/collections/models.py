"""Named sets of tools. Their members, which name tools, stand in registry/models.py."""

from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from security.sharing.levels import MANAGE, rights_of


class Collection(models.Model):
    """A named set of exactly these tools, each in its active version."""

    name = models.CharField(max_length=64, unique=True)
    description = models.CharField(max_length=300, blank=True, default="")
    # The team that it belongs to; none: everybody's, as roles say (security/sharing).
    team = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="+", null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        permissions = rights_of("collection", MANAGE)

    def __str__(self) -> str:
        return self.name


class CollectionPersonRight(UserObjectPermissionBase):
    """A right on a collection that a person was given."""

    content_object = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="person_rights")

    class Meta(UserObjectPermissionBase.Meta):
        pass


class CollectionTeamRight(GroupObjectPermissionBase):
    """A right on a collection that a team was given."""

    content_object = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="team_rights")

    class Meta(GroupObjectPermissionBase.Meta):
        pass
