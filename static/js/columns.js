// [data-columns-menu]: which columns of the list are shown; remembered in this browser, page by page.
const menu = document.querySelector("[data-columns-menu]");
const kept = `columns:${location.pathname}`;

const heads = () => [...document.querySelectorAll("#list > .card > table thead th")];
const named = () => heads().filter((head) => head.textContent.trim() !== "");

function hidden() {
  try {
    return new Set(JSON.parse(localStorage.getItem(kept) ?? "[]"));
  } catch {
    return new Set();
  }
}

function apply() {
  const gone = hidden();
  for (const head of named()) {
    const away = gone.has(head.textContent.trim());
    if (!away && !head.hidden) continue;
    const table = head.closest("table");
    for (const row of table.rows) if (row.cells[head.cellIndex]) row.cells[head.cellIndex].hidden = away;
  }
}

function show() {
  // The first column names the row, and stays.
  const boxes = named().slice(1).map((head) => {
    const name = head.textContent.trim();
    const box = document.createElement("input");
    const label = document.createElement("label");
    Object.assign(box, { type: "checkbox", className: "form-check-input", checked: !hidden().has(name) });
    box.addEventListener("change", () => {
      const gone = hidden();
      if (box.checked) gone.delete(name);
      else gone.add(name);
      localStorage.setItem(kept, JSON.stringify([...gone]));
      apply();
    });
    label.append(box, name);
    return label;
  });
  menu.querySelector(".menu-body").replaceChildren(...boxes);
}

if (menu) {
  menu.hidden = named().length < 3;
  menu.addEventListener("toggle", () => menu.open && show());
  document.addEventListener("htmx:load", apply);
  apply();
}
