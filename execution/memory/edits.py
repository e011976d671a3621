"""What the version of a value in memory stands for."""

from core.edits import Editable
from execution.memory.models import Item

MEMORY_ITEM: Editable[Item] = Editable(
    "memory item",
    Item.objects.all(),
    lambda row: {"value": row.value},
    lambda row: f"the value of {row.key}",
)
