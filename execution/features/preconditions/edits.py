"""What the version of a resource stands for."""

from core.edits import Editable
from execution.features.preconditions.models import Resource

RESOURCE: Editable[Resource] = Editable(
    "resource",
    Resource.objects.all(),
    lambda row: {"url": row.url} if row.url else {"up": row.is_up},
    lambda row: f"the resource {row.name}",
)
