// A word that comes and goes at the foot of the page; for what has no place of its own on it.
const STAYS_MS = 6000;
const place = document.getElementById("toasts");

export function toast(words, tone = "busy") {
  const note = document.createElement("p");
  note.className = `toast-note tone-${tone}`;
  note.textContent = words;
  place.append(note);
  setTimeout(() => note.remove(), STAYS_MS);
}

for (const name of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(name, (event) => {
    // Live parts say it on themselves (live.js).
    if (event.target.closest?.("[data-live]")) return;
    const status = event.detail.xhr?.status;
    toast(status ? `The hub answered ${status}; nothing was changed here.` : "The hub does not answer. Try again.", "bad");
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-toast]");
  if (button) toast(button.dataset.toast, button.dataset.tone);
});
