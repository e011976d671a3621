"""The kinds of events about packages, their releases and tools, collections and assignments."""

from audit.event_kinds import TOOL
from audit.kinds import Family, Subject, event_kind
from security.event_kinds import ACCESS, CONFIRMED, PACKAGE, PERSONA, POLICY, sharing_kinds

PACKAGES = Family("packages", "Packages and tools")

COLLECTION = Subject("collection")
INSTALLATION = Subject("installation", ("package", "version"))

_WHAT = "[ the tool {tool}][ the package {package}][ the collection {collection}]"
_OF = "the installation[ of {package}][ {version}]"

ASSIGNMENT_CREATED = event_kind(
    ACCESS, "assignment.created", PERSONA, f"Assigned{_WHAT} to the persona {{persona}}"
)
ASSIGNMENT_DELETED = event_kind(
    ACCESS, "assignment.deleted", PERSONA, f"Took back the assignment of{_WHAT} to the persona {{persona}}"
)

INSTALLATION_STARTED = event_kind(
    PACKAGES,
    "installation.started",
    INSTALLATION,
    "Started an installation from {location|an upload}[, {ref}][ for the team {team}]",
)
INSTALLATION_APPROVED = event_kind(
    PACKAGES,
    "installation.approved",
    INSTALLATION,
    "Approved the installation of {package} {version}{activate?, to be activated:}",
)
INSTALLATION_RETRIED = event_kind(PACKAGES, "installation.retried", INSTALLATION, f"Retried {_OF}")
INSTALLATION_CANCEL_ASKED = event_kind(
    PACKAGES, "installation.cancel_asked", INSTALLATION, f"Asked to cancel {_OF}"
)
INSTALLATION_CANCELLED = event_kind(
    PACKAGES, "installation.cancelled", INSTALLATION, f"{_OF.capitalize()} was cancelled in the step {{step}}"
)
INSTALLATION_FAILED = event_kind(
    PACKAGES,
    "installation.failed",
    INSTALLATION,
    f"{_OF.capitalize()} failed in the step {{step}}, with {{code}}",
)
INSTALLATION_EXPIRED = event_kind(
    PACKAGES, "installation.expired", INSTALLATION, f"Cancelled {_OF} because nobody reviewed it in time"
)
RELEASE_PUBLISHED = event_kind(
    PACKAGES, "release.published", PACKAGE, "Published {about} {version}{activated? and activated it:}"
)
RELEASE_ACTIVATED = event_kind(
    PACKAGES, "release.activated", PACKAGE, "Activated {about} {version}[ in place of {before}]"
)
RELEASE_DEPRECATED = event_kind(
    PACKAGES, "release.deprecated", PACKAGE, "Deprecated {about} {version}: {reason}" + CONFIRMED
)
RELEASE_YANKED = event_kind(
    PACKAGES, "release.yanked", PACKAGE, "Withdrew {about} {version}: {reason}" + CONFIRMED
)
RELEASE_QUARANTINED = event_kind(
    PACKAGES, "release.quarantined", PACKAGE, "Quarantined {about} {version}: {reason}" + CONFIRMED
)
RELEASE_RESTORED = event_kind(PACKAGES, "release.restored", PACKAGE, "Restored {about} {version}" + CONFIRMED)
PACKAGE_CONFIGURED = event_kind(
    PACKAGES,
    "package.configured",
    PACKAGE,
    "Changed the settings of {about}[; set: {set}][; back to default: {taken_back}]",
)
PACKAGE_UNINSTALLED = event_kind(
    PACKAGES, "package.uninstalled", PACKAGE, "Uninstalled {about}{force?, although it was still needed:}"
)
TOOL_OVERLAY_EDITED = event_kind(
    PACKAGES, "tool.overlay_edited", TOOL, "Changed the settings of the tool {about}" + CONFIRMED
)
TOOL_RULE_ADDED = event_kind(
    POLICY, "tool.rule_added", TOOL, "Added the rule {rule} to the tool {about}: {expression}"
)
TOOL_RULE_REMOVED = event_kind(
    POLICY,
    "tool.rule_removed",
    TOOL,
    "Removed the rule {rule} from the tool {about}: {expression}" + CONFIRMED,
)
COLLECTION_CREATED = event_kind(
    PACKAGES, "collection.created", COLLECTION, "Created the collection {collection}"
)
COLLECTION_DESCRIBED = event_kind(
    PACKAGES, "collection.described", COLLECTION, "Changed the description of the collection {collection}"
)
COLLECTION_TOOLS_CHANGED = event_kind(
    PACKAGES,
    "collection.tools_changed",
    COLLECTION,
    "Changed the tools of the collection {collection}[; added: {added}][; removed: {removed}]",
)
COLLECTION_DELETED = event_kind(
    PACKAGES, "collection.deleted", COLLECTION, "Deleted the collection {collection}"
)

PACKAGE_SHARING = sharing_kinds(PACKAGE)
TOOL_SHARING = sharing_kinds(TOOL)
COLLECTION_SHARING = sharing_kinds(COLLECTION)
