// [data-pick-all] chooses every row of its table ([data-pick]).
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-pick-all]")) return;
  for (const box of event.target.closest("table").querySelectorAll("[data-pick]")) box.checked = event.target.checked;
});
