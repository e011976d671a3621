"""Reading web pages, as an example of a tool that reaches hosts and remembers."""

import time
import urllib.error
import urllib.request
from typing import Annotated, TypedDict

from page import first_text

from toolhub_sdk import DeclaredError, Field, Package, ToolContext, ToolError, tool

PACKAGE = Package(
    name="web-scrape",
    version="1.0.0",
    title="Web scrape",
    description="Reads web pages, or a part of them.",
    license="MIT",
    author="ToolHub",
    keywords=("web", "html"),
)
BYTES_MAX = 2_000_000
KEPT_MAX = 20
_SUGGESTIONS = (
    "Check the address.",
    "See whether the page answers, and whether the tool may reach its host.",
)


class Scraped(TypedDict):
    url: Annotated[str, Field(description="The address, as it was given.")]
    content: Annotated[str, Field(description="The text of the first match, or the whole page.")]


@tool(
    category="network",
    tags=("web",),
    capabilities=("web:scrape", "network:example.org"),
    side_effects="impure",
    idempotent=True,
    determinism="non_deterministic",
    timeout_ms=30_000,
    retry="STANDARD",
    network=("example.org:443", "example.org:80"),
    memory={"short-term": ("web:cache",)},
    preconditions=({"type": "permission", "description": "Pages may be read.", "permission": "web:scrape"},),
    errors=(
        DeclaredError(
            "SCRAPE_FAILED",
            suggestions=_SUGGESTIONS,
            description="The page could not be read, or has no such element.",
            type="network",
        ),
    ),
)
def web_scrape(
    ctx: ToolContext,
    url: Annotated[str, Field(description="The page to read.", pattern="^https?://", max_length=2000)],
    selector: Annotated[
        str, Field(description="An element: tag, #id, .class, and these inside others.", max_length=200)
    ] = "",
    waitFor: Annotated[  # noqa: N803 - the name that callers know
        int, Field(description="Milliseconds to wait before reading.", minimum=0, maximum=20_000)
    ] = 0,
) -> Scraped:
    """Reads a web page and returns the text of the first element that a selector names, or the whole page.

    Over the network it reaches the hosts of its contract alone, here example.org. It keeps the latest pages
    in the session's memory under web:cache, changes nothing else, and runs no scripts of the
    page. A page that cannot be read is the error SCRAPE_FAILED.
    """
    time.sleep(waitFor / 1000)
    try:
        with urllib.request.urlopen(url, timeout=ctx.seconds_left()) as answer:  # noqa: S310 - by the pattern
            page = answer.read(BYTES_MAX).decode(answer.headers.get_content_charset() or "utf-8", "replace")
    except (OSError, ValueError, LookupError) as error:
        why = getattr(error, "reason", None) or type(error).__name__
        raise ToolError("SCRAPE_FAILED", f"The page was not read: {why}.") from error
    content = first_text(page, selector) if selector else page
    if content is None:
        raise ToolError("SCRAPE_FAILED", f"The page has no element {selector}.")
    kept = ctx.memory.read("web:cache", "short-term")
    pages = dict(kept) if isinstance(kept, dict) else {}
    pages.pop(url, None)
    pages[url] = {"content": content[:2000], "timestamp": ctx.clock.now().isoformat()}
    for old in list(pages)[: max(0, len(pages) - KEPT_MAX)]:
        del pages[old]
    ctx.memory.write("web:cache", pages, "short-term")
    return {"url": url, "content": content}
