// Says which modules a program for Node would not find when it starts. Nothing of the program is run.
//
// The argument is the program's file. The output is a JSON list of sentences, empty where all is well.
// Of ES modules, V8 itself names the static imports. Of CommonJS, only calls of `require` that certainly happen
// count: with a fixed name, as a statement or a variable's value, outside of all braces. What a program tries
// to require and can do without is no fault. Files of the package are followed, installed packages are not.
import fs from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";

const FILES_MOST = 500;
const BYTES_MOST = 4 * 1024 * 1024;
// Longer files of CommonJS are bundles, which bring what they require.
const COMMON_MOST = 256 * 1024;
const NAMES_MOST = 100;
const SAID_MOST = 20;
const ROOT = process.cwd() + path.sep;
// Words before which no value stands, so that a slash after them begins a regular expression.
const OPERATORS = new Set(
  "await case delete do else in instanceof new of return throw typeof void yield".split(" "),
);
const REMEDY =
  "Name it in package.json and package-lock.json, and the lock as `requires` in the manifest's runtime.";

const problems = [];
const seen = new Set();
const left = [path.resolve(process.argv[2])];

while (left.length && seen.size < FILES_MOST && problems.length < SAID_MOST) {
  const file = left.pop();
  if (!seen.has(file)) {
    seen.add(file);
    look(file);
  }
}
process.stdout.write(JSON.stringify(problems));

function look(file) {
  if (/\.(json|node|wasm)$/.test(file) || fs.statSync(file).size > BYTES_MOST) return;
  const source = fs.readFileSync(file, "utf8").replace(/^\uFEFF?#!.*/, "");
  const kind = kindOf(file);
  let common = null;
  if (kind !== "module") {
    try {
      compiled(source, file);
      common = true;
    } catch (error) {
      if (kind === "commonjs") return refuse(file, error);
    }
  }
  if (common) return required(source).forEach((name) => follow(file, name, "requires"));
  try {
    const parsed = new vm.SourceTextModule(source, { identifier: file });
    const asked = parsed.moduleRequests?.map((one) => one.specifier) ?? parsed.dependencySpecifiers;
    new Set(asked).forEach((name) => follow(file, name, "imports"));
  } catch (error) {
    refuse(file, error);
  }
}

// module or commonjs as the file's name or its package.json says; empty where Node looks at the syntax.
function kindOf(file) {
  if (file.endsWith(".mjs")) return "module";
  if (file.endsWith(".cjs")) return "commonjs";
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    try {
      const said = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
      return ["module", "commonjs"].includes(said.type) ? said.type : "";
    } catch {
      if (folder === path.dirname(folder)) return "";
    }
  }
}

function compiled(source, file) {
  // As Node wraps a CommonJS module.
  vm.compileFunction(source, ["exports", "require", "module", "__filename", "__dirname"], { filename: file });
}

function refuse(file, error) {
  problems.push(`node cannot read ${shown(file)}: ${error.name}: ${error.message}.`);
}

function follow(file, name, verb) {
  if (isBuiltin(name)) return;
  let found;
  try {
    found =
      verb === "imports"
        ? fileURLToPath(import.meta.resolve(name, pathToFileURL(file).href))
        : createRequire(file).resolve(name);
    if (!fs.existsSync(found)) throw Object.assign(new Error(), { code: "ERR_MODULE_NOT_FOUND" });
  } catch (error) {
    if (/^(data|https?):/.test(name)) return;
    return problems.push(`${shown(file)} ${verb} ${JSON.stringify(name)}, ${reason(name, error)}`);
  }
  const real = fs.realpathSync(found);
  const isOwn = found.startsWith(ROOT) && !`${found}${real}`.includes(`${path.sep}node_modules${path.sep}`);
  if (isOwn && fs.statSync(found).isFile()) left.push(found);
}

function reason(name, error) {
  if (error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED" || error.code === "ERR_PACKAGE_IMPORT_NOT_DEFINED")
    return "which the package does not export.";
  if (error.code === "ERR_UNSUPPORTED_DIR_IMPORT") return "which is a folder: name its file.";
  if (error.code === "ERR_UNKNOWN_BUILTIN_MODULE") return `which is no module of Node ${process.versions.node}.`;
  if (/^\.{0,2}\//.test(name)) return "and the package has no such file.";
  return `which is not installed. ${REMEDY}`;
}

function shown(file) {
  return file.startsWith(ROOT) ? file.slice(ROOT.length) : file;
}

// The names that `require` is certainly called with.
function required(source) {
  // With a `return` outside of functions nobody can tell what comes after it.
  if (source.length > COMMON_MOST || isBroken(source)) return new Set();
  const tokens = tokensOf(source);
  const names = new Set();
  for (let at = 0; at + 3 < tokens.length && names.size < NAMES_MOST; at++) {
    const [word, open, name, close] = tokens.slice(at, at + 4);
    if (word.text !== "require" || open.text !== "(" || name.kind !== "string" || close.text !== ")") continue;
    if (!isStatement(tokens, at) && !isValue(tokens, at)) continue;
    const text = name.text.slice(1, -1);
    if (!text.includes("\\") && !names.has(text) && isOutside(source, word.start, close.end)) names.add(text);
  }
  return names;
}

function isStatement(tokens, at) {
  const before = tokens[at - 1];
  if (!before || before.text === ";") return true;
  if (!tokens[at].fresh) return false;
  if (before.text === ")") return !isCondition(tokens, at - 1);
  return before.kind === "sign" ? before.text === "]" : !OPERATORS.has(before.text);
}

// Whether the parenthesis at this place closes the condition of a statement that has no braces.
function isCondition(tokens, at) {
  let depth = 0;
  for (; at >= 0; at--) {
    if (tokens[at].text === ")") depth++;
    if (tokens[at].text === "(" && !--depth) break;
  }
  return ["for", "if", "while", "with"].includes(tokens[at - 1]?.text);
}

// The value of a new variable, or of what is assigned to by a statement, such as `module.exports`.
function isValue(tokens, at) {
  if (tokens[at - 1]?.text !== "=") return false;
  const [declares, target] = [tokens[at - 3], tokens[at - 2]];
  if (["const", "let", "var", ","].includes(declares?.text)) return ["word", "braces"].includes(target.kind);
  for (at -= 2; at > 0 && tokens[at - 1].text === "."; ) at -= 2;
  return tokens[at]?.kind === "word" && isStatement(tokens, at);
}

// Whether the range is code outside of all functions: there, and not in a text or comment, V8 refuses a `return`.
function isOutside(source, start, end) {
  return isBroken(`${source.slice(0, start)}(0);return;(0)${source.slice(end)}`);
}

function isBroken(script) {
  try {
    new vm.Script(script);
    return false;
  } catch {
    return true;
  }
}

// The tokens outside of all braces; what stands in braces is one token. `fresh` says that a line began before it.
function tokensOf(source) {
  const tokens = [];
  let depth = 0;
  let start = 0;
  let fresh = true;
  let last = null;
  const push = (kind, from, to) => {
    last = { kind, text: source.slice(from, to), start: from, end: to, fresh };
    if (!depth) tokens.push(last);
    fresh = false;
  };
  for (let at = 0; at < source.length; ) {
    const char = source[at];
    if (char === "\n") {
      fresh = true;
      at++;
    } else if (/\s/.test(char)) at++;
    else if (source.startsWith("//", at)) at = until(source, "\n", at);
    else if (source.startsWith("/*", at)) {
      const end = until(source, "*/", at + 2);
      fresh ||= source.slice(at, end).includes("\n");
      at = end + 2;
    } else if (char === '"' || char === "'") {
      const end = textEnd(source, at, char);
      push("string", at, end);
      at = end;
    } else if (char === "`") {
      const end = templateEnd(source, at);
      push("template", at, end);
      at = end;
    } else if (char === "/" && regexMayBegin(last)) {
      const end = regexEnd(source, at);
      push("regex", at, end);
      at = end;
    } else if (/[\p{ID_Start}$_\d]/u.test(char)) {
      const end = at + source.slice(at, at + 200).match(/^[\p{ID_Continue}$_\u200c\u200d]+/u)[0].length;
      push("word", at, end);
      at = end;
    } else if (char === "{") {
      if (!depth++) start = at;
      last = { kind: "sign", text: "{" };
      at++;
    } else if (char === "}") {
      depth = Math.max(depth - 1, 0);
      push("braces", start, at + 1);
      at++;
    } else {
      push("sign", at, at + 1);
      at++;
    }
  }
  return tokens;
}

function until(source, text, at) {
  const found = source.indexOf(text, at);
  return found < 0 ? source.length : found;
}

function textEnd(source, at, quote) {
  for (at++; at < source.length && source[at] !== quote && source[at] !== "\n"; at++) if (source[at] === "\\") at++;
  return at + 1;
}

function templateEnd(source, at) {
  for (at++; at < source.length && source[at] !== "`"; at++) {
    if (source[at] === "\\") at++;
    else if (source.startsWith("${", at)) {
      let depth = 1;
      for (at += 2; at < source.length && depth; at++) {
        if (source[at] === "`") at = templateEnd(source, at) - 1;
        else if (source[at] === "'" || source[at] === '"') at = textEnd(source, at, source[at]) - 1;
        else if (source[at] === "{") depth++;
        else if (source[at] === "}") depth--;
      }
      at--;
    }
  }
  return at + 1;
}

// After a value a slash divides.
function regexMayBegin(before) {
  if (!before) return true;
  if (before.kind === "word") return OPERATORS.has(before.text);
  return before.kind === "sign" && ![")", "]"].includes(before.text);
}

function regexEnd(source, at) {
  let inClass = false;
  for (let end = at + 1; end < source.length && source[end] !== "\n"; end++) {
    if (source[end] === "\\") end++;
    else if (source[end] === "[") inClass = true;
    else if (source[end] === "]") inClass = false;
    else if (source[end] === "/" && !inClass) return end + 1;
  }
  return at + 1;
}
