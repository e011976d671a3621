// The queue of approvals by the keyboard: j and k choose a call, a asks whether to approve it, d goes to the
// reason of a denial. No single key decides.
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

// Shows the call in the dialog; its button sends the card's form.
function askFirst(card, form) {
  const dialog = document.getElementById("confirm");
  const title = document.createElement("h1");
  title.className = "h3";
  title.textContent = `Approve: ${card.querySelector("h2 a, h2")?.textContent.trim() ?? "this call"}?`;
  const call = document.createElement("pre");
  call.textContent = card.querySelector("[data-json] code")?.textContent ?? "";
  const buttons = document.createElement("p");
  buttons.className = "buttons";
  const yes = document.createElement("button");
  yes.type = "button";
  yes.className = "btn btn-primary";
  yes.textContent = "Approve call";
  yes.addEventListener("click", () => {
    dialog.close();
    form.requestSubmit();
  });
  const no = document.createElement("button");
  no.type = "button";
  no.className = "btn";
  no.dataset.close = "";
  no.textContent = "Cancel";
  buttons.append(yes, no);
  dialog.setAttribute("aria-label", title.textContent);
  dialog.replaceChildren(title, call, buttons);
  dialog.showModal();
  yes.focus();
}

function act(key) {
  if (key === "j") return move(1);
  if (key === "k") return move(current() ? -1 : 1);
  const card = current();
  if (key === "a") {
    const form = card?.querySelector("[data-approve]");
    if (form) askFirst(card, form);
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
