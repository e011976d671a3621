// [data-json]: a JSON value whose objects and lists fold. The text stays what it was, and is copied whole.
const OPEN_DEPTH = 2;

function closer(value) {
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return { open, close, size: Object.keys(value).length };
}

function shown(value, indent, depth) {
  if (typeof value !== "object" || value === null) return document.createTextNode(JSON.stringify(value));
  const { open, close, size } = closer(value);
  if (!size) return document.createTextNode(open + close);
  const inner = `${indent}  `;
  const body = document.createElement("span");
  Object.entries(value).forEach(([name, member], at) => {
    const key = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
    body.append(`\n${inner}${key}`, shown(member, inner, depth + 1), at < size - 1 ? "," : "");
  });
  body.append(`\n${indent}`);
  const switcher = document.createElement("button");
  Object.assign(switcher, { type: "button", className: "fold", textContent: open });
  switcher.dataset.size = ` ${size} `;
  switcher.setAttribute("aria-label", Array.isArray(value) ? `List of ${size}` : `Object of ${size}`);
  const turn = (on) => {
    body.hidden = !on;
    switcher.setAttribute("aria-expanded", String(on));
  };
  switcher.addEventListener("click", () => turn(body.hidden));
  turn(depth < OPEN_DEPTH);
  const whole = document.createDocumentFragment();
  whole.append(switcher, body, close);
  return whole;
}

export function fold(root = document) {
  for (const code of root.querySelectorAll("[data-json]:not([data-folds]) code")) {
    const text = code.textContent;
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      continue; // Cut, because it was too long: it stays as it is.
    }
    // Numbers that a browser would change are not shown anew.
    if (typeof value !== "object" || value === null || JSON.stringify(value, null, 2) !== text) continue;
    code.replaceChildren(shown(value, "", 0));
    code.closest("[data-json]").dataset.folds = "";
  }
}

fold();
document.addEventListener("htmx:load", (event) => fold(event.detail.elt));
