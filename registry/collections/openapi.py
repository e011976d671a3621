"""The forms of collections, and what the API's description says of them."""

from typing import Any

from registry.collections.services import DESCRIPTION_MAX, MEMBERS_MAX
from registry.policy.openapi import AFTER, NAME, form, operation, page_of
from registry.schemas import validator_build

_DESCRIPTION = {"type": "string", "maxLength": DESCRIPTION_MAX}
_TOOLS = {"type": "array", "maxItems": MEMBERS_MAX, "items": NAME, "description": "Names of tools"}
_SHORT = {
    "name": {"type": "string"},
    "description": {"type": "string"},
    "created_at": {"type": "string", "format": "date-time"},
}
_READS = (
    "An agent sees the collections of which it sees a tool, and those tools;"
    " with `toolhub:personas` also what its responsible person sees."
)
_ADDS = (
    "Tools that are added have to be the responsible person's to assign, also to each persona that has the"
    " collection, and the agent's own to see."
)
COLLECTION_SHORT: dict[str, Any] = {
    "type": "object",
    "properties": {**_SHORT, "tool_count": {"type": "integer", "description": "How many the caller sees"}},
}
COLLECTION: dict[str, Any] = {
    "type": "object",
    "properties": {**_SHORT, "tools": {"type": "array", "items": {"type": "string"}}},
}
COLLECTION_FORM = form({"name": NAME, "description": _DESCRIPTION, "tools": _TOOLS}, "name")
COLLECTION_CHANGE_FORM = form({"description": _DESCRIPTION, "tools": _TOOLS})
VALIDATORS = {
    "collection": validator_build(COLLECTION_FORM),
    "collection_change": validator_build(COLLECTION_CHANGE_FORM),
}


def _read(name: str, summary: str, answer: Any) -> dict[str, Any]:
    return {**operation(name, summary, answer), "description": _READS}


LIST = _read("collections_list", "List collections", page_of("collections", COLLECTION_SHORT)) | {
    "parameters": [AFTER]
}
CREATE = operation(
    "collection_create",
    "Make a collection of tools",
    COLLECTION,
    body=COLLECTION_FORM,
    example={"name": "research", "description": "What researchers use", "tools": ["echo", "hash"]},
    status=201,
    said=_ADDS,
)
READ = _read("collection_get", "Read a collection", COLLECTION)
CHANGE = operation(
    "collection_change",
    "Change what a collection is for, or set its tools",
    COLLECTION,
    body=COLLECTION_CHANGE_FORM,
    example={"tools": ["echo"]},
    said=f"`tools` are the new members; those that the caller does not see stay. {_ADDS}",
)
DELETE = operation(
    "collection_delete",
    "Delete a collection; its personas no longer see its tools by it",
    None,
    status=204,
)
ADD = operation("collection_tool_add", "Put a tool into a collection", COLLECTION, said=_ADDS)
REMOVE = operation(
    "collection_tool_remove", "Take a tool out of a collection, from the next call on", None, status=204
)
