"""The app's registration with Django."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        """Makes known that packages, tools and collections can be shared, and what personas see.

        So nobody shows others more than they see; and what holds for a package holds for its tools.
        """
        # Models may be imported from here on only.
        from registry.collections.models import (  # noqa: PLC0415
            Collection,
            CollectionPersonRight,
            CollectionTeamRight,
        )
        from registry.event_kinds import (  # noqa: PLC0415
            COLLECTION_SHARING,
            PACKAGE_SHARING,
            TOOL_SHARING,
        )
        from registry.models import (  # noqa: PLC0415
            Package,
            PackagePersonRight,
            PackageTeamRight,
            Tool,
            ToolPersonRight,
            ToolTeamRight,
        )
        from registry.selectors import targets_assigned  # noqa: PLC0415
        from security.giving import sight_register  # noqa: PLC0415
        from security.sharing.kinds import Kind, thing_register  # noqa: PLC0415
        from security.sharing.levels import MANAGE, VIEW  # noqa: PLC0415

        rights = (PackagePersonRight, PackageTeamRight)
        permissions = ("registry.view_package", "registry.change_package")
        thing_register(Kind("package", Package, *rights, *permissions, PACKAGE_SHARING))
        rights_of_tools = (ToolPersonRight, ToolTeamRight)
        permissions = ("registry.view_tool", "registry.change_tool")
        thing_register(Kind("tool", Tool, *rights_of_tools, *permissions, TOOL_SHARING, parent="package"))
        rights_of_collections = (CollectionPersonRight, CollectionTeamRight)
        permissions = ("registry.view_collection", "registry.change_collection")
        levels = (VIEW, MANAGE)
        events = COLLECTION_SHARING
        thing_register(
            Kind("collection", Collection, *rights_of_collections, *permissions, events, levels=levels)
        )
        sight_register(targets_assigned)
