// The command palette: Ctrl-K or / opens it; arrows go through what was found, Enter follows the first.
const palette = document.getElementById("palette");
const input = palette?.querySelector("input");
const links = () => [...palette.querySelectorAll("#palette-found a")];

export function openPalette() {
  if (!palette || palette.open) return false;
  palette.showModal();
  input.select();
  window.htmx.trigger(input, "show");
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (!palette || document.querySelector("dialog[open]:not(#palette)")) return;
  event.preventDefault();
  if (palette.open) palette.close();
  else openPalette();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-palette-open]");
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
  if (opener && plain && openPalette()) event.preventDefault();
  else if (event.target === palette) palette.close();
});

palette?.addEventListener("keydown", (event) => {
  // The browser would empty the field first.
  if (event.key === "Escape") {
    event.preventDefault();
    palette.close();
  }
  const all = [input, ...links()];
  const at = all.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    all[Math.min(Math.max(at + step, 0), all.length - 1)].focus();
  }
});

palette?.querySelector("form").addEventListener("submit", (event) => {
  const first = links()[0];
  if (!first) return;
  event.preventDefault();
  first.click();
});
