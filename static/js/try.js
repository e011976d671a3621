// form[data-try]: the arguments as a form made from the tool's schema, or as JSON; the JSON is what is sent.
import { build } from "./schema_form/form.js";
import { node, Unfinished } from "./schema_form/parts.js";

const form = document.querySelector("form[data-try]");
let schema = JSON.parse(document.getElementById("tool-schema").textContent);
const raw = form.elements.arguments;
const rawField = raw.closest(".field");
const place = form.querySelector("[data-fields]");
const notice = form.querySelector("[data-try-notice]");
const switches = form.querySelectorAll("[data-mode]");
let fields = null;

const tell = (message) => {
  notice.textContent = message;
  notice.hidden = !message;
};

/** Numbers beyond what a browser counts exactly would change on their way through the form. */
function exact(text) {
  const value = JSON.parse(text);
  const unsafe = /(?<![\w."])-?\d{16,}(?![\w"])/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'));
  if (unsafe) throw new Error("it holds a number with more digits than a form keeps exactly.");
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no object.");
  return value;
}

/** Brings the JSON up to date with the form; false, with a word at the field, where something is missing. */
function written(speak) {
  if (!fields) return true;
  fields.clear();
  try {
    raw.value = JSON.stringify(fields.get(), null, 2);
    return true;
  } catch (error) {
    if (!(error instanceof Unfinished)) throw error;
    if (speak) {
      fields.complain(error.field, error.message);
      error.field.focus?.();
    }
    return false;
  }
}

function mark(mode) {
  for (const one of switches) one.setAttribute("aria-pressed", String(one.dataset.mode === mode));
  rawField.hidden = mode === "form";
  place.hidden = mode !== "form";
}

function showForm() {
  let value;
  try {
    value = exact(raw.value.trim() || "{}");
  } catch (error) {
    tell(`The form cannot show this JSON: ${error.message}`);
    return;
  }
  fields = build(schema);
  if (raw.value.trim() && Object.keys(value).length) fields.set(value);
  place.replaceChildren(fields.element);
  tell("");
  mark("form");
}

function showJson() {
  // What is not finished stays as it was last written.
  if (!written(false)) tell("What was not finished in the form is not here.");
  else tell("");
  fields = null;
  mark("json");
}

for (const one of switches) {
  one.addEventListener("click", () => {
    if (one.getAttribute("aria-pressed") === "true") return;
    if (one.dataset.mode === "form") showForm();
    else showJson();
  });
}
place.addEventListener("input", () => written(false));
form.addEventListener(
  "submit",
  (event) => {
    // Who asks what the tool takes need not have filled it in.
    if (event.submitter?.hasAttribute("data-unfinished") ? (written(false), true) : written(true)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

/** Puts what the hub found wrong with a field of the page at it, and takes away what it found before. */
function markFields(root) {
  for (const one of form.querySelectorAll("[data-told]")) one.remove();
  for (const one of form.querySelectorAll("[data-wrong]")) {
    one.classList.remove("is-invalid");
    one.removeAttribute("aria-invalid");
    one.setAttribute("aria-describedby", one.dataset.wrong);
    delete one.dataset.wrong;
  }
  for (const { dataset } of [...root.querySelectorAll("[data-pointer]")].reverse()) {
    const field = form.elements[dataset.pointer.slice(1)];
    // The arguments are marked below while they are a form.
    if (!field || field.closest(".field").hidden) continue;
    field.classList.add("is-invalid");
    field.setAttribute("aria-invalid", "true");
    field.dataset.wrong = field.getAttribute("aria-describedby") ?? "";
    field.setAttribute("aria-describedby", `${field.dataset.wrong} ${field.id}_told`);
    field.after(node("p", { class: "field-error", id: `${field.id}_told`, "data-told": true }, dataset.message));
    field.focus();
  }
}

/** Puts what the hub found wrong with the arguments at their fields. */
function complain(root) {
  const found = root.querySelectorAll?.("[data-pointer]") ?? [];
  const errors = [...found].map((one) => ({ pointer: one.dataset.pointer, message: one.dataset.message }));
  const own = errors.filter((one) => one.pointer === "/arguments" || one.pointer.startsWith("/arguments/"));
  if (fields && own.length) fields.show(own.map((one) => ({ ...one, pointer: one.pointer.slice("/arguments".length) })));
}

/** The arguments as the tool takes them in the context that was asked for. */
function narrow() {
  const made = document.getElementById("context-schema");
  if (!made || made.dataset.used) return;
  made.dataset.used = "true";
  schema = JSON.parse(made.textContent);
  if (fields) {
    written(false);
    showForm();
  }
}

showForm();
complain(document);
document.addEventListener("htmx:afterSwap", (event) => {
  narrow();
  if (event.detail.target.id === "tried") markFields(document.getElementById("tried"));
  complain(event.detail.elt ?? document);
});
