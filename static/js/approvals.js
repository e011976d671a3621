// The queue of approvals by the keyboard: j and k move, a approves, d goes to the reason of a denial.
const cards = () => [...document.querySelectorAll("[data-approval]")];
const isTyping = (element) => element.matches("input, select, textarea, [contenteditable]");

function current() {
  return document.activeElement.closest?.("[data-approval]") ?? null;
}

function move(step) {
  const all = cards();
  const here = all.indexOf(current());
  const next = all[Math.min(all.length - 1, Math.max(0, here + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return Boolean(next);
}

function act(key) {
  if (key === "j") return move(1);
  if (key === "k") return move(current() ? -1 : 1);
  // One that is shown alone needs no choosing.
  const card = current() ?? (cards().length === 1 ? cards()[0] : null);
  if (key === "a") {
    const form = card?.querySelector("[data-approve]");
    form?.requestSubmit();
    return Boolean(form);
  }
  if (key === "d") {
    const reason = card?.querySelector("[data-deny] input[name=reason]");
    reason?.focus();
    return Boolean(reason);
  }
  return false;
}

// After an answer the queue is shown anew: the one that took the answered one's place is next.
const NEXT = "approvals-next";

function comeBack() {
  const kept = sessionStorage.getItem(NEXT);
  if (kept === null || !document.querySelector("[data-approvals]")) return;
  sessionStorage.removeItem(NEXT);
  const all = cards();
  all[Math.min(all.length - 1, Number(kept))]?.focus();
}

document.addEventListener("submit", (event) => {
  const here = cards().indexOf(event.target.closest("[data-approvals] [data-approval]"));
  if (here >= 0) sessionStorage.setItem(NEXT, String(here));
});
document.addEventListener("htmx:afterSettle", comeBack);
comeBack();

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (act(event.key)) event.preventDefault();
});
