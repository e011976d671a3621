// Fields made of fields: members of an object, entries of a map, a list, one of several variants.
import { button, fresh, group, labelled, node, Unfinished } from "./parts.js";
import { fits, named, plain } from "./schema.js";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

export function object(options, make) {
  const { schema } = options;
  const required = new Set(schema.required ?? []);
  const known = Object.keys(schema.properties ?? {});
  // What is needed comes first.
  known.sort((one, other) => required.has(other) - required.has(one));
  const fields = new Map(
    known.map((name) => [name, make(schema.properties[name], { label: name, required: required.has(name) })]),
  );
  const rest = make({ type: "object", additionalProperties: schema.additionalProperties ?? true }, { label: "Further members", required: false });
  const open = schema.additionalProperties === true || isObject(schema.additionalProperties);
  rest.element.hidden = !open;
  const shell = group(options, ...[...fields.values()].map((field) => field.element), rest.element);
  const get = () => {
    const value = { ...rest.get() };
    for (const name of Object.keys(schema.properties ?? {})) {
      const given = fields.get(name).get();
      if (given !== undefined) Object.defineProperty(value, name, { value: given, enumerable: true });
    }
    return value;
  };
  const set = (value) => {
    for (const [name, field] of fields) field.set(Object.hasOwn(value, name) ? value[name] : undefined);
    const others = Object.entries(value).filter(([name]) => !fields.has(name));
    rest.set(others.length ? Object.fromEntries(others) : undefined);
    rest.element.hidden = !open && !others.length;
  };
  const own = { ...shell, get, set };
  own.locate = ([name, ...deeper]) => (fields.has(name) ? fields.get(name).locate(deeper) : own);
  own.focus = () => (fields.values().next().value ?? rest).focus();
  return own;
}

export function array(options, make) {
  const { schema } = options;
  const items = node("ol", { class: "items" });
  let fields = [];
  const number = () => fields.forEach((field, at) => field.numbered(at + 1));
  const add = (value) => {
    const inner = make(schema.items, { label: "", required: true });
    const row = node("li", {});
    const field = { ...inner, row };
    const remove = button("Remove", `entry of ${options.label}`, () => {
      fields = fields.filter((one) => one !== field);
      row.remove();
      number();
      items.dispatchEvent(new Event("input", { bubbles: true }));
    });
    field.numbered = (at) => inner.element.querySelector("label, legend")?.replaceChildren(`${options.label || "entry"} ${at}`);
    row.append(inner.element, remove);
    items.append(row);
    if (value !== undefined) inner.set(value);
    fields.push(field);
    number();
    return field;
  };
  const adder = button("Add", `an entry to ${options.label}`, () => {
    add().focus();
    items.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const shell = group(options, items, adder);
  const get = () => fields.map((field) => field.get());
  const set = (values) => {
    for (const field of fields) field.row.remove();
    fields = [];
    for (const value of values ?? []) add(value);
  };
  if (Array.isArray(schema.default)) set(schema.default);
  while (fields.length < (schema.minItems ?? 0) && fields.length < 20) add();
  const own = { ...shell, get, set, focus: () => adder.focus() };
  own.locate = ([at, ...deeper]) => fields[Number(at)]?.locate(deeper) ?? own;
  return own;
}

/** Entries under names that the schema does not know. */
export function map(options, make) {
  const value = isObject(options.schema.additionalProperties) ? options.schema.additionalProperties : {};
  const entry = { type: "object", required: ["name", "value"], additionalProperties: false, properties: { name: { type: "string" }, value } };
  const list = array({ ...options, schema: { items: entry } }, make);
  const get = () => {
    const given = list.get();
    const twice = given.find((one, at) => given.some((other, before) => before < at && other.name === one.name));
    if (twice) throw new Unfinished(`The name ${twice.name} is given twice.`, list);
    return Object.fromEntries(given.map((one) => [one.name, one.value]));
  };
  const set = (values) => list.set(Object.entries(values ?? {}).map(([name, one]) => ({ name, value: one })));
  const own = { ...list, get, set };
  if (isObject(options.schema.default)) set(options.schema.default);
  own.locate = ([name, ...deeper]) => {
    const at = name === undefined ? -1 : list.get().findIndex((one) => one.name === name);
    return at < 0 ? own : list.locate([at, "value", ...deeper]);
  };
  return own;
}

export function union(options, ways, make) {
  const { schema, root } = options;
  const select = node("select", { id: fresh(), class: "form-select" }, ...ways.map((way, at) => node("option", { value: at }, named(way, root))));
  const chooser = labelled(select, { label: `${options.label || "Value"}: kind`, required: true, hint: options.hint });
  const place = node("div", {});
  let field;
  const choose = (at) => {
    select.value = String(at);
    const shown = plain(ways[at], root);
    field = make(ways[at], { label: options.label || "Value", required: true, hint: shown.description ?? "" });
    place.replaceChildren(field.element);
  };
  select.addEventListener("change", () => choose(Number(select.value)));
  const set = (value) => {
    const at = ways.findIndex((way) => fits(way, value, root));
    choose(Math.max(at, 0));
    field.set(value);
  };
  choose(0);
  if (schema.default !== undefined) set(schema.default);
  const element = node("div", { class: "variants" }, chooser.element, place);
  const get = () => field.get();
  return { element, get, set, complain: chooser.complain, locate: (steps) => field.locate(steps), focus: () => select.focus() };
}

/** Something of several parts that need not be given: a button adds it, another takes it away. */
export function optional(options, build) {
  const place = node("div", { class: "field" });
  const { label, hint } = options;
  let field = null;
  const empty = () => {
    field = null;
    const words = node("p", { class: "form-label" }, label, node("span", { class: "optional" }, " optional"));
    place.replaceChildren(words, button("Add", label, () => (give(), field.focus(), changed())), hint ? node("p", { class: "form-hint" }, hint) : "");
  };
  const changed = () => place.dispatchEvent(new Event("input", { bubbles: true }));
  const give = () => {
    field = build();
    place.replaceChildren(field.element, button("Leave out", label, () => (empty(), changed())));
  };
  const set = (value) => {
    if (value === undefined) return empty();
    give();
    return field.set(value);
  };
  const own = { element: place, get: () => field?.get(), set };
  own.complain = (message) => field?.complain(message);
  own.locate = (steps) => field?.locate(steps) ?? own;
  own.focus = () => (field ?? place.querySelector("button")).focus();
  set(options.schema.default);
  return own;
}
