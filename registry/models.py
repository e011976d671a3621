"""Which tools exist, in which version, and who sees them."""

from typing import Any

from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from core.fields import CanonicalJSONField
from registry.collections.models import Collection
from registry.content import DEFAULT, content_fields
from security.content.kinds import Field
from security.models import Persona, User
from security.sharing.levels import rights_of
from toolhub_sdk.package import CONTRACT
from toolhub_sdk.runtimes.registry import own_runtime, runtime_find

EXTRAS = ("preconditions", "memory", "effects", "retry", "recovery")


class Package(models.Model):
    """What is installed: one or more tools under one name."""

    name = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # The release whose tools are active; none after all of its tools were taken away.
    active = models.ForeignKey("Release", on_delete=models.PROTECT, related_name="+", null=True)
    # Its settings, as the schema in its manifest describes them; secret ones are in the vault.
    config = CanonicalJSONField(default=dict, db_default=models.Value("{}", models.TextField()))
    # Set while it is uninstalled: its releases and runs stay readable.
    uninstalled_at = models.DateTimeField(null=True)
    # The team that it belongs to, its tools with it; none: everybody's, as roles say (security/sharing).
    team = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        ordering = ("name",)
        permissions = rights_of("package")

    def __str__(self) -> str:
        return self.name


class PackagePersonRight(UserObjectPermissionBase):
    """A right on a package that a person was given."""

    content_object = models.ForeignKey(Package, on_delete=models.CASCADE, related_name="person_rights")

    class Meta(UserObjectPermissionBase.Meta):
        pass


class PackageTeamRight(GroupObjectPermissionBase):
    """A right on a package that a team was given."""

    content_object = models.ForeignKey(Package, on_delete=models.CASCADE, related_name="team_rights")

    class Meta(GroupObjectPermissionBase.Meta):
        pass


class Archive(models.Model):
    """The files of a release, as a zip that depends on nothing but them, by the release's digest.

    Kept in the database, so that every worker on every machine can unpack it. `files` is path → SHA-256.
    """

    digest = models.CharField(primary_key=True, max_length=64)
    content = models.BinaryField()
    size = models.PositiveIntegerField()
    files = CanonicalJSONField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.digest[:12]


class Release(models.Model):
    """An immutable version of a package. `digest` is SHA-256 over manifest and files, in hex.

    `lock` is the text of its locked requirements, empty without dependencies. `is_reviewed` says that an
    admin read its code and trusts it at the sandbox level `process`.
    `origin` says where it came from: `{type, location, ref, commit, path}`.
    """

    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, unique=True)
    manifest = CanonicalJSONField()
    runner = models.CharField(max_length=16)
    entry = models.CharField(max_length=200)
    lock = models.TextField(blank=True, default="", db_default="")
    is_reviewed = models.BooleanField(default=False, db_default=False)
    origin = CanonicalJSONField(default=dict, db_default={})
    published_at = models.DateTimeField(default=timezone.now)
    # Set while its files are gone with its package: it has to be installed anew before it can be used.
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["package", "version"], name="release_once"),)

    def __str__(self) -> str:
        return f"{self.package.name} {self.version}"

    @property
    def is_own(self) -> bool:
        """Whether it is the hub's own code, which is neither installed nor removed."""
        return self.runner == own_runtime().name


class Tool(models.Model):
    """A callable with a stable name."""

    name = models.CharField(max_length=64, unique=True)
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="tools")
    active = models.ForeignKey("ToolVersion", on_delete=models.PROTECT, related_name="+", null=True)
    category = models.CharField(max_length=16, db_index=True)
    # Tags, documentation and notes that people added; releases and digests stay as they are.
    overlay = CanonicalJSONField(default=dict, db_default={})
    # Whether an admin wants each call approved; from the overlay.
    asks_approval = models.BooleanField(default=False, db_default=False)
    # Whether an admin wants arguments sanitised; from the overlay.
    sanitises = models.BooleanField(default=False, db_default=False)
    # What an admin wants done about arguments that look like attacks; empty: as its contract says.
    content_mode = models.CharField(max_length=6, blank=True, default="", db_default="")
    # Rules that people added for its calls, whatever the version (registry/rules/services.py).
    rules = CanonicalJSONField(default=list, db_default=models.Value("[]", models.TextField()))
    # The team that it belongs to beside its package's; none: the package's alone.
    team = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="+", null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        permissions = rights_of("tool")

    def __str__(self) -> str:
        return self.name


class ToolPersonRight(UserObjectPermissionBase):
    """A right on a tool that a person was given."""

    content_object = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="person_rights")

    class Meta(UserObjectPermissionBase.Meta):
        pass


class ToolTeamRight(GroupObjectPermissionBase):
    """A right on a tool that a team was given."""

    content_object = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="team_rights")

    class Meta(GroupObjectPermissionBase.Meta):
        pass


class VersionState(models.TextChoices):
    ACTIVE = "active", "published"
    DEPRECATED = "deprecated", "deprecated"
    YANKED = "yanked", "withdrawn"
    QUARANTINED = "quarantined", "quarantined"


class ToolVersion(models.Model):
    """A tool as one release defines it. `definition` is MCP's Tool shape with the contract in `_meta`.

    The other columns repeat what the execute path needs from the contract. Times are in ms,
    sizes in bytes.
    """

    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="versions")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="tool_versions")
    version = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=VersionState, default=VersionState.ACTIVE)
    # Why it is deprecated or withdrawn, for those who call it.
    state_reason = models.CharField(max_length=300, blank=True, default="", db_default="")
    digest = models.CharField(max_length=64)
    definition = CanonicalJSONField()
    runner = models.CharField(max_length=16)
    entry = models.CharField(max_length=200)
    required_capabilities = CanonicalJSONField(default=list)
    is_pure = models.BooleanField()
    is_idempotent = models.BooleanField()
    uses_network = models.BooleanField()
    # Whether its package has settings.
    takes_config = models.BooleanField(default=False, db_default=False)
    determinism = models.CharField(max_length=20)
    timeout_ms = models.PositiveIntegerField()
    max_output_bytes = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["tool", "version"], name="tool_version_once"),)
        # The tool of a version is asked for many runs at once: its definition need not be read for that. Most
        # tools need no capability; what all the others need is told to who may not see each of them.
        indexes = (
            models.Index(fields=["id"], include=["tool"], name="tool_version_of"),
            models.Index(
                fields=["tool"], name="tool_version_needs", condition=~models.Q(required_capabilities=[])
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool.name} {self.version}"

    @cached_property
    def extras(self) -> frozenset[str]:
        """Which parts of the contract give a run more to do than to call the tool: retry."""
        declared = self.definition.get("_meta", {}).get(CONTRACT, {})
        return frozenset(name for name in EXTRAS if declared.get(name) not in (None, [], {}, "NONE"))

    @cached_property
    def asks_approval(self) -> bool:
        """Whether its contract wants a person to approve each call."""
        return self.declared.get("requiresApproval") is True

    @cached_property
    def sanitises(self) -> bool:
        """Whether its contract wants arguments sanitised."""
        return self.declared.get("sanitise") is True

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the schema of its arguments depends on the context."""
        if "schema" not in self.declared.get("hooks", {}):
            return False
        runtime = runtime_find(self.runner)
        return runtime is not None and "schema" in runtime.hooks

    @cached_property
    def content_fields(self) -> tuple[Field, ...]:
        """Which arguments are checked for attacks; for most tools none."""
        return content_fields(self.digest, self.definition)

    @cached_property
    def content_mode(self) -> str:
        """What its contract wants done about arguments that look like attacks."""
        return str(self.declared.get("contentChecks", DEFAULT))

    @property
    def declared(self) -> dict[str, Any]:
        """The contract as the definition declares it; empty without one."""
        return dict(self.definition.get("_meta", {}).get(CONTRACT, {}))


class CollectionMember(models.Model):
    """A tool of a collection; whoever put it there lets the collection's personas see and call it."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="members")
    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="memberships")
    added_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["collection", "tool"], name="member_once"),)

    def __str__(self) -> str:
        return f"{self.tool} in {self.collection}"


def _only(one: str, *others: str) -> models.Q:
    empty = {f"{other}__isnull": True for other in others}
    return models.Q(**{f"{one}__isnull": False}, **empty)


class Assignment(models.Model):
    """What a persona sees and may call: one tool, or all tools of a package or collection."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="assignments")
    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, null=True, related_name="assignments")
    package = models.ForeignKey(Package, on_delete=models.CASCADE, null=True, related_name="assignments")
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, null=True, related_name="assignments"
    )
    assigned_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["persona", "tool"], name="assign_tool_once"),
            models.UniqueConstraint(fields=["persona", "package"], name="assign_package_once"),
            models.UniqueConstraint(fields=["persona", "collection"], name="assign_collection_once"),
            models.CheckConstraint(
                name="assign_one_thing",
                condition=_only("tool", "package", "collection")
                | _only("package", "tool", "collection")
                | _only("collection", "tool", "package"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.persona} → {self.target}"

    @property
    def target(self) -> Tool | Package | Collection:
        """What is assigned. Raises LookupError for a row without it, which the database does not keep."""
        found = self.tool or self.package or self.collection
        if found is None:
            raise LookupError("Nothing is assigned.")
        return found
