"""Tools whose contracts have effects: on memory, on the session's events, and on other tools."""

from typing import Annotated, Any, TypedDict

from toolhub_sdk import DeclaredError, Example, Field, ToolError, tool

Key = Annotated[str, Field(description="Any word; it is returned.")]
ONE = (Example({"word": "a"}, "a"),)


def _state(change: str, **members: Any) -> dict[str, Any]:
    said = {"type": "state_change", "description": f"The counter: {change}."}
    return {**said, "state": "k", "change": change, **members}


@tool(side_effects="impure", timeout_ms=10_000, effects=(_state("set", value=5),), examples=ONE)
def fx_set(word: Key) -> str:
    """Sets the counter k of the loop to 5, by an effect of its contract. Returns the word that it gets."""
    return word


@tool(side_effects="impure", timeout_ms=10_000, effects=(_state("clear"),), examples=ONE)
def fx_clear(word: Key) -> str:
    """Clears the counter k of the loop, by an effect of its contract. Returns the word that it gets."""
    return word


@tool(side_effects="impure", timeout_ms=10_000, effects=(_state("increment"),), examples=ONE)
def fx_increment(word: Key) -> str:
    """Changes the counter k of the loop: one more, by an effect. Returns the word that it gets."""
    return word


@tool(side_effects="impure", timeout_ms=10_000, effects=(_state("decrement"),), examples=ONE)
def fx_decrement(word: Key) -> str:
    """Changes the counter k of the loop: one less, by an effect. Returns the word that it gets."""
    return word


class Visited(TypedDict):
    url: Annotated[str, Field(description="The address.")]
    title: Annotated[str, Field(description="Its title.")]


@tool(
    side_effects="impure",
    timeout_ms=10_000,
    effects=(
        {
            "type": "memory",
            "description": "The address joins the history of the session.",
            "scope": "short-term",
            "operation": "update",
            "key": "browser.history",
            "expression": "(current == null ? [] : current)"
            " + [{'url': result.url, 'title': result.title, 'timestamp': now}]",
            "keep": 100,
        },
        {
            "type": "notification",
            "description": "The session hears of the visit.",
            "event": "file:changed",
            "expression": "{'path': result.url, 'action': 'visit', 'timestamp': now}",
        },
    ),
    examples=(Example({"url": "a"}, {"url": "a", "title": "A"}),),
)
def fx_hist(url: Annotated[str, Field(description="The address.")]) -> Visited:
    """Returns an address with its title. It writes it to the history of the session, which keeps a hundred."""
    return {"url": url, "title": url.upper()}


@tool(
    side_effects="impure",
    timeout_ms=10_000,
    effects=(
        {
            "type": "cascade",
            "description": "The word is returned once more, where that is wanted.",
            "tool": "fx_dep",
            "condition": "arguments.go",
            "arguments": {"word": "result + '!'"},
        },
    ),
    examples=(Example({"word": "a", "go": False}, "a"),),
)
def fx_casc(word: Key, go: Annotated[bool, Field(description="Whether another run follows.")]) -> str:
    """Returns a word. It starts a run of fx_dep after it, where that is wanted."""
    return word


@tool(
    side_effects="impure",
    timeout_ms=10_000,
    effects=(
        {
            "type": "notification",
            "description": "The session hears of the error.",
            "event": "api:error",
            "on": "failure",
            "expression": "{'tool': 'fx_api_fail', 'error': error, 'timestamp': now}",
        },
    ),
    errors=(DeclaredError("API_FAILED", suggestions=("Ask for a success.",)),),
    examples=(Example({"fail": False}, "fine"),),
)
def fx_api_fail(fail: Annotated[bool, Field(description="Whether it fails.")]) -> str:
    """Fails where it is asked to; the session hears of the error then. It writes nothing else."""
    if fail:
        raise ToolError("API_FAILED", "Failed on purpose.")
    return "fine"


@tool(
    side_effects="impure",
    timeout_ms=10_000,
    effects=(
        _state("set", expression="result", description="A: the counter."),
        {
            "type": "memory",
            "description": "B: stays, whatever comes.",
            "scope": "short-term",
            "operation": "write",
            "key": "b",
            "expression": "result",
            "reversible": False,
        },
        {
            "type": "memory",
            "description": "C: fails where the word is not a number.",
            "scope": "short-term",
            "operation": "write",
            "key": "c",
            "expression": "int(result)",
        },
    ),
    examples=ONE,
)
def fx_abc(word: Key) -> str:
    """Writes its word to three places by effects; the third fails for a word that is no number."""
    return word
