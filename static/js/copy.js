// [data-copy]: puts its value, or the code beside it when empty, on the clipboard, and says so.
const DONE_MS = 1500;

async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Pages over plain HTTP on another machine have no clipboard API.
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("The browser does not let the page copy.");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.getAttribute("aria-label");
  try {
    await write(button.dataset.copy);
    button.classList.add("done");
    button.setAttribute("aria-label", "Copied");
    button.title = "Copied";
  } catch {
    button.title = "The browser does not let the page copy.";
  }
  setTimeout(() => {
    button.classList.remove("done");
    button.setAttribute("aria-label", label);
    button.title = label;
  }, DONE_MS);
});
