// [data-live]: fetches itself anew every few seconds, as long as the page is seen and nobody works in it.
// The server leaves the attribute out when there is nothing more to follow.
const EVERY_MS = 3000;

function isUsed(part) {
  const selection = getSelection();
  const selecting = selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  const details = part.querySelector("details[open], [data-pick]:checked");
  return selecting || details || part.querySelector(":focus-visible") || document.querySelector("dialog[open]");
}

function refresh() {
  if (document.hidden) return;
  for (const part of document.querySelectorAll("[data-live]")) {
    if (!isUsed(part)) window.htmx.trigger(part, "live");
  }
}

setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);
for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(name, (event) => {
    const part = event.target.closest?.("[data-live]");
    if (!part) return;
    part.classList.add("stale");
    part.title = "The hub does not answer; what you see may be old.";
  });
}
