// The keyboard: / searches on the page, else everything (palette.js), g and a letter goes places ([data-key]), ? helps.
import { openPalette } from "./palette.js";

const WAIT_MS = 1200;
const help = document.getElementById("keys");
let going = 0;

const isTyping = (element) => element.matches("input, select, textarea, [contenteditable]");

function act(event) {
  if (Date.now() - going < WAIT_MS) {
    going = 0;
    const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    link?.click();
    return Boolean(link);
  }
  if (event.key === "g") {
    going = Date.now();
    return true;
  }
  if (event.key === "?") {
    help.showModal();
    return true;
  }
  if (event.key !== "/") return false;
  const search = document.querySelector("main [data-search]");
  if (!search) return openPalette();
  search.focus();
  search.select();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  if (act(event)) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-help]")) help.showModal();
  else if (event.target === help) help.close();
});
