// What a JSON Schema asks of a form: references followed, parts that must all hold merged, variants told apart.
const DEEPEST = 16;

/** The schema with `$ref` and `allOf` worked in; `{}` for true and for what leads nowhere. */
export function plain(schema, root, depth = 0) {
  if (typeof schema !== "object" || schema === null || depth > DEEPEST) return {};
  const { $ref, allOf, ...rest } = schema;
  const parts = [...(allOf ?? []), ...($ref === undefined ? [] : [target($ref, root)])];
  return parts.map((part) => plain(part, root, depth + 1)).reduceRight(merged, rest);
}

function target(ref, root) {
  if (typeof ref !== "string" || !ref.startsWith("#")) return {};
  const steps = decodeURIComponent(ref.slice(1)).split("/").slice(1);
  return steps.reduce((at, step) => at?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root) ?? {};
}

function merged(own, part) {
  const both = { ...part, ...own };
  if (own.properties && part.properties) both.properties = { ...part.properties, ...own.properties };
  if (own.required && part.required) both.required = [...new Set([...part.required, ...own.required])];
  return both;
}

/** The ways in which a value may be given, or null where there is one. */
export function variants(schema) {
  const choices = schema.anyOf ?? schema.oneOf;
  // Members of its own beside choices: those say which go together, which the hub judges.
  if (Array.isArray(choices) && !schema.properties) {
    const { anyOf, oneOf, description, title, ...shared } = schema;
    return choices.map((choice) => (typeof choice === "object" ? { ...shared, ...choice } : {}));
  }
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : null;
}

/** Which kind of field shows a plain schema without variants. */
export function kind(schema) {
  if ("const" in schema || Array.isArray(schema.enum)) return "choice";
  if (schema.type === "object" || (schema.properties && !schema.type)) {
    return schema.properties || schema.additionalProperties === false ? "object" : "map";
  }
  if (schema.type === "array") return isSchema(schema.items) && !schema.prefixItems ? "array" : "json";
  if (schema.type === "boolean" || schema.type === "null") return "choice";
  if (schema.type === "integer" || schema.type === "number") return "number";
  return schema.type === "string" ? "text" : "json";
}

const isSchema = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The values to choose from. */
export function choices(schema) {
  if ("const" in schema) return [schema.const];
  if (schema.enum) return schema.enum;
  return schema.type === "null" ? [null] : [true, false];
}

const TYPES = {
  object: isSchema,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

/** Whether a value looks like what the schema means: enough to choose a variant, no validation. */
export function fits(schema, value, root, depth = 0) {
  const wanted = plain(schema, root);
  if (depth > DEEPEST) return true;
  const ways = wanted.anyOf ?? wanted.oneOf;
  if (ways && !ways.some((way) => fits(way, value, root, depth + 1))) return false;
  if (("const" in wanted || wanted.enum) && !choices(wanted).some((one) => same(one, value))) return false;
  if (wanted.type && ![wanted.type].flat().some((type) => TYPES[type]?.(value))) return false;
  if (Array.isArray(value)) return !isSchema(wanted.items) || value.every((one) => fits(wanted.items, one, root, depth + 1));
  return !isSchema(value) || membersFit(wanted, value, root, depth);
}

function membersFit(wanted, value, root, depth) {
  const known = wanted.properties ?? {};
  if ((wanted.required ?? []).some((name) => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, member]) =>
    Object.hasOwn(known, name) ? fits(known[name], member, root, depth + 1) : wanted.additionalProperties !== false,
  );
}

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What a variant is called: its title, else what it takes. */
export function named(schema, root) {
  const shown = plain(schema, root);
  if (shown.title) return shown.title;
  if ("const" in shown) return JSON.stringify(shown.const);
  if (shown.enum) return "one of a list";
  const marked = Object.entries(shown.properties ?? {}).find(([, member]) => isSchema(member) && "const" in member);
  if (marked) return String(marked[1].const);
  const first = shown.required?.[0];
  const words = { text: "text", number: "number", choice: shown.type, array: "list", object: "members", map: "members", json: "JSON" };
  return first ? `with ${first}` : shown.format ?? words[kind(shown)] ?? "JSON";
}
