// A form made from a JSON Schema. `build(schema)` gives `{element, get, set, show, clear}`.
import { array, map, object, optional, union } from "./groups.js";
import { choice, json, number, text } from "./scalars.js";
import { fits, kind, plain, variants } from "./schema.js";

const DEEPEST = 24;
const SCALARS = { text, number, choice, json };
const GROUPS = { object, array, map };

function field(schema, options, root, depth) {
  const shown = plain(schema, root);
  if (!fits(shown, shown.default, root)) delete shown.default;
  const all = { hint: shown.description, ...options, schema: shown, root };
  const make = (inner, given) => field(inner, given, root, depth + 1);
  const ways = variants(shown);
  const simple = depth > DEEPEST ? "json" : !ways && kind(shown);
  if (simple in SCALARS) return SCALARS[simple](all);
  const build = (given) => (ways ? union(given, ways, make) : GROUPS[simple](given, make));
  if (all.required) return build(all);
  return optional(all, () => build({ ...all, required: true }));
}

/** The steps of a JSON Pointer (RFC 6901). */
const steps = (pointer) => pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

export function build(schema) {
  const top = field(schema, { label: "", required: true, hint: "" }, schema, 0);
  let wrong = [];
  const clear = () => {
    for (const one of wrong) one.complain("");
    wrong = [];
  };
  const complain = (one, message) => {
    one.complain(message);
    wrong.push(one);
  };
  const show = (errors) => {
    for (const { pointer, message } of errors) complain(top.locate(steps(pointer)), message);
    wrong[0]?.focus?.();
  };
  return { element: top.element, get: () => top.get(), set: (value) => top.set(value), show, complain, clear };
}
