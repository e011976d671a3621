// The pieces of which fields are made; the same look as templates/components/field.html.
let made = 0;

/** A new id for a control. */
export const fresh = () => `arg-${++made}`;

/** An element with attributes, and with texts and elements inside. */
export function node(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...inside.filter((one) => one !== null && one !== undefined));
  return element;
}

/** A small button. `about` says for a screen reader what it is about. */
export function button(words, about, act) {
  const element = node("button", { type: "button", class: "btn btn-sm", "aria-label": about && `${words} ${about}` }, words);
  element.addEventListener("click", act);
  return element;
}

/** A label, its control, its hint and a place for what is wrong with it. */
export function labelled(control, options) {
  const id = control.id;
  const error = node("p", { class: "field-error", id: `${id}_error`, hidden: true });
  const hint = options.hint ? node("p", { class: "form-hint", id: `${id}_hint` }, options.hint) : null;
  const optional = options.required ? null : node("span", { class: "optional" }, " optional");
  control.setAttribute("aria-describedby", [hint && hint.id, error.id].filter(Boolean).join(" "));
  if (options.required) control.setAttribute("aria-required", "true");
  const label = node("label", { class: "form-label", for: id }, options.label, optional);
  const element = node("div", { class: "field" }, label, control, error, hint);
  const complain = (message) => {
    error.textContent = message;
    error.hidden = !message;
    control.classList.toggle("is-invalid", Boolean(message));
    control.setAttribute("aria-invalid", String(Boolean(message)));
  };
  return { element, complain };
}

/** A group of fields with a name, and a place for what is wrong with it as a whole. */
export function group(options, ...inside) {
  const error = node("p", { class: "field-error", hidden: true });
  const optional = options.required ? null : node("span", { class: "optional" }, " optional");
  const legend = options.label ? node("legend", { class: "form-label" }, options.label, optional) : null;
  const hint = options.hint ? node("p", { class: "form-hint" }, options.hint) : null;
  const element = node("fieldset", { class: options.label ? "group" : "group group-bare" }, legend, hint, error, ...inside);
  const complain = (message) => {
    error.textContent = message;
    error.hidden = !message;
  };
  return { element, complain };
}

/** What keeps a form from having a value: `field` is where. */
export class Unfinished extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}
