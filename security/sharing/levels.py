"""The rights that can be given on one object, and which of the hub's permissions each of them stands for."""

VIEW, EXECUTE, MANAGE, APPROVE = "view", "execute", "manage", "approve"
LEVELS = {
    VIEW: "see it, its runs and what it is set to",
    EXECUTE: "try it, repeat and stop its runs, make schedules",
    MANAGE: "change it, and share it with others",
    APPROVE: "approve and deny its calls",
}
"""Each of them lets see the object, too."""

_PERMISSIONS = {
    VIEW: (
        "registry.view_tool",
        "registry.view_package",
        "registry.view_collection",
        "security.view_persona",
        "execution.view_run",
        "execution.view_schedule",
        "memory.view_session",
    ),
    EXECUTE: (
        "execution.add_run",
        "execution.change_run",
        "execution.resolve_run",
        "execution.add_schedule",
        "execution.change_schedule",
        "execution.delete_schedule",
    ),
    MANAGE: (
        "registry.change_tool",
        "registry.change_package",
        "registry.delete_package",
        "registry.change_collection",
        "registry.delete_collection",
        "registry.add_release",
        "registry.change_release",
        "registry.add_assignment",
        "registry.delete_assignment",
        "security.change_persona",
        "security.add_grant",
        "security.delete_grant",
        "security.add_token",
        "security.delete_token",
        "security.add_signingsecret",
        "policy.change_standing",
        "memory.change_session",
    ),
    APPROVE: ("execution.approve_run",),
}
LEVEL_OF = {permission: level for level, names in _PERMISSIONS.items() for permission in names}
# What is new belongs to nobody yet: to bring in packages takes a role.
ENTERED = LEVEL_OF.keys() - {"registry.add_release"}
"""The permissions whose pages open also to who holds the right on some object alone: they show just those."""


def rights_of(name: str, *levels: str) -> tuple[tuple[str, str], ...]:
    """`Meta.permissions` of an object that can be shared; Django makes `view_…` itself."""
    return tuple(
        (f"{level}_{name}", f"Can {level} this {name}") for level in levels or LEVELS if level != VIEW
    )
