// Questions that are asked on a page of their own are asked in a dialog instead.
const dialog = document.getElementById("confirm");

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target !== dialog || dialog.open) return;
  const title = dialog.querySelector("h1");
  if (title) dialog.setAttribute("aria-label", title.textContent);
  dialog.showModal();
});

dialog?.addEventListener("click", (event) => {
  if (event.target !== dialog && !event.target.closest("[data-close]")) return;
  event.preventDefault();
  dialog.close();
});
