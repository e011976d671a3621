// Fields of one control. Each has `element`, `get()` (undefined: not given), `set(value)` and `complain(message)`.
import { fresh, labelled, node, Unfinished } from "./parts.js";
import { choices, same } from "./schema.js";

const TYPES = { "date-time": "text", date: "date", email: "email", uri: "url" };
const HINTS = { "date-time": "2030-01-31T09:00:00Z" };

/** A field whose text stays exactly the value that was set until somebody types. */
function scalar(control, options, read, write) {
  const field = labelled(control, options);
  let kept;
  const get = () => {
    if (kept && kept.text === control.value) return kept.value;
    if (control.value === "" && !options.required) return undefined;
    return read(control.value, field);
  };
  const set = (value) => {
    control.value = value === undefined ? "" : write(value);
    kept = value === undefined ? undefined : { text: control.value, value };
  };
  const own = Object.assign(field, { get, set, locate: () => own, focus: () => control.focus() });
  set(options.schema.default);
  return own;
}

const typed = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export function text(options) {
  const { schema } = options;
  const type = TYPES[schema.format];
  const shared = { id: fresh(), class: "form-control", placeholder: HINTS[schema.format], autocomplete: "off" };
  const limits = { minlength: schema.minLength, maxlength: schema.maxLength };
  const control = type ? node("input", { ...shared, type }) : node("textarea", { ...shared, ...limits, rows: 1, class: "form-control grows" });
  return scalar(control, options, (value) => value, typed);
}

export function number(options) {
  const { schema } = options;
  const limits = { min: schema.minimum, max: schema.maximum, step: schema.type === "integer" ? (schema.multipleOf ?? 1) : "any" };
  const control = node("input", { id: fresh(), class: "form-control short", type: "number", ...limits });
  const read = (value, field) => {
    const given = value === "" ? Number.NaN : Number(value);
    if (!Number.isFinite(given)) throw new Unfinished("A number is needed here.", field);
    return given;
  };
  return scalar(control, options, read, typed);
}

export function choice(options) {
  const values = choices(options.schema);
  const only = options.required && values.length === 1;
  const blank = only ? [] : [node("option", { value: "" }, options.required ? "Choose…" : "Not given")];
  const listed = values.map((value) => node("option", { value: JSON.stringify(value) }, value === null ? "null" : String(value)));
  const control = node("select", { id: fresh(), class: "form-select" }, ...blank, ...listed);
  const read = (value, field) => {
    if (value === "") throw new Unfinished("Choose one.", field);
    return JSON.parse(value);
  };
  const own = scalar(control, options, read, (value) => JSON.stringify(value));
  // A select without its first, blank choice stands on the only one there is.
  const put = own.set;
  const set = (value) => put(only && !values.some((one) => same(one, value)) ? values[0] : value);
  set(options.schema.default);
  return Object.assign(own, { set });
}

export function json(options) {
  const hint = [options.hint, "JSON."].filter(Boolean).join(" ");
  const control = node("textarea", { id: fresh(), class: "form-control grows code-like", rows: 2, spellcheck: "false" });
  const read = (value, field) => {
    try {
      return JSON.parse(value);
    } catch (error) {
      throw new Unfinished(`This is no JSON: ${error.message}`, field);
    }
  };
  return scalar(control, { ...options, hint }, read, (value) => JSON.stringify(value, null, 2));
}
